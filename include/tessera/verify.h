// Was this product computed right? Freivalds' check and a full check, both in FP64.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tessera/matrix.h"
#include "tessera/precision.h"

namespace tessera {

/// A matrix whose elements can be read as doubles, block by block: a view, or a file of any dtype.
struct MatrixSource {
  std::int64_t rows = 0, cols = 0;
  /// Writes elements (row..row+rows, col..col+cols) to out[i * ld_out + j]. Must be thread-safe.
  std::function<void(std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                     double* out, std::int64_t ld_out)>
      read;
};

/// A source over host memory; the view must outlive it.
MatrixSource source_of(MatrixView<const float> view);
MatrixSource source_of(MatrixView<const double> view);

/// The product to check: C == alpha * op(A) * op(B) + beta * C0, as computed with `precision`.
struct VerifyProblem {
  Op op_a = Op::kN, op_b = Op::kN;
  double alpha = 1, beta = 0;
  MatrixSource a, b;
  MatrixSource c0;  ///< C before the product; read only when beta != 0
  MatrixSource c;   ///< C after it
  /// Arithmetic the product was computed in, kFp32 or kFp64.
  Precision precision = Precision::kFp32;
  /// Element type that C was rounded to when it was stored.
  DType c_dtype = DType::kF32;
};

enum class VerifyMethod : std::uint8_t { kFreivalds, kFull };

struct VerifyOptions {
  VerifyMethod method = VerifyMethod::kFreivalds;
  /// Random sign vectors; the chance to miss a wrong element is at most 2^-rounds.
  int rounds = 20;
  std::uint64_t seed = 0x7E55E2A;
  int threads = 0;  ///< as GemmOptions::threads
  /// Called with the fraction done, from the calling thread; returning false stops with an Error.
  std::function<bool(double)> progress;
};

/// What the check found. passed is written positively: NaN never passes.
struct VerifyReport {
  bool passed = false;
  VerifyMethod method = VerifyMethod::kFreivalds;
  int rounds = 0;
  /// Largest |residual| / threshold over rows and rounds (Freivalds), or |error| / bound (full).
  double worst_ratio = 0;
  /// Smallest element error that is certain to be within the promise, over all rows.
  double detectable_error = 0;
  std::int64_t rows_rechecked = 0;  ///< rows that were recomputed element by element
  // The first wrong element, when !passed; row is -1 when it passed.
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
///   |c - c_exact| <= g * (|alpha| |A||B| + |beta C0|)_ij + storage rounding,   g ~ (k + 3) u,
///
/// so a right product never fails. If an element is wrong by more than detectable_error and than
/// that bound, a row's residual stays under the threshold with probability at most 2^-rounds,
/// whatever the other errors are (docs/verify.md has the argument).
///
/// Throws Error(kInvalidArgument) when shapes disagree. Host memory only.
VerifyReport verify(const VerifyProblem& problem, const VerifyOptions& options = {});

}  // namespace tessera
