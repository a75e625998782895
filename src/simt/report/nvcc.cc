// Runs nvcc.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "simt/report/cubin.h"
#include "simt/source/compile.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

bool is_program(const std::string& path) {
  std::error_code ec;
  return std::filesystem::is_regular_file(path, ec) && access(path.c_str(), X_OK) == 0;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool starts_with(const std::string& text, const char* start) {
  return text.compare(0, std::strlen(start), start) == 0;
}

std::string without(std::string text, const std::string& part) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) {
    text.erase(at, part.size());
  }
  return text;
}

// nvcc's output, as one line that fits a message: its first error, or its first line.
std::string first_error(const bench::Printed& printed, const std::string& folder) {
  std::string first;
  const std::string output = printed.err + "\n" + printed.out;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string line =
        without(without(output.substr(at, end - at), folder + "/nvcc/"), folder + "/");
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos)
      return line;
    if (first.empty()) first = line;
  }
  if (!first.empty()) return first;
  return printed.exit_code < 0 ? "it was ended by a signal, without a message"
                               : fmt::format("exit code {}, without a message", printed.exit_code);
}

}  // namespace

bool is_architecture(const std::string& name) {
  if (!starts_with(name, "sm_")) return false;
  int number = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + 3, end, number);
  if (read.ec != std::errc() || name[3] == '0' || number < 50 || number > 999) return false;
  const std::string suffix(read.ptr, end);  // sm_90a, sm_100f: what other chips do not have
  return suffix.empty() || (number >= 90 && (suffix == "a" || suffix == "f"));
}

std::vector<std::string> nvcc_flags(const std::vector<std::string>& flags) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string& flag = flags[i];
    const bool takes_next =
        flag == "-I" || flag == "-D" || flag == "-U" || flag == "-include" || flag == "-isystem";
    if (takes_next && i + 1 < flags.size()) {
      kept.push_back(flag);
      kept.push_back(flags[++i]);
    } else if (!takes_next && (starts_with(flag, "-I") || starts_with(flag, "-D") ||
                               starts_with(flag, "-U") || starts_with(flag, "-std"))) {
      kept.push_back(flag);
    }
  }
  return kept;
}

std::string find_nvcc() {
  const std::string path = environment("PATH");
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = path.substr(at, end - at);
    // An empty entry would mean the current folder, which is no place for a compiler.
    if (!folder.empty() && is_program(folder + "/nvcc")) return folder + "/nvcc";
    at = end + 1;
  }
  for (const std::string& home :
       {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda")})
    if (!home.empty() && is_program(home + "/bin/nvcc")) return home + "/bin/nvcc";
  return "";
}

Cubin compile_cubin(const std::string& nvcc, const std::string& path,
                    const std::vector<std::string>& flags, const std::string& architecture,
                    const std::string& folder) {
  if (!is_architecture(architecture))
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("check: --arch {}: must be like sm_90, and at least sm_50", architecture));
  const std::string cubin = folder + "/kernels.cubin";
  // The two extensions change no code that compiles without them.
  std::vector<std::string> words = {nvcc,
                                    "-cubin",
                                    "-lineinfo",
                                    "--expt-relaxed-constexpr",
                                    "--extended-lambda",
                                    "-arch=" + architecture};
  const std::vector<std::string> kept = nvcc_flags(flags);
  words.insert(words.end(), kept.begin(), kept.end());
  // As the executor's build.
  if (std::none_of(kept.begin(), kept.end(),
                   [](const std::string& flag) { return starts_with(flag, "-std"); })) {
    words.push_back("-std=c++20");
  }
  words.insert(words.end(), {"-x", "cu", "-o", cubin, path});
  const bench::Printed printed = run_compiler(words, folder);
  if (printed.exit_code != 0) {
    throw Error(ErrorCode::kBadFile,
                fmt::format("{} for {}: {}", nvcc, architecture, first_error(printed, folder)));
  }
  Cubin result = read_cubin(cubin);
  for (Compiled& kernel : result.kernels) kernel.architecture = architecture;
  return result;
}

}  // namespace tessera::simt
