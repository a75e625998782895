// Files of test matrices, the FP64 reference, and one product in panels checked against it.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/tensor.h"
#include "panel/panel_job.h"

namespace tessera::panel {

/// A directory that goes away with the process that made it; in memory where that is possible, as
/// nothing here is about disks.
class TempDir {
 public:
  TempDir() {
    const std::filesystem::path shared = "/dev/shm";
    const auto parent =
        access(shared.c_str(), W_OK) == 0 ? shared : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "tessera-panel-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    if (getpid() == owner_) std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t entries() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::filesystem::path path_;
  pid_t owner_ = getpid();
};

/// How a matrix is stored.
struct Stored {
  DType dtype = DType::kF32;
  bool fortran = false;
  bool big_endian = false;
  auto key() const { return std::tuple(dtype, fortran, big_endian); }
};

/// Bits of a multiple of 1/8 below 256 in IEEE binary16.
inline std::uint16_t half_bits(double x) {
  if (x == 0) return 0;
  if (std::isnan(x)) return 0x7e00;
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(x), &exponent);  // in [0.5, 1)
  const auto mantissa = static_cast<std::uint16_t>(std::ldexp(fraction, 11) - 1024);
  return static_cast<std::uint16_t>((x < 0 ? 0x8000 : 0) | ((exponent + 14) << 10) | mantissa);
}

template <class T>
void put(std::string& out, T value, bool big_endian) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  if (big_endian) std::reverse(bytes, bytes + sizeof(T));
  out.append(bytes, sizeof(T));
}

inline void put_value(std::string& out, double x, Stored how) {
  switch (how.dtype) {
    case DType::kF64:
      return put(out, x, how.big_endian);
    case DType::kF32:
      return put(out, static_cast<float>(x), how.big_endian);
    case DType::kF16:
      return put(out, half_bits(x), how.big_endian);
    case DType::kI16:
      return put(out, static_cast<std::int16_t>(x), how.big_endian);
    default:
      throw std::logic_error("put_value: dtype");
  }
}

using Values = std::function<double(std::int64_t, std::int64_t)>;

inline std::string npy_header(std::int64_t rows, std::int64_t cols, Stored how) {
  const char* kind = how.dtype == DType::kI16   ? "i2"
                     : how.dtype == DType::kF16 ? "f2"
                     : how.dtype == DType::kF32 ? "f4"
                                                : "f8";
  std::string text =
      fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}, {}), }}",
                  how.big_endian ? '>' : '<', kind, how.fortran ? "True" : "False", rows, cols);
  text.resize((text.size() + 10 + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  text += '\n';
  std::string out = "\x93NUMPY";
  out += std::string("\x01\x00", 2);
  put(out, static_cast<std::uint16_t>(text.size()), false);
  return out + text;
}

inline void write_npy(const std::string& path, std::int64_t rows, std::int64_t cols, Stored how,
                      const Values& value) {
  std::string out = npy_header(rows, cols, how);
  for (std::int64_t r = 0; r < (how.fortran ? cols : rows); ++r) {
    for (std::int64_t s = 0; s < (how.fortran ? rows : cols); ++s) {
      put_value(out, how.fortran ? value(s, r) : value(r, s), how);
    }
  }
  std::ofstream(path, std::ios::binary) << out;
}

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Multiples of 1/4 in [-4, 4]: every sum of the products here is exact in FP32, so that results
/// are compared exactly.
inline double exact_value(char name, std::int64_t i, std::int64_t j) {
  const std::uint64_t h = mix(static_cast<std::uint64_t>(name) << 48 ^
                              static_cast<std::uint64_t>(i) << 24 ^ static_cast<std::uint64_t>(j));
  return (static_cast<double>(h % 33) - 16) / 4;
}
/// The same as whole numbers where the file holds whole numbers.
inline double stored_value(char name, DType dtype, std::int64_t i, std::int64_t j) {
  const double x = exact_value(name, i, j);
  return dtype == DType::kI16 ? x * 4 : x;
}

/// Opened inputs of one shape and storage, made once.
class Inputs {
 public:
  const io::FileMatrix& get(char name, std::int64_t rows, std::int64_t cols, Stored how) {
    const auto key = std::tuple(name, rows, cols, how.key());
    const auto found = files_.find(key);
    if (found != files_.end()) return found->second;
    const std::string path = dir_.file(name + std::to_string(files_.size()) + ".npy");
    write_npy(path, rows, cols, how,
              [&](std::int64_t i, std::int64_t j) { return stored_value(name, how.dtype, i, j); });
    return files_.emplace(key, io::open_matrix(path)).first->second;
  }
  std::string output() const { return dir_.file("out.npy"); }
  const TempDir& dir() const { return dir_; }

 private:
  TempDir dir_;
  std::map<std::tuple<char, std::int64_t, std::int64_t, std::tuple<DType, bool, bool>>,
           io::FileMatrix>
      files_;
};

struct Case {
  std::int64_t m = 1, n = 1, k = 1;
  Op op_a = Op::kN, op_b = Op::kN;
  double alpha = 1, beta = 0;
  Stored a, b, c0;
  DType out = DType::kF32;
  std::optional<PanelShape> shape;
  PanelOptions options;

  std::string text() const {
    std::string s =
        fmt::format("m={} n={} k={} {}{} alpha={} beta={}", m, n, k, op_a == Op::kT ? 'T' : 'N',
                    op_b == Op::kT ? 'T' : 'N', alpha, beta);
    for (const Stored& x : {a, b, c0}) {
      s += fmt::format(" {}{}{}", to_string(x.dtype), x.fortran ? 'F' : 'C',
                       x.big_endian ? '>' : '<');
    }
    s += fmt::format(" out {}", to_string(out));
    if (shape) {
      s += fmt::format(" panels {}x{}x{} {} outer", shape->m, shape->n, shape->k,
                       shape->a_outer ? 'A' : 'B');
    }
    return s;
  }
};

/// Runs a checked job.
using Runner = std::function<PanelReport(const PanelJob&)>;

/// The elements of C of a case, row by row; the output is poisoned with NaN before the run.
inline std::vector<double> product(Inputs& inputs, const Case& c, const Runner& runner,
                                   PanelReport* report = nullptr) {
  const auto stored = [&](char name, std::int64_t rows, std::int64_t cols, Op op, Stored how) {
    return op == Op::kT ? inputs.get(name, cols, rows, how) : inputs.get(name, rows, cols, how);
  };
  const io::FileMatrix a = stored('a', c.m, c.k, c.op_a, c.a);
  const io::FileMatrix b = stored('b', c.k, c.n, c.op_b, c.b);
  io::OutputMatrix out(inputs.output(), c.out, c.m, c.n);
  std::memset(out.data(), 0xff,
              static_cast<std::size_t>(c.m) * static_cast<std::size_t>(c.n) * size_of(c.out));
  const io::FileMatrix* c0 = nullptr;
  if (c.beta != 0) c0 = &inputs.get('c', c.m, c.n, c.c0);
  PanelJob job = make_job(c.op_a, c.op_b, c.alpha, a, b, c.beta, c0, out, c.options);
  job.forced = c.shape;
  const PanelReport made = runner(job);
  if (report != nullptr) *report = made;
  std::vector<double> result(static_cast<std::size_t>(c.m * c.n));
  io::read_block(out.as_input(), 0, 0, c.m, c.n, result.data(), c.n);
  return result;
}

/// Fault in the first element that differs from the FP64 reference; empty when none does. Values
/// are exact in f32 and f64; an f16 output may be rounded once.
inline std::string first_fault(const Case& c, const std::vector<double>& got) {
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < c.k; ++p) {
        const double x = c.op_a == Op::kT ? stored_value('a', c.a.dtype, p, i)
                                          : stored_value('a', c.a.dtype, i, p);
        const double y = c.op_b == Op::kT ? stored_value('b', c.b.dtype, j, p)
                                          : stored_value('b', c.b.dtype, p, j);
        sum += x * y;
      }
      double want = c.alpha * sum;
      if (c.beta != 0) want += c.beta * stored_value('c', c.c0.dtype, i, j);
      const double tolerance = c.out == DType::kF16 ? std::fabs(want) * 0x1p-11 + 0x1p-25 : 0.0;
      const double x = got[static_cast<std::size_t>(i * c.n + j)];
      const bool ok = std::fabs(x - want) <= tolerance;
      if (!ok) {
        return fmt::format("{}: C({}, {}) is {}, want {}", c.text(), i, j, x, want);
      }
    }
  }
  return "";
}

inline std::string fault(Inputs& inputs, const Case& c, const Runner& runner) {
  return first_fault(c, product(inputs, c, runner));
}

}  // namespace tessera::panel
