// Finding the compiler, and the folder that it works in.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "bench/run_program.h"
#include "simt/source/compile.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

constexpr int kOldest = 14, kNewest = 30;

/// 14 of "Debian clang version 14.0.6", or 0.
int version_of(const std::string& program) {
  try {
    const bench::Printed printed = bench::run_program({program, "--version"});
    const std::size_t at = printed.out.find("clang version ");
    if (printed.exit_code != 0 || at == std::string::npos) return 0;
    return std::atoi(printed.out.c_str() + at + 14);
  } catch (const Error&) {
    return 0;
  }
}

bool is_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const std::string file = folders.substr(at, end - at) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

std::string search() {
  if (const char* named = std::getenv("TESSERA_CLANG"); named != nullptr && *named != '\0') {
    const int version = version_of(named);
    if (version >= kOldest) return named;
    throw Error(ErrorCode::kUnsupported,
                std::string("check: TESSERA_CLANG=") + named +
                    (version == 0 ? " is no clang++" : " is older than clang++ 14"));
  }
  if (is_on_path("clang++") && version_of("clang++") >= kOldest) return "clang++";
  for (int version = kNewest; version >= kOldest; --version) {
    const std::string name = "clang++-" + std::to_string(version);
    if (is_on_path(name)) return name;
  }
  throw Error(ErrorCode::kUnsupported,
              "check: needs clang++ 14 or newer (Debian and Ubuntu: the package clang)");
}

}  // namespace

namespace {

io::TemporaryFolder make_folder() {
  const char* parent = std::getenv("TMPDIR");
  return {parent != nullptr && *parent != '\0' ? parent : "/tmp", "tessera-check"};
}

}  // namespace

TemporaryFolder::TemporaryFolder() try : folder_(make_folder()) {
} catch (const Error& error) {
  throw Error(error.code(), std::string("check: ") + error.what() + "; TMPDIR says where");
}

bench::Printed run_compiler(const std::vector<std::string>& words, const std::string& folder) {
  return bench::run_program(words, "", {}, {"TMPDIR=" + folder});
}

std::string find_clang() {
  static const std::string found = search();
  return found;
}

}  // namespace tessera::simt
