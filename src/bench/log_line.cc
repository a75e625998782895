#include "bench/log_line.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "core/canonical.h"
#include "io/message.h"

namespace tessera::bench {
namespace {

using Json = nlohmann::json;
using std::int64_t;

[[noreturn]] void refuse(const std::string& rule) {
  throw Error(ErrorCode::kInvalidArgument, rule);
}

/// Short, printable text of a value that is refused.
std::string shown(const Json& value) {
  if (value.is_string()) return io::in_quotes(value.get_ref<const std::string&>());
  const std::string json = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return value.is_number() ? json : io::in_quotes(json);
}

const Json& field(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) refuse(fmt::format("the field \"{}\" is missing", name));
  return *found;
}

int64_t whole(const Json& object, const char* name) {
  const Json& value = field(object, name);
  const bool fits =
      value.is_number_integer() &&
      (!value.is_number_unsigned() ||
       value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<int64_t>::max()});
  if (!fits) refuse(fmt::format("{} = {}: must be a whole number below 2^63", name, shown(value)));
  return value.get<int64_t>();
}

const std::string& text(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_string()) refuse(fmt::format("{} = {}: must be a string", name, shown(value)));
  return value.get_ref<const std::string&>();
}

/// The log writes NaN and infinity, which JSON lacks, as strings.
double scalar(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (value.is_string()) {
    refuse(fmt::format("{} = {}: a product with a scalar that is not finite is not timed", name,
                       shown(value)));
  }
  if (!value.is_number()) refuse(fmt::format("{} = {}: must be a number", name, shown(value)));
  return value.get<double>();
}

Op op(const Json& object, const char* name) {
  const std::string& value = text(object, name);
  if (value != "N" && value != "T") {
    refuse(fmt::format("{} = {}: must be N or T", name, io::in_quotes(value)));
  }
  return value == "T" ? Op::kT : Op::kN;
}

OperandDesc operand(const Json& line, const char* name) {
  const Json& object = field(line, name);
  if (!object.is_object()) refuse(fmt::format("{} = {}: must be an object", name, shown(object)));
  OperandDesc x;
  x.rows = whole(object, "rows");
  x.cols = whole(object, "cols");
  x.ld = whole(object, "ld");
  const std::string& layout = text(object, "layout");
  if (layout != "row" && layout != "col") {
    refuse(fmt::format("layout of {} = {}: must be row or col", name, io::in_quotes(layout)));
  }
  x.layout = layout == "row" ? Layout::kRowMajor : Layout::kColMajor;
  x.batch_stride = whole(object, "batch_stride");
  x.alignment = 256;
  return x;
}

void check_sizes(const Case& c) {
  const OperandDesc& a = c.desc.a;
  const bool a_t = c.desc.op_a == Op::kT;
  const int64_t m = a_t ? a.cols : a.rows, k = a_t ? a.rows : a.cols;
  if (c.m != m || c.k != k || c.n != c.desc.c.cols) {
    refuse(fmt::format("m, n, k = {}, {}, {}, but op(A) is {} x {} and C has {} columns", c.m, c.n,
                       c.k, m, k, c.desc.c.cols));
  }
}

}  // namespace

void check_case(const Case& c) {
  check_sizes(c);
  canonicalise(c.desc, {});
  if (c.m == 0 || c.n == 0 || c.k == 0 || c.desc.batch == 0) {
    refuse(fmt::format("m, n, k = {}, {}, {}, batch = {}: nothing to time", c.m, c.n, c.k,
                       c.desc.batch));
  }
  if (c.alpha == 0) refuse("alpha = 0: nothing to time");
  if (!std::isfinite(c.alpha) || !std::isfinite(c.beta)) {
    refuse(
        fmt::format("alpha, beta = {}, {}: a product with a scalar that is not finite is not "
                    "timed",
                    c.alpha, c.beta));
  }
}

Case parse_log_line(std::string_view line) {
  const Json object = Json::parse(line.begin(), line.end(), nullptr, false);
  if (!object.is_object()) refuse("is no JSON object: must be a line that TESSERA_LOG=calls wrote");
  if (text(object, "tessera") != "gemm") {
    refuse(fmt::format("tessera = {}: must be \"gemm\"", shown(object["tessera"])));
  }
  Case c;
  c.desc.dtype = parse_dtype(text(object, "dtype"));
  if (object.contains("input")) c.desc.input = parse_dtype(text(object, "input"));
  c.desc.op_a = op(object, "op_a");
  c.desc.op_b = op(object, "op_b");
  c.m = whole(object, "m");
  c.n = whole(object, "n");
  c.k = whole(object, "k");
  c.desc.a = operand(object, "a");
  c.desc.b = operand(object, "b");
  c.desc.c = operand(object, "c");
  c.desc.batch = whole(object, "batch");
  if (c.desc.batch == 1) {  // a stride that is never used tells no calls apart
    c.desc.a.batch_stride = c.desc.b.batch_stride = c.desc.c.batch_stride = 0;
  }
  c.alpha = scalar(object, "alpha");
  c.beta = scalar(object, "beta");
  check_case(c);
  return c;
}

}  // namespace tessera::bench
