// Test matrices: asymmetric, non-constant data in buffers whose padding and surroundings are
// guarded, on the host or on a GPU.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tessera/half.h"
#include "tessera/matrix.h"

namespace tessera::test {

/// A value that no right product contains: a NaN with a payload of its own.
template <class T>
T poison() {
  if constexpr (sizeof(T) == 2) {
    return T::from_bits(0x7fc5);
  } else if constexpr (sizeof(T) == 4) {
    const std::uint32_t bits = 0x7fc5a5a5u;
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    const std::uint64_t bits = 0x7ff8a5a5a5a5a5a5u;
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
}

/// A matrix in a buffer of its own, with `pad` elements after each run and guard elements before
/// and after, all poisoned. `shift` elements move the first element off the natural alignment.
template <class T>
class TestMatrix {
 public:
  static constexpr std::int64_t kGuard = 64;

  TestMatrix(std::int64_t rows, std::int64_t cols, Layout layout = Layout::kRowMajor,
             std::int64_t pad = 0, std::int64_t shift = 0, std::int64_t batch = 1)
      : rows_(rows),
        cols_(cols),
        layout_(layout),
        ld_(run_length() + pad),
        stride_(run_count() * ld_),
        offset_(kGuard + shift) {
    if (ld_ == 0) ld_ = 1;
    buffer_.assign(static_cast<std::size_t>(offset_ + batch * stride_ + kGuard), poison<T>());
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  std::int64_t ld() const { return ld_; }
  std::int64_t batch_stride() const { return stride_; }
  std::int64_t batch() const {
    return stride_ == 0 ? 1
                        : (static_cast<std::int64_t>(buffer_.size()) - offset_ - kGuard) / stride_;
  }
  Layout layout() const { return layout_; }

  T& at(std::int64_t i, std::int64_t j, std::int64_t b = 0) {
    return buffer_[static_cast<std::size_t>(index(i, j, b))];
  }
  const T& at(std::int64_t i, std::int64_t j, std::int64_t b = 0) const {
    return buffer_[static_cast<std::size_t>(index(i, j, b))];
  }

  MatrixView<T> view() { return {buffer_.data() + offset_, rows_, cols_, ld_, layout_}; }
  MatrixView<const T> view() const {
    return {buffer_.data() + offset_, rows_, cols_, ld_, layout_};
  }
  const std::vector<T>& buffer() const { return buffer_; }
  std::vector<T>& buffer() { return buffer_; }
  std::int64_t offset() const { return offset_; }

  /// Standard normal values.
  void fill_normal(std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    fill([&](std::int64_t, std::int64_t, std::int64_t) { return static_cast<T>(normal(engine)); });
  }
  /// Whole numbers in [-limit, limit]: products of them are exact in T.
  void fill_integers(std::uint64_t seed, int limit = 8) {
    std::mt19937_64 engine(seed);
    std::uniform_int_distribution<int> uniform(-limit, limit);
    fill([&](std::int64_t, std::int64_t, std::int64_t) { return static_cast<T>(uniform(engine)); });
  }
  void fill_constant(T value) {
    fill([&](std::int64_t, std::int64_t, std::int64_t) { return value; });
  }
  template <class F>
  void fill(F value) {
    for (std::int64_t b = 0; b < batch(); ++b) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        for (std::int64_t j = 0; j < cols_; ++j) at(i, j, b) = value(i, j, b);
      }
    }
  }

  /// True when everything outside the matrix still holds the poison it was built with.
  bool surroundings_intact() const {
    std::vector<bool> inside(buffer_.size(), false);
    for (std::int64_t b = 0; b < batch(); ++b) {
      for (std::int64_t i = 0; i < rows_; ++i) {
        for (std::int64_t j = 0; j < cols_; ++j)
          inside[static_cast<std::size_t>(index(i, j, b))] = true;
      }
    }
    const T expected = poison<T>();
    for (std::size_t x = 0; x < buffer_.size(); ++x) {
      if (!inside[x] && std::memcmp(&buffer_[x], &expected, sizeof(T)) != 0) return false;
    }
    return true;
  }

 private:
  std::int64_t run_count() const { return layout_ == Layout::kRowMajor ? rows_ : cols_; }
  std::int64_t run_length() const { return layout_ == Layout::kRowMajor ? cols_ : rows_; }
  std::int64_t index(std::int64_t i, std::int64_t j, std::int64_t b) const {
    return offset_ + b * stride_ + (layout_ == Layout::kRowMajor ? i * ld_ + j : i + j * ld_);
  }

  std::int64_t rows_, cols_;
  Layout layout_;
  std::int64_t ld_, stride_, offset_;
  std::vector<T> buffer_;
};

/// Same bytes, NaN included.
template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

}  // namespace tessera::test
