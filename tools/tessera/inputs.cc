#include "inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "args.h"
#include "bench/case.h"
#include "core/round.h"
#include "quantities.h"
#include "tessera/half.h"

namespace tessera::cli {
namespace {

/// Needs more than the 24 bits of an f32 mantissa.
bool wider_than_f32(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kI32:
    case DType::kU32:
    case DType::kI64:
    case DType::kU64:
      return true;
    default:
      return false;
  }
}

/// Some of its values are none of `type`.
bool loses_bits(DType dtype, DType type) {
  if (type == DType::kF64 || dtype == type) return false;  // 64-bit integers are said to be exact
  if (type == DType::kF32) return wider_than_f32(dtype);
  switch (dtype) {  // of 8 bits: each is a bf16 and an f16
    case DType::kF8E4M3:
    case DType::kF8E5M2:
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
      return false;
    default:
      return true;
  }
}

bool is_floating(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kF32:
    case DType::kF16:
    case DType::kBF16:
    case DType::kF8E4M3:
    case DType::kF8E5M2:
      return true;
    default:
      return false;
  }
}

Precision choose_precision(const ProductArgs& args, const Inputs& in) {
  if (args.precision.empty()) {
    const bool wide = wider_than_f32(in.a.dtype) || wider_than_f32(in.b.dtype) ||
                      (in.c0 && wider_than_f32(in.c0->dtype));
    return wide ? Precision::kFp64 : Precision::kFp32;
  }
  const Precision asked = parse_precision(args.precision);
  if (asked != Precision::kTf32 && asked != Precision::kFp32Tensor) return asked;
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("--precision {}: no kernel of this version computes in it; there are fp32, "
                  "fp64, bf16 and fp16",
                  args.precision));
}

std::string shape_text(const char* name, const io::FileMatrix& m, Op op) {
  return op == Op::kN ? fmt::format("{} is {} x {}", name, m.rows, m.cols)
                      : fmt::format("{}^T is {} x {}", name, m.cols, m.rows);
}

std::int64_t op_rows(const io::FileMatrix& m, Op op) { return op == Op::kN ? m.rows : m.cols; }
std::int64_t op_cols(const io::FileMatrix& m, Op op) { return op == Op::kN ? m.cols : m.rows; }

/// Which transposition would make the shapes fit, as an option to add or take away.
std::string fitting_change(const Inputs& in) {
  const auto word = [](Op op, const char* option) {
    return fmt::format("; {} {} they would fit", op == Op::kN ? "with" : "without", option);
  };
  if (op_cols(in.a, in.op_a) == op_cols(in.b, in.op_b)) return word(in.op_b, "--trans-b");
  if (op_rows(in.a, in.op_a) == op_rows(in.b, in.op_b)) return word(in.op_a, "--trans-a");
  return "";
}

void check_shapes(Inputs& in) {
  in.m = op_rows(in.a, in.op_a);
  in.k = op_cols(in.a, in.op_a);
  in.n = op_cols(in.b, in.op_b);
  if (in.k != op_rows(in.b, in.op_b)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} and {}: the columns of the first, {}, must equal the rows of the "
                            "second, {}{}",
                            shape_text("A", in.a, in.op_a), shape_text("B", in.b, in.op_b), in.k,
                            op_rows(in.b, in.op_b), fitting_change(in)));
  }
  if (in.c0 && (in.c0->rows != in.m || in.c0->cols != in.n)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--c {} is {} x {}; it must have the shape of the result, {} x {}",
                            in.c0->name, in.c0->rows, in.c0->cols, in.m, in.n));
  }
}

void note_rounding(Inputs& in) {
  if (loses_bits(in.a.dtype, in.input)) in.rounded.push_back("A");
  if (loses_bits(in.b.dtype, in.input)) in.rounded.push_back("B");
  if (in.c0 && loses_bits(in.c0->dtype, in.compute)) in.rounded.push_back("C0");
}

DType input_type(Precision precision, DType compute) {
  if (precision == Precision::kBf16) return DType::kBF16;
  if (precision == Precision::kFp16) return DType::kF16;
  return compute;
}

/// One rounding, from the file's type to T, exactly as the product reads it; by way of f64 a 64-bit
/// integer would be rounded twice.
template <class T>
void read_rounded(const io::FileMatrix& m, std::int64_t row, std::int64_t col, std::int64_t rows,
                  std::int64_t cols, double* out, std::int64_t ld_out) {
  std::vector<T> line(static_cast<std::size_t>(cols));
  for (std::int64_t i = 0; i < rows; ++i) {
    io::read_block<T>(m, row + i, col, 1, cols, line.data(), cols);
    std::copy(line.begin(), line.end(), out + i * ld_out);
  }
}

std::string number_text(double value) { return fmt::format("{}", value); }

/// A factor as the arithmetic sees it.
double scalar(const char* option, double value, DType compute) {
  if (compute == DType::kF64) return value;
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::isfinite(value) && std::fabs(value) > kLargest) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} {} is outside the range of fp32, {}; use --precision fp64", option,
                            number_text(value), number_text(kLargest)));
  }
  return round_to_f32(value);
}

}  // namespace

void add_product_options(CLI::App& app, ProductArgs& args) {
  add_file(app, "A", args.a, "matrix file: X.npy, X.safetensors or X.safetensors:TENSOR")
      ->required();
  add_file(app, "B", args.b, "matrix file")->required();
  app.add_flag("--trans-a", args.trans_a, "use the transpose of A");
  app.add_flag("--trans-b", args.trans_b, "use the transpose of B");
  add_number(app, "--alpha", args.alpha, "factor of the product (default 1; nan and inf allowed)");
  add_number(app, "--beta", args.beta, "factor of C0 (default 0: C0 is not read); needs --c");
  add_file(app, "--c", args.c0, "C0, the matrix that beta multiplies");
  app.add_option("--precision", args.precision,
                 "arithmetic (default: fp64 when an input is f64 or an integer of 32 bits or more, "
                 "else fp32); bf16 and fp16: A and B rounded to that type, fp32 products and sums")
      ->check(CLI::IsMember(
          std::vector<std::string>{"fp32", "fp64", "tf32", "bf16", "fp16", "fp32-tensor"}));
}

double Inputs::flops() const {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

double Inputs::intensity() const {
  const auto size = [](DType type) { return static_cast<double>(size_of(type)); };
  const double read = static_cast<double>(m) * static_cast<double>(k) +
                      static_cast<double>(k) * static_cast<double>(n);
  const double written = static_cast<double>(m) * static_cast<double>(n);
  const double bytes = read * size(input) + written * size(compute);
  return bytes > 0 ? flops() / bytes : 0;
}

Inputs open_inputs(const ProductArgs& args) {
  // Not `beta == 0`: a NaN factor needs C0 as well.
  const bool needs_c0 = !(args.beta == 0);
  if (needs_c0 && args.c0.empty()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("--beta {} needs --c FILE, the matrix it multiplies", number_text(args.beta)));
  }
  Inputs in;
  in.op_a = op_of(args.trans_a);
  in.op_b = op_of(args.trans_b);
  in.a = io::open_matrix(args.a);
  in.b = io::open_matrix(args.b);
  if (!args.c0.empty()) in.c0 = io::open_matrix(args.c0);
  check_shapes(in);
  in.precision = choose_precision(args, in);
  in.compute = in.precision == Precision::kFp64 ? DType::kF64 : DType::kF32;
  in.input = input_type(in.precision, in.compute);
  // The product uses the scalars in its own type, and so must the check.
  in.alpha = scalar("--alpha", args.alpha, in.compute);
  in.beta = scalar("--beta", args.beta, in.compute);
  note_rounding(in);
  return in;
}

MatrixSource source_for(const io::FileMatrix& m, DType type, bool drop_pages) {
  MatrixSource plain = io::source_of(m);
  const bool rounds = loses_bits(m.dtype, type);
  if (!rounds && !drop_pages) return plain;
  auto read = !rounds                ? plain.read
              : type == DType::kBF16 ? std::bind_front(read_rounded<BFloat16>, m)
              : type == DType::kF16  ? std::bind_front(read_rounded<Float16>, m)
                                     : std::bind_front(read_rounded<float>, m);
  if (!drop_pages) return {plain.rows, plain.cols, read};
  return {plain.rows, plain.cols,
          [m, read](std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols,
                    double* out, std::int64_t ld_out) {
            read(row, col, rows, cols, out, ld_out);
            const bool by_rows = m.layout == Layout::kRowMajor;
            io::release_pages(m, by_rows ? row : col, by_rows ? rows : cols);
          }};
}

VerifyProblem verify_problem(const Inputs& in, const io::FileMatrix& c, bool drop_pages) {
  VerifyProblem problem;
  problem.op_a = in.op_a;
  problem.op_b = in.op_b;
  problem.alpha = in.alpha;
  problem.beta = in.beta;
  problem.a = source_for(in.a, in.input, drop_pages);
  problem.b = source_for(in.b, in.input, drop_pages);
  if (in.c0) problem.c0 = source_for(*in.c0, in.compute, drop_pages);
  // C is never rounded on reading: what stands in the file is what is judged.
  problem.c = source_for(c, DType::kF64, drop_pages);
  // Rounded to 16 bits, A and B are f32 numbers like others.
  problem.precision = in.compute == DType::kF64 ? Precision::kFp64 : Precision::kFp32;
  // An integer in the file is what it says: nothing was rounded to its type.
  problem.c_dtype = is_floating(c.dtype) ? c.dtype : DType::kF64;
  return problem;
}

VerifyOptions verify_options(const std::string& method, int rounds, std::uint64_t seed,
                             int threads) {
  VerifyOptions options;
  options.method = method == "full" ? VerifyMethod::kFull : VerifyMethod::kFreivalds;
  options.rounds = rounds;
  options.seed = seed;
  options.threads = threads;
  return options;
}

std::string rounding_text(const Inputs& in) {
  std::vector<std::string> inputs, parts;
  bool c0 = false;
  for (const std::string& name : in.rounded) {
    if (name == "C0") {
      c0 = true;
    } else {
      inputs.push_back(name);
    }
  }
  if (c0 && in.input == in.compute) {
    inputs.emplace_back("C0");
    c0 = false;
  }
  if (!inputs.empty()) {
    parts.push_back(fmt::format("{} rounded to {}", fmt::join(inputs, ", "), to_string(in.input)));
  }
  if (c0) parts.push_back(fmt::format("C0 rounded to {}", to_string(in.compute)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string operation_text(const Inputs& in) {
  std::string text;
  if (in.alpha != 1) text += number_text(in.alpha) + " * ";
  text += fmt::format("A{} * B{}", in.op_a == Op::kT ? "^T" : "", in.op_b == Op::kT ? "^T" : "");
  if (!(in.beta == 0)) {
    text += " + " + (in.beta == 1 ? std::string() : number_text(in.beta) + " * ") + "C0";
  }
  return text;
}

Json operation_json(const Inputs& in) {
  Json json;
  json["text"] = "C = " + operation_text(in);
  json["op_a"] = std::string(1, bench::letter(in.op_a));
  json["op_b"] = std::string(1, bench::letter(in.op_b));
  json["alpha"] = json_number(in.alpha);
  json["beta"] = json_number(in.beta);
  json["m"] = in.m;
  json["n"] = in.n;
  json["k"] = in.k;
  json["precision"] = to_string(in.precision);
  json["compute_dtype"] = to_string(in.compute);
  json["input_dtype"] = to_string(in.input);
  json["rounded_on_reading"] = in.rounded;
  return json;
}

Json matrix_json(const io::FileMatrix& m) {
  return Json{{"file", m.name},
              {"dtype", to_string(m.dtype)},
              {"rows", m.rows},
              {"cols", m.cols},
              {"shape", m.shape},
              {"layout", layout_name(m.layout)},
              {"big_endian", m.big_endian}};
}

Json check_json(const VerifyReport& report, const VerifyOptions& options, double elapsed_s) {
  const bool freivalds = report.method == VerifyMethod::kFreivalds;
  Json json;
  json["method"] = freivalds ? "freivalds" : "full";
  json["passed"] = report.passed;
  if (freivalds) {
    json["rounds"] = report.rounds;
    json["seed"] = options.seed;
    json["detectable_error"] = json_number(report.detectable_error);
    json["rows_rechecked"] = report.rows_rechecked;
  }
  json["worst_ratio"] = json_number(report.worst_ratio);
  if (!report.passed) {
    json["row"] = report.row;
    json["col"] = report.col;
    json["expected"] = json_number(report.expected);
    json["got"] = json_number(report.got);
    json["bound"] = json_number(report.bound);
  }
  json["elapsed_s"] = elapsed_s;
  json["text"] = report.to_string();
  return json;
}

std::string matrix_text(const io::FileMatrix& m) {
  return fmt::format("{:<14} {:<8} {:<13} {}", fmt::format("{} x {}", m.rows, m.cols),
                     to_string(m.dtype), layout_name(m.layout), printable(m.name));
}

}  // namespace tessera::cli
