// c01_naive: three loops in the reference order.
//
// Idea: C(i, j) is one dot product of length k, summed in the order p = 0, 1, ..., k-1, straight
// from the operands. It is what the other kernels are read against, not what they are tested
// against (that is the FP64 reference in tests/support).
// Expected bottleneck: one operand is walked with a stride, so almost every step of the inner loop
// misses the first cache once the matrices outgrow it.
// Limits: none.
#include <cstdint>

#include "kernels/cpu/elements.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

template <class In, class T>
void run(const Problem& p, const Operands& x, const LaunchContext&) {
  const T alpha = static_cast<T>(x.alpha), beta = static_cast<T>(x.beta);
  // Steps along (i, p) of op(A) and (p, j) of op(B).
  const std::int64_t a_i = p.trans_a ? 1 : p.lda, a_p = p.trans_a ? p.lda : 1;
  const std::int64_t b_p = p.trans_b ? 1 : p.ldb, b_j = p.trans_b ? p.ldb : 1;
  for (std::int64_t batch = 0; batch < p.batch; ++batch) {
    const In* a = static_cast<const In*>(x.a) + batch * p.stride_a;
    const In* b = static_cast<const In*>(x.b) + batch * p.stride_b;
    T* c = static_cast<T*>(x.c) + batch * p.stride_c;
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        T sum = 0;
        for (std::int64_t q = 0; q < p.k; ++q) {
          sum += static_cast<T>(a[i * a_i + q * a_p]) * static_cast<T>(b[q * b_p + j * b_j]);
        }
        T& out = c[i * p.ldc + j];
        out = beta == T{0} ? alpha * sum : alpha * sum + beta * out;
      }
    }
  }
}

}  // namespace

void register_c01_naive(Registry& registry);
void register_c01_naive(Registry& registry) {
  for (DType dtype : kCpuInputs) {
    Kernel kernel;
    kernel.id = {"cpu", "naive", dtype, ""};
    kernel.stem = "c01_naive";
    kernel.why = "every element of B comes from memory again for each row of A";
    kernel.summary = "three loops in the reference order, one thread";
    kernel.arch = "any CPU";
    kernel.limits = "none";
    kernel.alignment_bytes = static_cast<int>(size_of(dtype));
    kernel.can_implement = [](const Problem&, const DeviceInfo&) {
      return std::optional<Rejection>{};
    };
    kernel.estimate_us = [](const Problem& p, const DeviceInfo&) {
      // About one multiply-add a nanosecond.
      return 1e-3 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
             static_cast<double>(p.batch);
    };
    kernel.launch = with_elements(dtype, []<class In, class T>() { return run<In, T>; });
    registry.add(std::move(kernel));
  }
}

}  // namespace tessera
