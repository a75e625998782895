#include "bench/cpu_peer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "bench/library_trial.h"
#include "core/canonical.h"

namespace tessera::bench {
namespace {

const char* setting(const std::string& variable) {
  const char* value = variable.empty() ? nullptr : std::getenv(variable.c_str());
  return value != nullptr && *value != '\0' ? value : nullptr;
}

const void* member(const void* first, std::int64_t index, std::int64_t stride, DType dtype) {
  return static_cast<const char*>(first) +
         index * stride * static_cast<std::int64_t>(size_of(dtype));
}

class CpuPeer : public Peer {
 public:
  CpuPeer(const CpuPeerKind& kind, std::unique_ptr<CpuLibrary> library,
          std::vector<std::string> notes)
      : library_(std::move(library)) {
    info_ = {kind.name, library_->version(), library_->path(), std::move(notes)};
    if (!library_->core().empty()) info_.notes.push_back("uses code for " + library_->core());
    for (const std::string& note : library_->notes()) info_.notes.push_back(note);
    for (const std::string& variable : kind.telling) {
      if (const char* value = setting(variable)) {
        info_.notes.push_back(fmt::format("{}={} was set", variable, value));
      }
    }
  }

  const PeerInfo& info() const override { return info_; }

  RunProduct prepare(const Case& c, int threads, void*) override {
    const auto refuse = [this](const std::string& rule) {
      throw Error(ErrorCode::kUnsupported, fmt::format("{}: {}", info_.name, rule));
    };
    if (c.desc.space != Space::kHost) refuse("the case lies in GPU memory: must be on the host");
    const Canonical canonical = canonicalise(c.desc, {});
    if (const DType input = c.desc.input_dtype(); input != c.desc.dtype) {
      refuse(fmt::format("dtype {}: its gemm takes f32 and f64", to_string(input)));
    }
    if (const auto rule = library_->refusal(canonical.problem)) refuse(*rule);
    use_threads(threads);
    if (c.desc.batch > 1) note("a batch is one call for each member");
    return [library = library_, canonical, threads, used = library_->threads(), alpha = c.alpha,
            beta = c.beta](const Pointers& x) {
      // Another case may have set it, and OpenMP keeps it for each calling thread.
      if (library->threads() != used) library->set_threads(threads);
      const Problem& p = canonical.problem;
      const void* a = canonical.swapped ? x.b : x.a;
      const void* b = canonical.swapped ? x.a : x.b;
      for (std::int64_t i = 0; i < p.batch; ++i) {
        library->multiply(
            p, {alpha, beta, member(a, i, p.stride_a, p.dtype), member(b, i, p.stride_b, p.dtype),
                const_cast<void*>(member(x.c, i, p.stride_c, p.dtype))});
      }
    };
  }

  void use_threads(int threads) {
    library_->set_threads(threads);
    const int used = library_->threads();
    if (used != 0 && used != threads) {
      note(fmt::format("asked for {} threads, uses {}", threads, used));
    }
  }

 private:
  void note(const std::string& text) {
    const auto known = std::find(info_.notes.begin(), info_.notes.end(), text);
    if (known == info_.notes.end()) info_.notes.push_back(text);
  }

  std::shared_ptr<CpuLibrary> library_;
  PeerInfo info_;
};

/// The file named by the user, and no other; else those of the active Python environment, where
/// some of these libraries are installed as packages, and those that the system finds.
std::vector<std::string> candidates(const CpuPeerKind& kind) {
  if (const char* file = setting(kind.variable)) return {file};
  std::vector<std::string> files;
  if (const char* environment = setting("VIRTUAL_ENV")) {
    for (const std::string& file : kind.files) {
      if (file.front() != '/') files.push_back(fmt::format("{}/lib/{}", environment, file));
    }
  }
  files.insert(files.end(), kind.files.begin(), kind.files.end());
  return files;
}

struct Found {
  std::string file;
  Trial trial;
};

/// The first candidate that multiplies right; `why_not` says what was wrong with the others.
std::optional<Found> find_working(const CpuPeerKind& kind, std::string* why_not) {
  std::string fault;
  for (const std::string& file : candidates(kind)) {
    Trial trial = try_library(kind, file, "");
    if (trial.ok) return Found{file, std::move(trial)};
    const bool is_missing =
        trial.why.rfind(file + ": cannot open shared object file: No such", 0) == 0;
    if (!is_missing && fault.empty()) {
      fault = trial.why.rfind(file, 0) == 0 ? trial.why : file + ": " + trial.why;
    }
  }
  if (!fault.empty()) {
    *why_not = fmt::format("{}: {}", kind.name, fault);
  } else if (const char* file = setting(kind.variable)) {
    *why_not = fmt::format("{}: {}={}: no such file", kind.name, kind.variable, file);
  } else {
    *why_not = fmt::format("{}: {} not found; {}=FILE names one", kind.name,
                           fmt::join(kind.files, ", "), kind.variable);
  }
  return std::nullopt;
}

/// Settings that must be in the environment before the library is loaded; a note for each.
std::vector<std::string> settle(const CpuPeerKind& kind, const Found& found) {
  std::vector<std::string> notes;
  if (const char* chosen = setting(kind.core_variable)) {
    notes.push_back(fmt::format("{}={} was set", kind.core_variable, chosen));
  } else if (const auto choice = better_core(kind, found.file, found.trial)) {
    setenv(kind.core_variable.c_str(), choice->core.c_str(), 1);
    notes.push_back(choice->note);
  }
  return notes;
}

std::vector<std::string> preset(const CpuPeerKind& kind) {
  std::vector<std::string> notes;
  for (const CpuPeerKind::Preset& p : kind.presets) {
    if (const char* chosen = setting(p.variable)) {
      notes.push_back(fmt::format("{}={} was set", p.variable, chosen));
    } else {
      setenv(p.variable.c_str(), p.value.c_str(), 1);
      notes.push_back(fmt::format("{}={} set by the benchmark: {}", p.variable, p.value, p.why));
    }
  }
  return notes;
}

}  // namespace

std::shared_ptr<Peer> open_cpu_peer(const CpuPeerKind& kind, int threads, std::string* why_not) {
  const std::optional<Found> found = find_working(kind, why_not);
  if (!found) return nullptr;
  std::vector<std::string> notes = settle(kind, *found);
  for (std::string& note : preset(kind)) notes.push_back(std::move(note));
  try {
    auto peer = std::make_shared<CpuPeer>(kind, kind.open(found->file), std::move(notes));
    peer->use_threads(threads);
    return peer;
  } catch (const Error& e) {  // it opened in the child, but not beside the libraries open here
    *why_not = fmt::format("{}: {}", kind.name, e.what());
    return nullptr;
  }
}

}  // namespace tessera::bench
