#include "bench/case.h"

#include <fmt/format.h>

namespace tessera::bench {
namespace {

std::string operand_text(char name, const OperandDesc& x) {
  const bool row_major = x.layout == Layout::kRowMajor;
  std::string text;
  if (!row_major) text += fmt::format(" {} column-major", name);
  if (x.ld != (row_major ? x.cols : x.rows)) text += fmt::format(" ld{}={}", name, x.ld);
  return text;
}

}  // namespace

Case dense_case(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, DType dtype) {
  const auto dense = [](std::int64_t rows, std::int64_t cols) {
    return OperandDesc{rows, cols, cols, Layout::kRowMajor, 0, 256};
  };
  Case c;
  c.m = m;
  c.n = n;
  c.k = k;
  c.desc.dtype = dtype;
  if (dtype == DType::kBF16 || dtype == DType::kF16) {
    c.desc.dtype = DType::kF32;
    c.desc.input = dtype;
  }
  c.desc.op_a = op_a;
  c.desc.op_b = op_b;
  c.desc.a = op_a == Op::kT ? dense(k, m) : dense(m, k);
  c.desc.b = op_b == Op::kT ? dense(n, k) : dense(k, n);
  c.desc.c = dense(m, n);
  return c;
}

double flops_of(const Case& c) {
  return 2.0 * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k) *
         static_cast<double>(c.desc.batch);
}

double bytes_of(const Case& c) {
  const auto m = static_cast<double>(c.m), n = static_cast<double>(c.n),
             k = static_cast<double>(c.k), batch = static_cast<double>(c.desc.batch);
  const double members_a = c.desc.a.batch_stride == 0 ? 1 : batch;
  const double members_b = c.desc.b.batch_stride == 0 ? 1 : batch;
  const double inputs = m * k * members_a + k * n * members_b;
  const double outputs = m * n * batch * (c.beta == 0 ? 1 : 2);
  return inputs * static_cast<double>(size_of(c.desc.input_dtype())) +
         outputs * static_cast<double>(size_of(c.desc.dtype));
}

std::string case_text(const Case& c) {
  std::string text =
      fmt::format("{}x{}x{} {}{}", c.m, c.n, c.k, letter(c.desc.op_a), letter(c.desc.op_b));
  const DType dtype = c.desc.input_dtype();
  if (dtype != DType::kF32) text += fmt::format(" {}", to_string(dtype));
  text += operand_text('a', c.desc.a) + operand_text('b', c.desc.b) + operand_text('c', c.desc.c);
  if (c.desc.batch != 1) text += fmt::format(" batch {}", c.desc.batch);
  if (c.alpha != 1) text += fmt::format(" alpha {}", c.alpha);
  if (c.beta != 0) text += fmt::format(" beta {}", c.beta);
  return text;
}

}  // namespace tessera::bench
