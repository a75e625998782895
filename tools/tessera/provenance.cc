// What this program is: version, commit, compiler, build.
#include <fmt/format.h>
#include <link.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "bench/gpu.h"
#include "bench/operands.h"
#include "cli.h"
#include "tessera_commit.h"

#ifndef TESSERA_CUDA_BUILD
#define TESSERA_CUDA_BUILD ""
#endif

namespace tessera::cli {
namespace {

/// The program's file and that of the library, where it is a shared one.
std::vector<std::string> own_files() {
  std::vector<std::string> files = {"/proc/self/exe"};
  const auto add = [](dl_phdr_info* object, std::size_t, void* list) {
    const std::string path = object->dlpi_name;
    if (path.find("/libtessera") != std::string::npos) {
      static_cast<std::vector<std::string>*>(list)->push_back(path);
    }
    return 0;
  };
  ::dl_iterate_phdr(add, &files);
  return files;
}

/// Equal for equal contents. A file that cannot be read is equal to none.
std::string fingerprint_of(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& path : files) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    all += bytes.empty() ? fmt::format("{} ", now)
                         : fmt::format("{:x} ", bench::fingerprint(bytes.data(), bytes.size()));
  }
  return fmt::format("{:x}", bench::fingerprint(all.data(), all.size()));
}

}  // namespace

std::string exact_commit() {
  const std::string commit = *TESSERA_COMMIT == '\0' ? "unknown" : TESSERA_COMMIT;
  const bool says_all = commit != "unknown" && commit.find("-dirty") == std::string::npos;
  if (says_all) return commit;
  static const std::string own = fingerprint_of(own_files());  // reads the whole program
  return commit + "+" + own;
}

std::string compiler_text() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
  return "unknown compiler";
#endif
}

namespace {
std::string& command() {
  static std::string text;
  return text;
}
}  // namespace

void set_command_line(int argc, char** argv) {
  std::string& text = command();
  text = "tessera";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool plain =
        !word.empty() && word.find_first_of(" \t\n\"\\'$`*?[]#~=%&;<>|(){}!") == word.npos;
    if (plain) {
      text += " " + word;
      continue;
    }
    text += " '";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'";
  }
}

const std::string& command_line() { return command(); }

std::string cuda_build_text() { return TESSERA_CUDA_BUILD; }

std::string slow_build_reason() {
  if (*TESSERA_SANITIZE != '\0') return "built with -fsanitize=" TESSERA_SANITIZE;
#ifndef __OPTIMIZE__
  return "built without optimisation";
#else
  return bench::gpu::is_debug_code() ? "device code built for a debugger (nvcc -G)" : "";
#endif
}

std::string version_line() {
  std::string commit = TESSERA_COMMIT;
  if (!commit.empty()) commit = " (" + commit + ")";
  return "tessera " TESSERA_VERSION + commit;
}

Json provenance() {
  Json json;
  json["version"] = TESSERA_VERSION;
  json["commit"] = *TESSERA_COMMIT == '\0' ? Json(nullptr) : Json(TESSERA_COMMIT);
  json["compiler"] = compiler_text();
  json["build_type"] = TESSERA_BUILD_TYPE;
  json["flags"] = TESSERA_FLAGS;
  json["cuda_build"] = cuda_build_text().empty() ? Json(nullptr) : Json(cuda_build_text());
  if (!slow_build_reason().empty()) json["slow_build"] = slow_build_reason();
  return json;
}

void print_json(const Json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

Json json_number(double value) {
  if (value == value && value - value == 0) return value;
  return fmt::format("{}", value);
}

void flush_stdout() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw Error(ErrorCode::kOutputFailure, "stdout: the report could not be written");
  }
}

}  // namespace tessera::cli
