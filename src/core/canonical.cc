#include "core/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "core/footprint.h"
#include "core/int_math.h"
#include "core/threads.h"
#include "tessera/error.h"

namespace tessera {
namespace {

using std::int64_t;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "gemm: " + message);
}

/// Elements from the first to one past the last; refuses when that does not fit the address space.
int64_t extent(const char* name, const OperandDesc& x, DType dtype) {
  const Runs runs = runs_of(x);
  if (runs.count == 0 || runs.length == 0) return 0;
  int64_t elements = 0, bytes = 0;
  if (__builtin_mul_overflow(runs.count - 1, runs.count > 1 ? x.ld : 0, &elements) ||
      __builtin_add_overflow(elements, runs.length, &elements) ||
      __builtin_mul_overflow(elements, static_cast<int64_t>(size_of(dtype)), &bytes)) {
    refuse(fmt::format("{} is {} x {} with ld{} = {}: its size in bytes exceeds 2^63", name, x.rows,
                       x.cols, static_cast<char>(std::tolower(name[0])), x.ld));
  }
  return elements;
}

void check_operand(const char* name, const OperandDesc& x) {
  const char lower = static_cast<char>(std::tolower(name[0]));
  if (x.rows < 0 || x.cols < 0) {
    refuse(fmt::format("{} is {} x {}: sizes must be >= 0", name, x.rows, x.cols));
  }
  const Runs runs = runs_of(x);
  if (runs.count > 1 && x.ld < std::max<int64_t>(1, runs.length)) {
    refuse(fmt::format("ld{} = {} is too small: {} is {} x {} {}-major, so ld{} must be >= {}",
                       lower, x.ld, name, x.rows, x.cols,
                       x.layout == Layout::kRowMajor ? "row" : "column", lower,
                       std::max<int64_t>(1, runs.length)));
  }
  if (x.alignment < 1 || (x.alignment & (x.alignment - 1)) != 0) {
    refuse(fmt::format("alignment of {} = {}: must be a power of two >= 1", name, x.alignment));
  }
}

/// ld as kernels see it: never smaller than a run, even where it is never used to step.
int64_t usable_ld(const OperandDesc& x) {
  const Runs runs = runs_of(x);
  return std::max<int64_t>({runs.count > 1 ? x.ld : runs.length, runs.length, 1});
}

int alignment(const OperandDesc& x, DType dtype, int64_t batch) {
  const std::uintptr_t size = size_of(dtype);
  int result = std::min(x.alignment, 256);
  // Unsigned: the low bits are right for a negative stride, and for an ld whose size in bytes
  // overflows, which an empty matrix may have.
  if (runs_of(x).count > 1) {
    result = std::min(result, alignment_of(static_cast<std::uintptr_t>(x.ld) * size));
  }
  if (batch > 1 && x.batch_stride != 0) {
    result = std::min(result, alignment_of(static_cast<std::uintptr_t>(x.batch_stride) * size));
  }
  return result;
}

void check_precision(const GemmDesc& desc, const GemmOptions& options) {
  const DType input = desc.input_dtype();
  const bool fits = options.precision == Precision::kNative ||
                    (options.precision == Precision::kFp32 && desc.dtype == DType::kF32) ||
                    (options.precision == Precision::kFp64 && desc.dtype == DType::kF64) ||
                    (options.precision == Precision::kBf16 && input == DType::kBF16) ||
                    (options.precision == Precision::kFp16 && input == DType::kF16);
  if (!fits) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("gemm: precision {} on {} operands has no kernel in this version; "
                            "available: fp32 on f32, bf16 and f16, fp64 on f64, bf16 on bf16, "
                            "fp16 on f16",
                            to_string(options.precision), to_string(input)));
  }
  if (options.determinism != Determinism::kRunToRun) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("gemm: determinism {} has no kernel in this version; available: {}",
                            to_string(options.determinism), to_string(Determinism::kRunToRun)));
  }
}

void check_batch(const GemmDesc& desc) {
  if (desc.batch < 0) refuse(fmt::format("batch = {}: must be >= 0", desc.batch));
  if (desc.batch <= 1) return;
  for (const OperandDesc* x : {&desc.a, &desc.b, &desc.c}) {
    const auto size = static_cast<int64_t>(size_of(x == &desc.c ? desc.dtype : desc.input_dtype()));
    int64_t span = 0;
    if (__builtin_mul_overflow(desc.batch - 1, x->batch_stride, &span) ||
        __builtin_mul_overflow(span, size, &span)) {
      refuse(fmt::format("batch = {} with stride {}: the span in bytes exceeds 2^63", desc.batch,
                         x->batch_stride));
    }
  }
  // The C matrices must be disjoint: one after another, or side by side within one pitch.
  const Runs runs = runs_of(desc.c);
  if (runs.count == 0 || runs.length == 0) return;
  const int64_t stride = std::abs(desc.c.batch_stride);
  const bool consecutive = stride >= extent("C", desc.c, desc.dtype);
  const bool interleaved = runs.count > 1 && stride >= runs.length &&
                           (desc.batch - 1) * stride + runs.length <= desc.c.ld;
  if (!consecutive && !interleaved) {
    refuse(
        fmt::format("stride_c = {}: the {} matrices C would overlap; a stride of {} keeps "
                    "them apart",
                    desc.c.batch_stride, desc.batch, extent("C", desc.c, desc.dtype)));
  }
}

void check_types(const GemmDesc& desc) {
  if (desc.dtype != DType::kF32 && desc.dtype != DType::kF64) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("gemm: C of type {} has no kernel in this version; available: f32, f64",
                            to_string(desc.dtype)));
  }
  const DType input = desc.input_dtype();
  const bool half = input == DType::kBF16 || input == DType::kF16;
  if (input != desc.dtype && !(half && desc.dtype == DType::kF32)) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("gemm: A and B of type {} with C of type {} have no kernel in this "
                            "version; available: C's own type, and bf16 and f16 with f32",
                            to_string(input), to_string(desc.dtype)));
  }
  if (half && desc.space == Space::kCuda) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("gemm: A and B of type {} in CUDA memory have no kernel in this "
                            "version; available there: f32, f64",
                            to_string(input)));
  }
}

}  // namespace

Canonical canonicalise(const GemmDesc& desc, const GemmOptions& options) {
  check_types(desc);
  if (options.threads < 0 || options.threads > kMostThreads) {
    refuse(fmt::format("threads = {}: must be from 0 to {}", options.threads, kMostThreads));
  }
  check_operand("A", desc.a);
  check_operand("B", desc.b);
  check_operand("C", desc.c);
  check_precision(desc, options);

  const bool a_t = desc.op_a == Op::kT, b_t = desc.op_b == Op::kT;
  const int64_t m = a_t ? desc.a.cols : desc.a.rows;
  const int64_t k = a_t ? desc.a.rows : desc.a.cols;
  const int64_t k_b = b_t ? desc.b.cols : desc.b.rows;
  const int64_t n = b_t ? desc.b.rows : desc.b.cols;
  if (k != k_b) {
    refuse(fmt::format("op(A) is {} x {} and op(B) is {} x {}: the inner sizes must be equal", m, k,
                       k_b, n));
  }
  if (desc.c.rows != m || desc.c.cols != n) {
    refuse(fmt::format("C is {} x {}, but op(A) op(B) is {} x {}", desc.c.rows, desc.c.cols, m, n));
  }
  const DType input = desc.input_dtype();
  extent("A", desc.a, input);
  extent("B", desc.b, input);
  extent("C", desc.c, desc.dtype);
  check_batch(desc);

  Canonical out;
  Problem& p = out.problem;
  p.dtype = desc.dtype;
  p.input = input;
  p.space = desc.space;
  p.batch = desc.batch;
  p.k = k;
  p.precision = desc.dtype == DType::kF32 ? Precision::kFp32 : Precision::kFp64;
  p.determinism = options.determinism;

  // In memory, op(A)(i, p) steps by 1 along p unless exactly one of op and layout transposes.
  const bool trans_a = a_t != (desc.a.layout == Layout::kColMajor);
  const bool trans_b = b_t != (desc.b.layout == Layout::kColMajor);
  out.swapped = desc.c.layout == Layout::kColMajor;
  const OperandDesc& a = out.swapped ? desc.b : desc.a;
  const OperandDesc& b = out.swapped ? desc.a : desc.b;
  p.m = out.swapped ? n : m;
  p.n = out.swapped ? m : n;
  p.trans_a = out.swapped ? !trans_b : trans_a;
  p.trans_b = out.swapped ? !trans_a : trans_b;
  p.lda = usable_ld(a);
  p.ldb = usable_ld(b);
  p.ldc = usable_ld(desc.c);
  p.stride_a = a.batch_stride;
  p.stride_b = b.batch_stride;
  p.stride_c = desc.c.batch_stride;
  p.align_a = alignment(a, input, desc.batch);
  p.align_b = alignment(b, input, desc.batch);
  p.align_c = alignment(desc.c, desc.dtype, desc.batch);
  return out;
}

void refuse_aliases(const GemmDesc& desc, const void* a, const void* b, const void* c) {
  const auto empty = [](const OperandDesc& x) { return x.rows == 0 || x.cols == 0; };
  if (empty(desc.c)) return;
  const Footprint fc = footprint("C", desc.c, desc.dtype, desc.batch, c);
  const auto check = [&](const char* name, const OperandDesc& x, const void* data) {
    if (empty(x)) return;
    if (share_bytes(fc, footprint(name, x, desc.input_dtype(), desc.batch, data), desc.batch > 1)) {
      refuse(fmt::format("C shares memory with {}: C must not overlap an input (copy {} first)",
                         name, name));
    }
  };
  check("A", desc.a, a);
  check("B", desc.b, b);
}

}  // namespace tessera
