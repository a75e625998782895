#include "blas/multiply.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>

#include "blas/plain_loops.h"
#include "core/footprint.h"
#include "core/host_buffer.h"
#include "core/run_once.h"
#include "tessera/gemm.h"

namespace tessera::blas {
namespace {

template <class T>
bool aligned(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % sizeof(T) == 0;
}

template <class T>
Footprint footprint_of(const MatrixView<const T>& x) {
  return footprint("operand", {x.rows, x.cols, x.ld, x.layout, 0, 1}, DTypeOf<T>::value, 1, x.data);
}

/// Bytes, whatever the alignment.
template <class T>
void copy_column(const T* from, std::int64_t count, T* to) {
  std::memcpy(static_cast<void*>(to), static_cast<const void*>(from),
              static_cast<std::size_t>(count) * sizeof(T));
}

/// A dense, aligned copy of a column-major matrix.
template <class T>
class Copy {
 public:
  explicit Copy(const MatrixView<const T>& x)
      : buffer_("gemm", x.rows * x.cols * static_cast<std::int64_t>(sizeof(T))) {
    for (std::int64_t j = 0; j < x.cols; ++j) {
      copy_column(x.data + j * x.ld, x.rows, data() + j * x.rows);
    }
  }
  T* data() const { return static_cast<T*>(buffer_.data()); }

 private:
  HostBuffer buffer_;
};

/// What tessera::gemm refuses, made acceptable: copies of inputs that overlap C, and of matrices
/// that are not aligned.
template <class T>
class Copies {
 public:
  /// Throws when memory runs out.
  explicit Copies(const Call<T>& x) : call_(x) {
    const bool read = x.reads_inputs();
    const auto replace = [](const MatrixView<const T>& view, std::optional<Copy<T>>& copy,
                            const T*& data, int& ld) {
      copy.emplace(view);
      data = copy->data();
      ld = static_cast<int>(std::max<std::int64_t>(view.rows, 1));
    };
    const Footprint c = footprint_of<T>(x.c_view());
    if (read && (!aligned(x.a) || share_bytes(c, footprint_of<T>(x.a_view()), false))) {
      replace(x.a_view(), a_, call_.a, call_.lda);
    }
    if (read && (!aligned(x.b) || share_bytes(c, footprint_of<T>(x.b_view()), false))) {
      replace(x.b_view(), b_, call_.b, call_.ldb);
    }
    if (!aligned(x.c)) {
      const T* data = nullptr;
      replace(x.c_view(), c_, data, call_.ldc);
      call_.c = c_->data();
    }
  }
  /// The call on the copies.
  const Call<T>& call() const { return call_; }
  /// Brings C to where `x` has it.
  void store(const Call<T>& x) const {
    for (std::int64_t j = 0; c_ && j < x.n; ++j) {
      copy_column(call_.c + j * call_.ldc, x.m, x.c + j * x.ldc);
    }
  }

 private:
  Call<T> call_;
  std::optional<Copy<T>> a_, b_, c_;
};

template <class T>
void run(const Call<T>& x) {
  // Never destroyed: the destructors of others may multiply.
  static const GemmOptions& defaults = *new GemmOptions;
  const auto describe = [](std::int64_t rows, std::int64_t cols, int ld) {
    return OperandDesc{rows, cols, ld, Layout::kColMajor, 0, 1};
  };
  const bool a_t = x.op_a == Op::kT, b_t = x.op_b == Op::kT;
  run_once({.dtype = DTypeOf<T>::value,
            .input = {},
            .op_a = x.op_a,
            .op_b = x.op_b,
            .a = describe(a_t ? x.k : x.m, a_t ? x.m : x.k, x.lda),
            .b = describe(b_t ? x.n : x.k, b_t ? x.k : x.n, x.ldb),
            .c = describe(x.m, x.n, x.ldc)},
           defaults, static_cast<double>(x.alpha), x.a, x.b, static_cast<double>(x.beta), x.c);
}

/// Once in a process.
void say_why_slow(const char* reason, const char* unless = "") noexcept {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    std::fprintf(stderr, "tessera_blas: %s: computed by plain loops, slowly%s\n", reason, unless);
  }
}

/// By tessera::gemm, or else by plain loops, which need nothing.
template <class T>
void run_or_loop(const Call<T>& x) noexcept {
  try {
    return run(x);
  } catch (const std::exception& e) {
    say_why_slow(e.what());
  } catch (...) {
    say_why_slow("an exception of unknown type");
  }
  plain_loops(x);
}

/// Where a matrix is not aligned or an input overlaps C.
template <class T>
void multiply_copies(const Call<T>& x) noexcept {
  try {
    const Copies<T> copies(x);
    run_or_loop(copies.call());
    return copies.store(x);
  } catch (const std::exception& e) {  // no memory for copies: nothing can keep the old elements
    say_why_slow(e.what(), ", and wrongly where C shares elements with an input");
  }
  plain_loops(x);
}

}  // namespace

template <class T>
void multiply(const Call<T>& x) noexcept {
  const KeepErrno keep;
  if (x.quick_return()) return;
  const bool read = x.reads_inputs();
  if (!aligned(x.c) || (read && !(aligned(x.a) && aligned(x.b)))) return multiply_copies(x);
  try {
    return run(x);
  } catch (...) {
    // Before anything was written. Rare, so that others need not look first for what may be wrong.
  }
  multiply_copies(x);
}

template <class T>
void multiply_group(const Call<T>& shape, const T* const* a, const T* const* b, T* const* c,
                    std::int64_t count) noexcept {
  const KeepErrno keep;
  if (count == 0 || shape.quick_return()) return;
  if (count > 1) {
    try {
      return gemm_pointer_batched(shape.op_a, shape.op_b, shape.alpha, shape.a_view(), a,
                                  shape.b_view(), b, shape.beta, shape.c_view(), c, count);
    } catch (const std::exception&) {
      // It refuses before anything is written. Each product says for itself what is in its way.
    }
  }
  const bool read = shape.reads_inputs();
  for (std::int64_t i = 0; i < count; ++i) {
    Call<T> x = shape;
    x.a = read ? a[i] : nullptr;
    x.b = read ? b[i] : nullptr;
    x.c = c[i];
    multiply(x);
  }
}

template void multiply(const Call<float>&) noexcept;
template void multiply(const Call<double>&) noexcept;
template void multiply_group(const Call<float>&, const float* const*, const float* const*,
                             float* const*, std::int64_t) noexcept;
template void multiply_group(const Call<double>&, const double* const*, const double* const*,
                             double* const*, std::int64_t) noexcept;

}  // namespace tessera::blas
