#include "blas/multiply.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
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

/// A dense copy of a column-major input.
template <class T>
class Copy {
 public:
  explicit Copy(const MatrixView<const T>& x)
      : buffer_("gemm", x.rows * x.cols * static_cast<std::int64_t>(sizeof(T))) {
    for (std::int64_t j = 0; j < x.cols; ++j) {
      std::copy_n(x.data + j * x.ld, x.rows, data() + j * x.rows);
    }
  }
  T* data() const { return static_cast<T*>(buffer_.data()); }

 private:
  HostBuffer buffer_;
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

/// With copies of the inputs that overlap C. False, and nothing is done, when neither does.
template <class T>
bool run_with_copies(Call<T> x) {
  if (!x.reads_inputs()) return false;
  std::optional<Copy<T>> copy_a, copy_b;
  const Footprint c = footprint_of<T>(x.c_view());
  if (share_bytes(c, footprint_of<T>(x.a_view()), false)) {
    copy_a.emplace(x.a_view());
    x.lda = static_cast<int>(x.a_view().rows);
    x.a = copy_a->data();
  }
  if (share_bytes(c, footprint_of<T>(x.b_view()), false)) {
    copy_b.emplace(x.b_view());
    x.ldb = static_cast<int>(x.b_view().rows);
    x.b = copy_b->data();
  }
  if (!copy_a && !copy_b) return false;
  run(x);
  return true;
}

/// Once in a process.
void say_why_slow(const char* reason) noexcept {
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    std::fprintf(stderr, "tessera_blas: %s: computed by plain loops, slowly\n", reason);
  }
}

}  // namespace

template <class T>
void multiply(const Call<T>& x) noexcept {
  const KeepErrno keep;
  if (x.quick_return()) return;
  if (!aligned(x.c) || (x.reads_inputs() && !(aligned(x.a) && aligned(x.b)))) {
    return plain_loops(x);
  }
  try {
    return run(x);
  } catch (const Error& refused) {
    // Before anything was written. Rare, so that the others need not look for it first.
    try {
      if (run_with_copies(x)) return;
      say_why_slow(refused.what());
    } catch (const std::exception& e) {
      say_why_slow(e.what());
    }
  } catch (const std::exception& e) {
    say_why_slow(e.what());
  } catch (...) {
    say_why_slow("an exception of unknown type");
  }
  plain_loops(x);
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
