// What mul and verify share: the operands in files, their shapes, and the arithmetic they ask for.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli.h"
#include "io/tensor.h"
#include "tessera/precision.h"
#include "tessera/verify.h"

namespace tessera::cli {

/// C = alpha * op(A) * op(B) + beta * C0, as said on the command line.
struct ProductArgs {
  std::string a, b;
  bool trans_a = false, trans_b = false;
  double alpha = 1, beta = 0;
  std::string c0;         ///< --c; empty when absent
  std::string precision;  ///< "fp32", "fp64", or empty for the inputs' own
};

/// Adds A, B and the options above.
void add_product_options(CLI::App& app, ProductArgs& args);

/// The opened operands of a product whose shapes fit.
struct Inputs {
  Op op_a = Op::kN, op_b = Op::kN;
  double alpha = 1, beta = 0;  ///< as the arithmetic sees them: rounded to f32 for fp32
  io::FileMatrix a, b;
  std::optional<io::FileMatrix> c0;
  std::int64_t m = 0, n = 0, k = 0;
  Precision precision = Precision::kFp32;  ///< kFp32, kFp64, kBf16 or kFp16
  DType compute = DType::kF32;             ///< the element type of products and sums, and of C0
  DType input = DType::kF32;               ///< of A and B: bf16 or f16 where that is the precision
  std::vector<std::string> rounded;        ///< operands that lose bits on reading: "A", "B", "C0"

  double flops() const;
  /// FLOP per byte of A, B and C, each once, in the types multiplied and computed.
  double intensity() const;
};

/// Opens the files and checks shapes and precision. Throws Error in one line.
Inputs open_inputs(const ProductArgs& args);

/// The operand as the product sees it: rounded to `type`, the input or the compute type. With
/// `drop_pages`, pages are given back after each read, so that resident memory stays bounded.
MatrixSource source_for(const io::FileMatrix& m, DType type, bool drop_pages);

/// The check of `c` against these inputs. Inputs must outlive it.
VerifyProblem verify_problem(const Inputs& inputs, const io::FileMatrix& c, bool drop_pages);

VerifyOptions verify_options(const std::string& method, int rounds, std::uint64_t seed,
                             int threads);

/// "A, B rounded to bf16, C0 rounded to f32"; empty when nothing is.
std::string rounding_text(const Inputs& inputs);
/// "A * B^T", "2 * A * B + 0.5 * C0".
std::string operation_text(const Inputs& inputs);
Json operation_json(const Inputs& inputs);
Json matrix_json(const io::FileMatrix& m);
Json check_json(const VerifyReport& report, const VerifyOptions& options, double elapsed_s);
/// "1797 x 64  f32  row-major  x.npy"
std::string matrix_text(const io::FileMatrix& m);

}  // namespace tessera::cli
