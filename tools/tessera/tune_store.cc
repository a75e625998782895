#include "tune_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "bench/data.h"
#include "bench/json_reader.h"
#include "quantities.h"
#include "text_file.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

/// Compilers and their flags: what else but the commit makes another program.
std::string compiler_key() {
  std::string text = compiler_text();
  const Json all = provenance();
  for (const char* name : {"build_type", "slow_build", "cuda_build"}) {
    const auto found = all.find(name);
    if (found != all.end() && found->is_string()) text += ", " + found->get<std::string>();
  }
  return text;
}

bench::TuneReader this_program() {
  return {compiler_key(), exact_commit(), [](const std::string& id) {
            const auto& kernels = registry().kernels();
            return std::any_of(kernels.begin(), kernels.end(),
                               [&](const Kernel& kernel) { return kernel.name == id; });
          }};
}

/// Throws Error(kBadFile); a file that does not exist is an empty cache.
bench::TuneCache read(const std::string& path, std::vector<std::string>* faults) {
  std::error_code error;
  if (fs::status(path, error).type() == fs::file_type::not_found) return {};
  return bench::read_tune_cache(path, bench::read_json(path), this_program(), faults);
}

void say_ignored(const std::string& verb, const std::vector<std::string>& faults) {
  if (faults.empty()) return;
  const std::string line = faults.size() == 1
                               ? fmt::format("tuning cache: ignored: {}", faults.front())
                               : fmt::format("tuning cache: {} entries ignored; the first: {}",
                                             faults.size(), faults.front());
  fmt::print(stderr, "tessera {}: {}\n", verb, printable(line));
}

/// Held by one process at a time, for as long as the object lives.
class CacheLock {
 public:
  explicit CacheLock(const std::string& path) {
    const std::string name = path + ".lock";
    fd_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) refuse(name, errno);
    constexpr int kTries = 600;
    for (int i = 0; ::flock(fd_, LOCK_EX | LOCK_NB) != 0; ++i) {
      // A file system without locks: what is read again and renamed at once must do.
      if (errno != EWOULDBLOCK && errno != EINTR) break;
      if (i == kTries) {
        ::close(fd_);
        refuse(name, EWOULDBLOCK);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  ~CacheLock() { ::close(fd_); }
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;

 private:
  [[noreturn]] static void refuse(const std::string& name, int error) {
    throw Error(ErrorCode::kOutputFailure,
                fmt::format("tuning cache: {} cannot be locked: {}", name,
                            std::system_category().message(error)));
  }

  int fd_ = -1;
};

std::string path_to_write() {
  const std::string path = tune_cache_path();
  if (path.empty()) {
    throw Error(ErrorCode::kOutputFailure,
                "tuning cache: no place for it: TESSERA_TUNE_CACHE, XDG_CACHE_HOME and HOME are "
                "not set");
  }
  std::error_code ignored;  // the lock says what is wrong with the directory
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty()) fs::create_directories(parent, ignored);
  const fs::file_status status = fs::status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(ErrorCode::kOutputFailure,
                fmt::format("tuning cache: {} is not a regular file", path));
  }
  return path;
}

/// What the file holds now; one that is no cache is moved out of the way.
bench::TuneCache read_or_set_aside(const std::string& path) {
  std::vector<std::string> faults;  // said when the cache was loaded
  try {
    return read(path, &faults);
  } catch (const Error&) {
    std::error_code error;
    fs::rename(path, path + ".bad", error);
    if (error) {
      throw Error(ErrorCode::kOutputFailure,
                  fmt::format("tuning cache: {} is no cache and cannot be renamed: {}", path,
                              error.message()));
    }
    return {};
  }
}

}  // namespace

std::string tune_cache_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string named = variable("TESSERA_TUNE_CACHE"); !named.empty()) return named;
  // A relative path there is to be ignored (XDG Base Directory Specification).
  if (const std::string xdg = variable("XDG_CACHE_HOME"); fs::path(xdg).is_absolute()) {
    return fs::path(xdg) / "tessera/tune.json";
  }
  if (const std::string home = variable("HOME"); !home.empty()) {
    return fs::path(home) / ".cache/tessera/tune.json";
  }
  return "";
}

bench::DeviceKey device_key(const DeviceChoice& device, int threads) {
  const DeviceInfo& info = device.info();
  bench::DeviceKey key;
  if (device.space == Space::kHost) {
    key.device = fmt::format("cpu: {}, {}, {} thread{}", info.name, info.simd, threads,
                             threads == 1 ? "" : "s");
  } else {
    key.device = fmt::format("cuda: {}, compute capability {}.{}", info.name, info.compute_major,
                             info.compute_minor);
    key.driver = bench::gpu::versions().driver;
  }
  key.compiler = compiler_key();
  key.commit = exact_commit();
  key.data = bench::describe(bench::DataKind::kNormal);
  key.cache = to_string(bench::CacheState::kWarm);
  return key;
}

bench::TuneCache load_tune_cache(const std::string& verb) {
  std::vector<std::string> faults;
  bench::TuneCache cache;
  const std::string path = tune_cache_path();
  try {
    if (!path.empty()) cache = read(path, &faults);
  } catch (const Error& e) {
    faults.emplace_back(e.what());
  }
  if (!verb.empty()) say_ignored(verb, faults);
  return cache;
}

bench::TuneCache read_tune_cache_file(const std::string& verb, const std::string& path) {
  std::vector<std::string> faults;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw Error(ErrorCode::kBadFile, path + ": cannot be opened");
  bench::TuneCache cache = read(path, &faults);
  say_ignored(verb, faults);
  return cache;
}

void check_tune_cache_is_writable() { const CacheLock lock(path_to_write()); }

void update_tune_cache(const std::function<void(bench::TuneCache&)>& change) {
  const std::string path = path_to_write();
  const CacheLock lock(path);
  bench::TuneCache cache = read_or_set_aside(path);
  change(cache);
  write_json_file(path, bench::tune_cache_json(cache));
}

TunedRequest resolve_tuned(const bench::TuneCache& cache, const bench::Case& c,
                           const bench::DeviceKey& key) {
  const std::optional<bench::TunedChoice> choice = bench::tuned_kernel(cache, c, key);
  if (!choice) return {"auto", "tuned: no shape near this one was tuned here; as auto", false};
  return {choice->kernel,
          fmt::format("tuned: the best on {}, {}", to_string(choice->measured_on),
                      choice->exact ? "this shape" : "the nearest shape that was tuned"),
          !choice->exact};
}

}  // namespace tessera::cli
