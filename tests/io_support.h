// What the tests of src/io share: a directory, files written byte by byte, elements read back.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "io/tensor.h"

namespace tessera::io {

/// A directory of its own, removed with everything in it.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tessera_io_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }
  /// Writes the bytes and gives the path.
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  /// Names of everything in the directory, hidden files too.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      out.push_back(entry.path().filename().string());
    }
    return out;
  }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::span<const std::byte> as_bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// `value` as `bytes` bytes, little-endian unless said otherwise.
inline std::string number(std::uint64_t value, int bytes, bool big_endian = false) {
  std::string out;
  for (int i = 0; i < bytes; ++i) {
    out += static_cast<char>(value >> 8 * (big_endian ? bytes - 1 - i : i) & 0xff);
  }
  return out;
}

/// The bytes of the values, little-endian.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

inline std::string npy(const std::string& header, const std::string& data, int major = 1) {
  return "\x93NUMPY" + number(static_cast<std::uint64_t>(major), 1) + number(0, 1) +
         number(header.size(), major == 1 ? 2 : 4) + header + data;
}

inline std::string npy_dict(const std::string& descr, const std::string& order,
                            const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

inline std::string safetensors(const std::string& header, const std::string& data) {
  return number(header.size(), 8) + header + data;
}

/// All elements, in row-major order.
template <class T = double>
std::vector<T> elements(const FileMatrix& m) {
  std::vector<T> out(static_cast<std::size_t>(m.rows * m.cols));
  read_block(m, 0, 0, m.rows, m.cols, out.data(), m.cols);
  return out;
}

/// The message of the Error that `call` throws, which must have this code and be one line.
inline std::string error_of(ErrorCode code, const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), code) << message;
    EXPECT_EQ(message.find('\n'), message.npos) << message;
    EXPECT_LT(message.size(), 1000u) << message;
    return message;
  }
  ADD_FAILURE() << "no Error was thrown";
  return {};
}

inline void expect_in(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), message.npos) << "\"" << part << "\" is not in: " << message;
  }
}

}  // namespace tessera::io
