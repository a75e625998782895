// Runs nvcc.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "simt/report/cubin.h"
#include "tessera/error.h"

extern char** environ;

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

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// nvcc's output, as one line that fits a message: its first error, or its first line.
std::string first_error(const std::string& output) {
  std::string first;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (line.find("error") != std::string::npos || line.find("fatal") != std::string::npos)
      return line;
    if (first.empty()) first = line;
  }
  return first.empty() ? "no message" : first;
}

// Runs a program without a shell, its output in `log`. Returns its status as waitpid gives it, or
// -1 when it could not be started (errno is set).
int run_program(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failed = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    errno = failed;
    return -1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

bool is_architecture(const std::string& name) {
  if (!starts_with(name, "sm_") || name.size() < 5) return false;
  return name.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz", 3) == std::string::npos;
}

}  // namespace

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
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("nvcc: architecture = \"{}\" must be like sm_90", architecture));
  const std::string cubin = folder + "/kernels.cubin", log = folder + "/nvcc.log";
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
  const int status = run_program(words, log);
  if (status == -1)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("nvcc: cannot start {}: {}", nvcc, std::strerror(errno)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(ErrorCode::kBadFile, fmt::format("nvcc: {} does not compile for {}: {}", path,
                                                 architecture, first_error(read_text(log))));
  Cubin result = read_cubin(cubin);
  for (Compiled& kernel : result.kernels) kernel.architecture = architecture;
  return result;
}

}  // namespace tessera::simt
