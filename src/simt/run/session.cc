#include "simt/run/session.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "tessera/error.h"

namespace tessera::simt {
namespace {

Session* session = nullptr;

/// A place in words, for a sentence to end with; empty where it is unknown.
std::string seen_at(const char* before, const Place& place) {
  return place.line == 0 ? "" : before + fmt::format("{} of {}", place.line, place.function);
}

Finding of_host(const RunOptions& options, const char* rule, const Place& place) {
  Finding f;
  f.rule = rule;
  f.place = place;
  if (f.place.file.empty()) f.place.file = options.source_path;
  return f;
}

}  // namespace

Finding late_host(const RunOptions& options, const Place& place) {
  Finding f = of_host(options, rule::kTimeLimit, place);
  f.message = fmt::format("the program's host code has not come to its end within {:g} s{}",
                          options.time_limit_s, seen_at("; it was last seen at line ", place));
  f.remedy =
      "look for a loop whose end is never reached, or a wait for what never comes; for a program "
      "that only takes long, make its problem smaller or raise --time-limit";
  return f;
}

Finding crashed_host(const RunOptions& options, int signal, const Place& place) {
  Finding f = of_host(options, rule::kCrash, place);
  f.message = fmt::format("the program's host code stopped with signal {} ({}){}", signal,
                          strsignal(signal), seen_at(" at line ", place));
  f.remedy =
      "device memory must not be touched by the host; the program's arguments go into --run; see "
      "the debugger";
  return f;
}

Session& Session::get() { return *session; }

Session::Session(const RunOptions& options) : options_(options), started_s_(now_s()) {
  session = this;
}
Session::~Session() { session = nullptr; }

void Session::load() {
  // Beside a lone kernel the file may hold host code that calls another file's.
  image_ = dlopen(options_.image.c_str(), (options_.has_drive ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL);
  if (image_ == nullptr) {
    const std::string why = dlerror();
    // "…: undefined symbol: name"
    const std::size_t at = why.find("undefined symbol: ");
    throw Error(ErrorCode::kUnsupported,
                at == std::string::npos
                    ? "check: cannot load the compiled program: " + why
                    : fmt::format("check: the program calls {}, which neither it nor the executor "
                                  "has; give the library or the source file that has it behind --",
                                  demangle(why.c_str() + at + 18)));
  }
  link_map* map = nullptr;
  dlinfo(image_, RTLD_DI_LINKMAP, &map);
  image_low_ = map->l_addr;
  memory_.image_low = image_low_;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* memory) {
        auto& m = *static_cast<Memory*>(memory);
        if (info->dlpi_addr != m.image_low) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          m.image_high = std::max<std::uintptr_t>(
              m.image_high, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
        }
        return 1;
      },
      &memory_);
  symbols_ = std::make_unique<Symbols>(options_.image, options_.words_folder, options_.source_path);
  for (const Symbol& symbol : symbols_->all()) {
    if (!symbol.is_function) {
      memory_.add_variable(image_low_ + symbol.offset, symbol.bytes, symbol.name);
    }
  }
  WidthOf width_of;
  if (!options_.widths.empty()) {
    width_of = [this](const LoggedAccess& a) {
      const Place& place = symbols_->place(a.pc);
      const std::string file = place.file.substr(place.file.rfind('/') + 1);
      const std::string kernel = comparable_name(state_->name);
      // The optimiser may move an access to where it has no line: then any of the kernel's widths
      // will do, as only what fills a wider piece is joined.
      CompiledWidth widest;
      for (std::size_t i = 0; i < options_.widths.size(); ++i) {
        const LineWidth& w = options_.widths[i];
        if (w.kernel != kernel || w.is_shared != (a.is_shared != 0) ||
            w.is_write != (a.is_write != 0)) {
          continue;
        }
        if (w.line == place.line && w.file == file) {
          CompiledWidth found = w.width;
          found.line = static_cast<int>(i);
          return found;
        }
        widest.bytes = std::max(widest.bytes, w.width.bytes);
      }
      return place.line == 0 ? widest : CompiledWidth{};
    };
  }
  // Each worker's stacks are a thousand mappings, of which a process may have 65,530.
  constexpr int kMostWorkers = 24;
  for (int i = 0; i < std::clamp(options_.workers, 1, kMostWorkers); ++i) {
    workers_.push_back(std::make_unique<Worker>(i, memory_, image_low_, width_of));
  }
}

int Session::run_program() {
  if (options_.has_drive) return drive();
  using Main = int (*)(int, char**);
  const auto entry = reinterpret_cast<Main>(dlsym(image_, "main"));
  if (entry == nullptr) throw Error(ErrorCode::kUnsupported, "check: the program has no main");
  std::vector<std::string> words = {options_.source_path};
  words.insert(words.end(), options_.arguments.begin(), options_.arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return entry(static_cast<int>(words.size()), argv.data());
}

void Session::add(Finding finding) {
  for (Finding& f : result_.findings) {
    if (f.rule == finding.rule && f.place == finding.place && f.kernel == finding.kernel &&
        f.array == finding.array && f.other_place == finding.other_place &&
        (f.rule != rule::kLaunch || f.message == finding.message)) {
      f.count += finding.count;
      return;
    }
  }
  result_.findings.push_back(std::move(finding));
}

RunResult Session::finish() {
  for (auto& worker : workers_) result_.accesses += worker->accesses();
  if (options_.watch.count) {
    std::map<std::tuple<std::string, std::string, std::string, int, int, bool, bool, int>,
             std::pair<Site, SiteCounts>>
        merged;
    for (auto& worker : workers_) {
      for (const auto& [key, counts] : worker->log().sites()) {
        const auto& [kernel, array] = worker->log_names()[key.array];
        const Place& place = symbols_->place(key.pc);
        auto& [site, sum] = merged[{kernel, array, place.file, place.line, place.column,
                                    key.is_shared, key.is_write, key.bytes}];
        site.kernel = kernel;
        site.array = array;
        site.place = place;
        site.space = key.is_shared ? Space::kShared : Space::kGlobal;
        site.is_write = key.is_write;
        site.bytes = key.bytes;
        site.is_part |= key.is_part;
        sum.add(counts);
      }
    }
    for (auto& [key, pair] : merged) {
      auto& [site, c] = pair;
      site.requests = c.requests, site.lanes = c.lanes;
      site.wavefronts = c.wavefronts, site.ideal_wavefronts = c.ideal_wavefronts;
      site.worst_degree = c.worst_degree;
      site.sectors = c.sectors, site.ideal_sectors = c.ideal_sectors;
      site.useful_bytes = c.useful_bytes;
      site.lane_stride = c.stride_varies ? 0 : c.lane_stride;
      site.width_is_compiled = !options_.widths.empty();
      site.lane_offsets = c.worst_offsets;
      if (site.space == Space::kShared) site.row_pitch = shared_pitch_[{site.kernel, site.array}];
      result_.sites.push_back(site);
    }
  }
  result_.notes.assign(notes_.begin(), notes_.end());
  result_.elapsed_s = now_s() - started_s_;
  return std::move(result_);
}

int Session::last_error(bool clear) {
  const int error = error_;
  if (clear) error_ = 0;
  return error;
}

// The host may be in a library that its code has called: then the innermost caller is meant.
Place Session::host_place(std::uintptr_t instruction) {
  if (symbols_ == nullptr) return {};  // not yet loaded: an initialiser of the program's
  if (is_own_code(instruction)) {
    return symbols_->place(static_cast<std::uint32_t>(instruction - image_low_));
  }
  std::array<void*, 64> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  for (int i = 0; i < count; ++i) {
    const auto call = reinterpret_cast<std::uintptr_t>(frames[i]) - 1;
    if (is_own_code(call)) return symbols_->place(static_cast<std::uint32_t>(call - image_low_));
  }
  return {};
}

void Session::note_host_end(int signal, std::uintptr_t instruction) {
  const Place place = host_place(instruction);
  if (signal != SIGALRM) {
    add(crashed_host(options_, signal, place));
  } else if (out_of_time_ || (options_.has_drive && place.line == 0)) {
    // Kernels have used the time up, and the host may wait for results that they left undone; or
    // the product of a lone kernel takes long to be judged.
    notes_.insert(fmt::format(
        "the program has not come to its end within {:g} s; make its problem smaller, or raise "
        "--time-limit",
        options_.time_limit_s));
  } else {
    add(late_host(options_, place));
  }
}

}  // namespace tessera::simt
