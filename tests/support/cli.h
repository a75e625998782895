// Runs the built `tessera` as a program, in a directory of its own, on files written here.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

struct Limits {
  std::uint64_t file_bytes = 0;     ///< RLIMIT_FSIZE; 0: none
  std::uint64_t address_bytes = 0;  ///< RLIMIT_AS; 0: none
  int interrupt_with = 0;           ///< signal sent as soon as a file appears in `watched`
  std::string watched;
  std::vector<int> closed;               ///< standard descriptors that are closed
  std::vector<std::string> environment;  ///< NAME=VALUE, added
};

struct Ran {
  int code = -1;   ///< exit code; -1 when it died by a signal
  int signal = 0;  ///< that signal
  std::string out, err;
  std::int64_t max_rss_bytes = 0;
};

Ran run_tessera(const std::vector<std::string>& args, const Limits& limits = {});

/// A .npy file of version 1.0; the bytes follow the header as they are.
std::string npy(const std::string& descr, bool fortran, const std::string& shape,
                const std::string& bytes);
/// A .safetensors file of one JSON header and its data.
std::string safetensors(const std::string& header, const std::string& data);
void write_file(const std::string& path, const std::string& bytes);
std::string read_file(const std::string& path);
/// As npy() with zeros as data that take no room on the disk.
void write_sparse_npy(const std::string& path, const std::string& descr, std::int64_t rows,
                      std::int64_t cols, std::int64_t element_bytes);

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
template <class T>
std::string matrix_npy(const std::string& descr, std::int64_t rows, std::int64_t cols,
                       const std::vector<T>& values, bool fortran = false) {
  return npy(descr, fortran, fmt::format("({}, {})", rows, cols), bytes_of(values));
}

/// The data of a row-major .npy file that has this descr and shape; fails the test otherwise.
template <class T>
std::vector<T> read_npy(const std::string& path, const std::string& descr, std::int64_t rows,
                        std::int64_t cols);

/// An empty directory for each test, and what must hold in it afterwards.
class CliTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  /// Names in the directory, hidden ones too, sorted.
  std::vector<std::string> files() const;
  /// Exit code, nothing on stdout, and exactly one line on stderr that holds each piece.
  static void expect_error(const Ran& ran, int code, const std::vector<std::string>& pieces);
  static void expect_ok(const Ran& ran);

 private:
  std::string directory_;
};

}  // namespace tessera::test
