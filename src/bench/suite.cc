#include "bench/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "bench/log_line.h"
#include "bench/text_file.h"
#include "io/message.h"

namespace tessera::bench {
namespace {

using std::int64_t;

constexpr int64_t kMostSize = int64_t{1} << 31;

enum Column { kM, kN, kK, kOpA, kOpB, kCount, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"m", "n", "k", "opa", "opb", "count"};
constexpr std::array<std::string_view, kColumns> kShown = {"M", "N", "K", "opA", "opB", "count"};

[[noreturn]] void refuse(const std::string& rule) {
  throw Error(ErrorCode::kInvalidArgument, rule);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    fields.push_back(trimmed(line.substr(begin, end - begin)));
    begin = end + 1;
  }
  return fields;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// Which column each field of a line is.
std::vector<Column> parse_header(std::string_view line) {
  std::vector<Column> columns;
  for (const std::string_view name : split(line)) {
    const auto found = std::find(kNames.begin(), kNames.end(), lower(name));
    if (found == kNames.end()) {
      refuse(
          fmt::format("column {}: the first line must name the columns M,N,K[,opA,opB[,count]], "
                      "or be a line that TESSERA_LOG=calls wrote",
                      io::in_quotes(name)));
    }
    const auto column = static_cast<Column>(found - kNames.begin());
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) {
      refuse(fmt::format("column {} is there twice", kShown[column]));
    }
    columns.push_back(column);
  }
  for (const Column needed : {kM, kN, kK}) {
    if (std::find(columns.begin(), columns.end(), needed) == columns.end()) {
      refuse(fmt::format("column {} is missing: the header must name M, N and K", kShown[needed]));
    }
  }
  return columns;
}

int64_t parse_size(Column column, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool ok =
      error == std::errc{} && end == text.data() + text.size() && value >= 1 && value <= kMostSize;
  if (!ok) {
    refuse(fmt::format("{} = {}: must be a whole number from 1 to 2147483648", kShown[column],
                       io::in_quotes(text)));
  }
  return value;
}

Op parse_op(Column column, std::string_view text) {
  if (text == "N" || text == "n") return Op::kN;
  if (text == "T" || text == "t") return Op::kT;
  refuse(fmt::format("{} = {}: must be N or T", kShown[column], io::in_quotes(text)));
}

Case parse_row(const std::vector<Column>& columns, std::string_view line, DType dtype) {
  const std::vector<std::string_view> fields = split(line);
  if (fields.size() != columns.size()) {
    refuse(
        fmt::format("has {} fields: must have {} like the header", fields.size(), columns.size()));
  }
  std::array<int64_t, kColumns> sizes{};
  sizes[kCount] = 1;
  Op op_a = Op::kN, op_b = Op::kN;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (columns[i] == kOpA) {
      op_a = parse_op(kOpA, fields[i]);
    } else if (columns[i] == kOpB) {
      op_b = parse_op(kOpB, fields[i]);
    } else {
      sizes[columns[i]] = parse_size(columns[i], fields[i]);
    }
  }
  Case c = dense_case(op_a, op_b, sizes[kM], sizes[kN], sizes[kK], dtype);
  c.calls = sizes[kCount];
  check_case(c);
  return c;
}

auto key(const OperandDesc& x) {
  return std::make_tuple(x.rows, x.cols, x.ld, x.layout, x.batch_stride);
}

/// Equal for calls that do the same work; scalars are finite.
auto key(const Case& c) {
  return std::make_tuple(c.desc.dtype, c.desc.input_dtype(), c.desc.op_a, c.desc.op_b,
                         key(c.desc.a), key(c.desc.b), key(c.desc.c), c.desc.batch, c.alpha,
                         c.beta);
}

class Reader {
 public:
  Reader(const std::string& path, DType dtype) : path_(path), dtype_(dtype), file_(path) {
    suite_.name = std::filesystem::path(path).stem().string();
  }

  Suite read() {
    std::string line;
    while (file_.next(line)) {
      const std::string_view content = trimmed(line);
      if (content.empty() || content.front() == '#') continue;
      if (!is_log_ && columns_.empty() && !begin(content)) continue;
      try {
        if (file_.too_long()) {
          refuse(fmt::format("must be at most {} characters long", TextFile::kMostLine));
        }
        if (is_log_) {
          add_call(parse_log_line(content));
        } else {
          add(parse_row(columns_, content, dtype_));
        }
      } catch (const Error& e) {
        add_fault(content, e.what());
      }
    }
    finish();
    return std::move(suite_);
  }

 private:
  /// Takes the first line that counts; true when it is a case as well.
  bool begin(std::string_view line) {
    is_log_ = line.front() == '{';
    if (is_log_) return true;
    try {
      columns_ = parse_header(line);
    } catch (const Error& e) {
      io::bad_file(path_, fmt::format("line {}: {}", file_.line_number(), e.what()));
    }
    return false;
  }

  void add(Case c) {
    c.suite = suite_.name;
    suite_.cases.push_back(std::move(c));
  }

  void add_call(Case c) {
    const auto [known, is_new] = seen_.try_emplace(key(c), suite_.cases.size());
    if (is_new) {
      add(std::move(c));
    } else {
      ++suite_.cases[known->second].calls;
    }
  }

  void add_fault(std::string_view line, std::string rule) {
    constexpr std::size_t kMostFaults = 50;
    if (suite_.faults.size() >= kMostFaults) {
      ++further_faults_;
      return;
    }
    constexpr std::string_view kPrefix = "gemm: ";  // the library's, whose call this is not
    if (rule.compare(0, kPrefix.size(), kPrefix) == 0) rule.erase(0, kPrefix.size());
    suite_.faults.push_back(
        fmt::format("{}:{}: {}: {}", file_name(), file_.line_number(), io::in_quotes(line), rule));
  }

  void finish() {
    if (suite_.cases.empty()) {
      io::bad_file(
          path_, suite_.faults.empty()
                     ? "holds no case: must have a header and at least one line, or log "
                       "lines"
                     : fmt::format("holds no case that can be timed; {} faults, the "
                                   "first: {}",
                                   suite_.faults.size() + further_faults_, suite_.faults.front()));
    }
    if (further_faults_ > 0) {
      suite_.faults.push_back(
          fmt::format("{}: {} more lines could not be read", file_name(), further_faults_));
    }
  }

  std::string file_name() const { return std::filesystem::path(path_).filename().string(); }

  std::string path_;
  DType dtype_;
  TextFile file_;
  Suite suite_;
  bool is_log_ = false;
  std::vector<Column> columns_;
  std::map<decltype(key(Case{})), std::size_t> seen_;
  std::size_t further_faults_ = 0;
};

}  // namespace

Suite read_suite(const std::string& path, DType dtype) { return Reader(path, dtype).read(); }

}  // namespace tessera::bench
