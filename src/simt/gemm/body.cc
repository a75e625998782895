#include "simt/gemm/body.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "simt/gemm/tokens.h"

namespace tessera::simt {
namespace {

using Words = std::vector<std::string>;

std::string join(const Words& words, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) out += (out.empty() ? "" : " ") + words[i];
  return out;
}

/// One pass over the tokens of a body.
class Reader {
 public:
  Reader(const std::string& body, const BodyNames& names) : w_(tokens(body)), names_(names) {}

  BodyFacts read() {
    facts_.known = !w_.empty();
    for (std::size_t i = 0; i + 2 < w_.size(); ++i) {
      if (w_[i] != "blockIdx" || w_[i + 1] != ".") continue;
      facts_.uses_block_x = facts_.uses_block_x || w_[i + 2] == "x";
      facts_.uses_block_y = facts_.uses_block_y || w_[i + 2] == "y";
    }
    // Twice, because a loop may use what is assigned further down.
    trace();
    trace();
    read_indices();
    read_guards();
    read_names();
    read_constants();
    read_shared();
    return facts_;
  }

 private:
  static constexpr unsigned kX = 1, kY = 2;

  std::string at(std::size_t i) const { return i < w_.size() ? w_[i] : ""; }

  /// Which of blockIdx.x and .y the tokens [begin, end) depend on.
  unsigned origin(std::size_t begin, std::size_t end) const {
    unsigned out = 0;
    for (std::size_t i = begin; i < end && i < w_.size(); ++i) {
      if (w_[i] == "blockIdx" && at(i + 1) == ".") {
        out |= at(i + 2) == "x" ? kX : at(i + 2) == "y" ? kY : 0;
      }
      const auto found = origins_.find(w_[i]);
      if (found != origins_.end()) out |= found->second;
    }
    return out;
  }

  std::size_t statement_end(std::size_t i) const {
    int depth = 0;
    for (; i < w_.size(); ++i) {
      const std::string& t = w_[i];
      if (t == "(" || t == "[" || t == "{") ++depth;
      if (t == ")" || t == "]" || t == "}") --depth;
      if (depth < 0 || t == ";" || (depth == 0 && t == ",")) break;
    }
    return i;
  }

  void trace() {
    for (std::size_t i = 0; i + 1 < w_.size(); ++i) {
      // Pointers that move with the block are read by their index instead.
      if (!is_identifier(w_[i]) || w_[i] == names_.a || w_[i] == names_.b || w_[i] == names_.c) {
        continue;
      }
      if (w_[i + 1] == "=" || w_[i + 1] == "(") {
        // "int row(blockIdx.y)" declares too; a call's name gets an origin that nothing reads.
        const bool call = w_[i + 1] == "(";
        if (call && (i == 0 || !is_identifier(w_[i - 1]))) continue;
        const std::size_t end = call ? closing(w_, i + 1) : statement_end(i + 2);
        origins_[w_[i]] |= origin(i + 2, end);
      }
    }
  }

  bool is_pitch(const std::string& t) const {
    return !t.empty() && (t == names_.n || t == names_.ldc || t == names_.k || t == names_.m);
  }

  /// The terms of a sum at [begin, end), brackets around the whole taken off.
  std::vector<std::pair<std::size_t, std::size_t>> terms(std::size_t begin, std::size_t end) const {
    std::vector<std::pair<std::size_t, std::size_t>> out;
    int depth = 0;
    std::size_t from = begin;
    for (std::size_t i = begin; i < end; ++i) {
      const std::string& t = w_[i];
      if (t == "(" || t == "[") ++depth;
      if (t == ")" || t == "]") --depth;
      if (depth == 0 && t == "+") {
        out.emplace_back(from, i);
        from = i + 1;
      }
    }
    out.emplace_back(from, end);
    return out;
  }

  /// The size that a term multiplies by at its top level, or empty.
  std::string pitch_of(std::size_t begin, std::size_t end) const {
    int depth = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (w_[i] == "(" || w_[i] == "[") ++depth;
      if (w_[i] == ")" || w_[i] == "]") --depth;
      const bool factor = (i > begin && w_[i - 1] == "*") || (i + 1 < end && w_[i + 1] == "*");
      if (depth == 0 && factor && is_pitch(w_[i])) return w_[i];
    }
    return "";
  }

  /// Looks at one index expression of C or an offset added to C; returns the pitch.
  std::string read_offset(std::size_t begin, std::size_t end, bool is_c) {
    std::string pitch;
    unsigned rows = 0, columns = 0;
    for (const auto& [from, to] : terms(begin, end)) {
      const std::string factor = pitch_of(from, to);
      (factor.empty() ? columns : rows) |= origin(from, to);
      if (!factor.empty()) pitch = factor;
    }
    if (names_.column_major) std::swap(rows, columns);
    if (is_c && !pitch.empty() && !facts_.x_is_row) {
      if (rows == kX && columns != kX) facts_.x_is_row = true;
      if (rows == kY || (columns == kX && rows == 0)) facts_.x_is_row = false;
    }
    return pitch;
  }

  void read_indices() {
    bool stores = false, adds = false, c_by_k = false, a_by_n = false;
    for (std::size_t i = 0; i + 1 < w_.size(); ++i) {
      const bool is_c = w_[i] == names_.c;
      if (is_c && (w_[i + 1] == "+=" || (w_[i + 1] == "=" && at(i + 2) == names_.c))) {
        read_offset(i + 2, statement_end(i + 2), true);
      }
      if ((!is_c && w_[i] != names_.a) || w_[i + 1] != "[") continue;
      const std::size_t close = closing(w_, i + 1);
      const std::string pitch = read_offset(i + 2, close, is_c);
      if (!pitch.empty() && pitch == names_.k && is_c) c_by_k = true;
      if (!pitch.empty() && pitch == names_.n && !is_c) a_by_n = true;
      if (!is_c) continue;
      stores = stores || at(close + 1) == "=";
      adds = adds || at(close + 1) == "+=" || is_atomic_add(i);
    }
    facts_.inner_is_n = !names_.column_major && names_.n != names_.k && c_by_k && a_by_n;
    facts_.adds_to_c = adds && !stores;
  }

  bool is_atomic_add(std::size_t i) const {
    return i >= 3 && w_[i - 1] == "&" && w_[i - 2] == "(" && w_[i - 3] == "atomicAdd";
  }

  /// Where the operand that ends before `i` begins.
  std::size_t operand_begin(std::size_t i) const {
    int depth = 0;
    while (i > 0) {
      const std::string& t = w_[i - 1];
      if (t == ")" || t == "]") ++depth;
      if (t == "(" || t == "[") --depth;
      const bool stop = t == "&&" || t == "||" || t == "," || t == ";" || t == "{" || t == "}";
      if (depth < 0 || (depth == 0 && stop)) break;
      --i;
    }
    return i;
  }

  /// "row < M" says what row runs over.
  void read_guards() {
    const bool square = names_.m == names_.n;
    for (std::size_t i = 1; i + 1 < w_.size(); ++i) {
      if (w_[i] != "<" && w_[i] != ">=") continue;
      const std::string& bound = w_[i + 1];
      const std::string& next = at(i + 2);
      const bool alone = next == ")" || next == "&&" || next == "||" || next == ";" || next == "?";
      if (!alone || bound.empty() || (bound != names_.m && bound != names_.n)) continue;
      const unsigned from = origin(operand_begin(i), i);
      if (from != kX && from != kY) continue;
      if (!square && !facts_.x_is_row) facts_.x_is_row = (bound == names_.m) == (from == kX);
      if (!square && from == kX && facts_.linear_over.empty()) {
        facts_.linear_over = bound == names_.m ? "M" : "N";
      }
    }
  }

  /// A variable called row that comes from blockIdx.x.
  void read_names() {
    if (facts_.x_is_row) return;
    for (const auto& [name, from] : origins_) {
      std::string lower;
      for (char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const bool row = lower.find("row") != std::string::npos;
      const bool column = lower.find("col") != std::string::npos;
      if (row == column || (from != kX && from != kY)) continue;
      facts_.x_is_row = row == (from == kX);
      if (!facts_.uses_block_y) facts_.linear_over = row ? "M" : "N";
      return;
    }
  }

  /// "const int TILE = 16;"
  void read_constants() {
    for (std::size_t i = 2; i + 1 < w_.size(); ++i) {
      if (w_[i] != "=" || !is_identifier(w_[i - 1]) || !is_identifier(w_[i - 2])) continue;
      bool is_const = false;
      for (std::size_t j = i - 1; j-- > 0 && is_identifier(w_[j]);) {
        is_const = is_const || w_[j] == "const" || w_[j] == "constexpr";
      }
      if (!is_const) continue;
      facts_.constants.push_back({w_[i - 1], join(w_, i + 1, statement_end(i + 1))});
    }
  }

  void read_shared() {
    for (std::size_t i = 0; i < w_.size(); ++i) {
      if (w_[i] != "__shared__") continue;
      if ((i > 0 && w_[i - 1] == "extern") || at(i + 1) == "extern") {
        facts_.uses_dynamic_shared = true;
      }
      for (std::size_t j = i; j < w_.size() && w_[j] != ";" && facts_.extents.empty(); ++j) {
        if (w_[j] != "[") continue;
        const std::size_t close = closing(w_, j);
        if (at(close + 1) != "[") continue;
        const std::size_t end = closing(w_, close + 1);
        if (at(end + 1) == "[") break;
        facts_.extents = {join(w_, j + 1, close), join(w_, close + 2, end)};
      }
    }
  }

  Words w_;
  BodyNames names_;
  std::map<std::string, unsigned> origins_;
  BodyFacts facts_;
};

}  // namespace

BodyFacts read_body(const std::string& body, const BodyNames& names) {
  return Reader(body, names).read();
}

}  // namespace tessera::simt
