// Was this product computed right? Freivalds' check and a full check, both in FP64.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tessera/half.h"
#include "tessera/matrix.h"
#include "tessera/precision.h"

namespace tessera {

/// A matrix whose elements can be read as doubles, block by block: a view, or a file of any dtype.
struct MatrixSource {
  std::int64_t rows = 0, cols = 0;
  /// Writes elements (row..row+rows, col..col+cols) to out[i * ld_out + j], each widened exactly.
  /// Must be thread-safe. What it throws, verify throws.
  std::function<void(std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                     double* out, std::int64_t ld_out)>
      read;
};

/// A source over host memory, which must outlive it. Throws Error(kInvalidArgument) for a view of
/// device memory, a null one with elements, a negative size, or an ld below the length of a row
/// (column).
MatrixSource source_of(MatrixView<const float> view);
MatrixSource source_of(MatrixView<const double> view);
MatrixSource source_of(MatrixView<const BFloat16> view);
MatrixSource source_of(MatrixView<const Float16> view);

/// The product to check: C == alpha * op(A) * op(B) + beta * C0, as computed with `precision`.
///
/// With kFp32 the scalars and the elements of A, B and C0 are rounded to binary32 first, as a
/// product of that precision sees them; for f32 and narrower elements this changes nothing.
struct VerifyProblem {
  Op op_a = Op::kN, op_b = Op::kN;
  double alpha = 1, beta = 0;
  MatrixSource a, b;  ///< not read when alpha == 0 or k == 0: then `read` may be empty
  MatrixSource c0;    ///< C before the product; neither shape nor elements matter when beta == 0
  MatrixSource c;     ///< C after it
  /// Arithmetic the product was computed in, kFp32 or kFp64.
  Precision precision = Precision::kFp32;
  /// Element type that C was rounded to (to nearest) when it was stored: a floating-point one.
  DType c_dtype = DType::kF32;
};

enum class VerifyMethod : std::uint8_t {
  kFreivalds,  ///< random signs; full instead when m, n or k is at most 16, where it costs no more
  kFull,       ///< every element
};

struct VerifyOptions {
  VerifyMethod method = VerifyMethod::kFreivalds;
  /// Random sign vectors, 1 to 60; the chance to miss a wrong element is at most 2^-rounds.
  int rounds = 20;
  std::uint64_t seed = 0x7E55E2A;
  int threads = 0;  ///< >= 0, as GemmOptions::threads; the report does not depend on it
  /// Called with the fraction done, from the calling thread; returning false stops with
  /// Error(kCancelled).
  std::function<bool(double)> progress;
};

/// What the check found. passed is written positively: NaN never passes where it is not the right
/// value.
struct VerifyReport {
  bool passed = false;
  VerifyMethod method = VerifyMethod::kFreivalds;  ///< the one used
  int rounds = 0;                                  ///< sign vectors used; 0 for kFull
  /// The largest of |residual| / threshold over the rows that the signs passed, and of
  /// |error| / bound over the elements that were recomputed; infinite when a NaN or an infinity is
  /// wrong. At most 1 exactly when the product passed.
  double worst_ratio = 0;
  /// An error of one element above this is found: with kFreivalds with probability at least
  /// 1 - 2^-rounds, with kFull for certain. The largest, over rows, of threshold and bound; for
  /// elements whose exact value is finite. When the product failed it covers what was looked at.
  double detectable_error = 0;
  std::int64_t rows_rechecked = 0;  ///< rows of which elements were recomputed one by one
  // The first wrong element found, when !passed; row is -1 when it passed.
  std::int64_t row = -1, col = -1;
  double expected = 0, got = 0, bound = 0;

  /// One line for people.
  std::string to_string() const;
};

/// Checks a product.
///
/// Freivalds (R. Freivalds, 1977), made safe for rounded arithmetic. For each of `rounds` vectors x
/// of random signs it forms r = C x - alpha op(A) (op(B) x) - beta C0 x in FP64, at
/// O(mn + mk + kn) cost. Rows whose |r_i| passes a threshold, and rows or columns that hold NaN or
/// infinity, are recomputed in FP64 and compared element by element against the bound of rounding
/// error analysis
///
///   |c - c_exact| <= g * (|alpha| |A||B| + |beta C0|)_ij + storage + underflow,
///   g = (1 + u)^(k+3) - 1,
///
/// so a right product never fails, in whatever order its sums were formed. If an element is wrong
/// by more than detectable_error, the product passes with probability at most 2^-rounds, whatever
/// the other errors are (docs/verify.md has the argument).
///
/// Where the exact value is NaN or infinite, C must be the same; where only the product's own
/// arithmetic, or the type it is stored in, can overflow, the infinity or NaN that this gives is
/// accepted. m == 0 or n == 0 passes.
///
/// Memory: at 20 rounds about 200 bytes for each of k (of m when k is above both m and 65536), 64
/// for each of m, 16 for each of n, up to 16 MiB for column sums, and 1 MiB for each of at most 64
/// threads.
/// Throws Error(kInvalidArgument) for shapes that disagree, a precision or c_dtype that is not one
/// of those above, rounds or threads out of range, a missing read function; kCancelled when
/// progress stopped it; kOutOfMemory; and what a read function throws.
VerifyReport verify(const VerifyProblem& problem, const VerifyOptions& options = {});

}  // namespace tessera
