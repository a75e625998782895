// One product to be timed, whoever computes it.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/plan.h"

namespace tessera::bench {

/// C = alpha * op(A) * op(B) + beta * C, `desc.batch` times.
struct Case {
  GemmDesc desc;
  std::int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  std::string suite;       ///< file it came from; empty for the command line
  std::int64_t calls = 1;  ///< how often a replayed program made this call
};

inline char letter(Op op) { return op == Op::kT ? 'T' : 'N'; }

/// A dense row-major case with pointers aligned to 256 bytes. A dtype of 16 bits is that of A and
/// B, and C is f32.
Case dense_case(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, DType dtype);

/// 2 m n k for each member of the batch.
double flops_of(const Case& c);
/// A, B and C once each, C twice when beta is not 0; elements, not padding.
double bytes_of(const Case& c);
/// "1024x512x256 NT", with dtype, batch, layouts, leading dimensions and scalars only where they
/// are not the plain ones.
std::string case_text(const Case& c);

}  // namespace tessera::bench
