#include "support/cli.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace tessera::test {
namespace {

namespace fs = std::filesystem;
constexpr auto kPatience = std::chrono::seconds(60);

std::int64_t entries(const std::string& directory) {
  return std::distance(fs::directory_iterator(directory), fs::directory_iterator());
}

void limit(int what, std::uint64_t value) {
  const rlimit both{value, value};
  if (value != 0 && ::setrlimit(static_cast<__rlimit_resource>(what), &both) != 0) ::_exit(126);
}

[[noreturn]] void become_tessera(const std::vector<std::string>& args, const Limits& limits,
                                 const std::string& out, const std::string& err) {
  const int out_file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_file = ::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (::dup2(out_file, STDOUT_FILENO) < 0 || ::dup2(err_file, STDERR_FILENO) < 0) ::_exit(126);
  limit(RLIMIT_FSIZE, limits.file_bytes);
  limit(RLIMIT_AS, limits.address_bytes);
  for (const int fd : limits.closed) ::close(fd);
  std::vector<std::string> variables = limits.environment;
  for (std::string& variable : variables) ::putenv(variable.data());
  std::string program = TESSERA_CLI;
  std::vector<char*> argv = {program.data()};
  std::vector<std::string> copies = args;
  for (std::string& arg : copies) argv.push_back(arg.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

/// Waits until the program has made a file, so that the signal meets it at work.
void interrupt(pid_t child, const Limits& limits, std::int64_t before) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (entries(limits.watched) <= before && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ::kill(child, limits.interrupt_with);
}

std::string temporary(const char* suffix) {
  return fs::temp_directory_path() / fmt::format("tessera_cli_{}{}", ::getpid(), suffix);
}

}  // namespace

Ran run_tessera(const std::vector<std::string>& args, const Limits& limits) {
  const std::string out = temporary(".out"), err = temporary(".err");
  const std::int64_t before = limits.watched.empty() ? 0 : entries(limits.watched);
  const pid_t child = ::fork();
  if (child == 0) become_tessera(args, limits, out, err);
  if (limits.interrupt_with != 0) interrupt(child, limits, before);
  int status = 0;
  rusage usage{};
  Ran ran;
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child) return ran;
  if (WIFEXITED(status)) ran.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ran.signal = WTERMSIG(status);
  ran.max_rss_bytes = usage.ru_maxrss * 1024;
  ran.out = read_file(out);
  ran.err = read_file(err);
  fs::remove(out);
  fs::remove(err);
  return ran;
}

std::string npy(const std::string& descr, bool fortran, const std::string& shape,
                const std::string& bytes) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr,
                                   fortran ? "True" : "False", shape);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + bytes;
}

std::string safetensors(const std::string& header, const std::string& data) {
  std::string file;
  for (int byte = 0; byte < 8; ++byte) {
    file += static_cast<char>((header.size() >> (8 * byte)) & 0xff);
  }
  return file + header + data;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  ASSERT_TRUE(file.flush()) << path;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_sparse_npy(const std::string& path, const std::string& descr, std::int64_t rows,
                      std::int64_t cols, std::int64_t element_bytes) {
  const std::string head = npy(descr, false, fmt::format("({}, {})", rows, cols), "");
  write_file(path, head);
  fs::resize_file(path, head.size() + static_cast<std::uint64_t>(rows * cols * element_bytes));
}

template <class T>
std::vector<T> read_npy(const std::string& path, const std::string& descr, std::int64_t rows,
                        std::int64_t cols) {
  const std::string file = read_file(path);
  std::vector<T> values(static_cast<std::size_t>(rows * cols));
  if (file.size() < 10) {
    ADD_FAILURE() << path << " is missing or short";
    return values;
  }
  const std::size_t length = static_cast<unsigned char>(file[8]) +
                             256 * static_cast<std::size_t>(static_cast<unsigned char>(file[9]));
  const std::string header = file.substr(10, length);
  EXPECT_NE(header.find(fmt::format("'{}'", descr)), std::string::npos) << header;
  EXPECT_NE(header.find(fmt::format("({}, {})", rows, cols)), std::string::npos) << header;
  EXPECT_NE(header.find("False"), std::string::npos) << header;
  const std::size_t bytes = values.size() * sizeof(T);
  EXPECT_EQ(file.size(), 10 + length + bytes);
  if (bytes > 0 && file.size() == 10 + length + bytes) {
    std::memcpy(values.data(), file.data() + 10 + length, bytes);
  }
  return values;
}
template std::vector<float> read_npy(const std::string&, const std::string&, std::int64_t,
                                     std::int64_t);
template std::vector<double> read_npy(const std::string&, const std::string&, std::int64_t,
                                      std::int64_t);
template std::vector<std::uint16_t> read_npy(const std::string&, const std::string&, std::int64_t,
                                             std::int64_t);

void CliTest::SetUp() {
  std::string name = fs::temp_directory_path() / "tessera_cli_XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  directory_ = name;
}

void CliTest::TearDown() {
  std::error_code ignored;
  fs::permissions(directory_, fs::perms::owner_all, ignored);
  fs::remove_all(directory_, ignored);
}

std::vector<std::string> CliTest::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void CliTest::expect_error(const Ran& ran, int code, const std::vector<std::string>& pieces) {
  EXPECT_EQ(ran.signal, 0);
  EXPECT_EQ(ran.code, code) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_TRUE(!ran.err.empty() && ran.err.back() == '\n') << ran.err;
  EXPECT_EQ(ran.err.rfind("tessera", 0), 0U) << ran.err;
  for (const std::string& piece : pieces) {
    EXPECT_NE(ran.err.find(piece), std::string::npos) << piece << " is not in: " << ran.err;
  }
}

void CliTest::expect_ok(const Ran& ran) {
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.signal, 0);
  EXPECT_EQ(ran.err, "");
}

}  // namespace tessera::test
