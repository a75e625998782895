#include "simt/gemm/body.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
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
    facts_.is_bare_x = facts_.uses_block_x && is_bare("x");
    facts_.is_bare_y = facts_.uses_block_y && is_bare("y");
    facts_.is_per_warp = is_per_warp();
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

  /// The names that stand for blockIdx.x (or .y) itself.
  std::set<std::string> aliases(const std::string& axis) const {
    std::set<std::string> out;
    for (std::size_t i = 0; i + 2 < w_.size(); ++i) {
      if (!is_identifier(w_[i]) || w_[i + 1] != "=") continue;
      const std::size_t end = statement_end(i + 2);
      const bool is_block = end == i + 5 && w_[i + 2] == "blockIdx" && w_[i + 4] == axis;
      if (is_block || (end == i + 3 && out.count(w_[i + 2]) != 0)) out.insert(w_[i]);
    }
    return out;
  }

  /// blockIdx.x (or .y) multiplied or divided by nothing but sizes, and given to no function.
  bool is_bare(const std::string& axis) {
    const std::set<std::string> names = aliases(axis);
    for (std::size_t i = 0; i < w_.size(); ++i) {
      const bool is_block = w_[i] == "blockIdx" && at(i + 1) == "." && at(i + 2) == axis;
      if (!is_block && names.count(w_[i]) == 0) continue;
      const std::size_t last = is_block ? i + 2 : i;
      const std::string before = i > 0 ? w_[i - 1] : "", after = at(last + 1);
      if (after == "=") continue;
      if (after == ")" && (before == "(" || before == ",")) return false;
      if (after == "," && (before == "(" || before == ",")) return false;
      if (!is_scaled_by_sizes(i, last)) return false;
      if (axis == "x" && (after == "/" || after == "%")) facts_.divides_x = true;
    }
    return true;
  }

  bool is_scaled_by_sizes(std::size_t first, std::size_t last) const {
    const auto is_sign = [](const std::string& t) {
      return t == "*" || t == "/" || t == "%" || t == "<<" || t == ">>";
    };
    for (std::size_t i = last + 1; is_sign(at(i)); i += 2) {
      if (at(i)[0] == '<' || at(i)[0] == '>' || !is_pitch(at(i + 1))) return false;
    }
    for (std::size_t i = first; i >= 2 && is_sign(w_[i - 1]); i -= 2) {
      if (w_[i - 1] != "*" || !is_pitch(w_[i - 2])) return false;
    }
    // (blockIdx.x + 1) * TILE
    int depth = 0;
    for (std::size_t i = last + 1; i < w_.size() && w_[i] != ";"; ++i) {
      if (w_[i] == "(" || w_[i] == "[") ++depth;
      if (w_[i] != ")" && w_[i] != "]") continue;
      if (--depth < 0) return !is_sign(at(i + 1)) || is_pitch(at(i + 2));
    }
    return true;
  }

  /// "(blockIdx.x * blockDim.x + threadIdx.x) / 32" or "blockIdx.x * (blockDim.x / 32)".
  bool is_per_warp() const {
    for (std::size_t i = 2; i + 1 < w_.size(); ++i) {
      const bool divides =
          (w_[i] == "/" && (w_[i + 1] == "32" || w_[i + 1] == "warpSize" ||
                            w_[i + 1] == "WARP_SIZE" || w_[i + 1] == "WARPSIZE")) ||
          (w_[i] == ">>" && w_[i + 1] == "5");
      if (!divides) continue;
      if (w_[i - 1] == "x" && w_[i - 2] == "." && i >= 3 && w_[i - 3] == "blockDim") return true;
      std::size_t begin = i - 1;
      if (w_[begin] == ")") {
        int depth = 0;
        for (;; --begin) {
          if (w_[begin] == ")") ++depth;
          if (w_[begin] == "(" && --depth == 0) break;
          if (begin == 0) return false;
        }
      }
      if ((origin(begin, i) & kX) != 0) return true;
    }
    return false;
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
    std::set<std::string> over;
    for (std::size_t i = 1; i + 1 < w_.size(); ++i) {
      if (w_[i] != "<" && w_[i] != ">=") continue;
      const std::string& bound = w_[i + 1];
      const std::string& next = at(i + 2);
      const bool alone = next == ")" || next == "&&" || next == "||" || next == ";" || next == "?";
      if (!alone || bound.empty() || (bound != names_.m && bound != names_.n)) continue;
      const unsigned from = origin(operand_begin(i), i);
      if (from != kX && from != kY) continue;
      if (!square && !facts_.x_is_row) facts_.x_is_row = (bound == names_.m) == (from == kX);
      if (!square && from == kX) over.insert(bound == names_.m ? "M" : "N");
    }
    // An index that is divided into row and column runs over both.
    if (over.size() == 1) facts_.linear_over = *over.begin();
    facts_.divides_x = facts_.divides_x || over.size() == 2;
  }

  /// A variable called row that comes from blockIdx.x.
  void read_names() {
    if (facts_.x_is_row) return;
    unsigned rows = 0, columns = 0;
    for (const auto& [name, from] : origins_) {
      std::string lower;
      for (char c : name) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const bool row = lower.find("row") != std::string::npos;
      const bool column = lower.find("col") != std::string::npos;
      if (row != column && (from == kX || from == kY)) (row ? rows : columns) |= from;
    }
    if ((rows | columns) == 0 || rows == columns || rows == (kX | kY)) return;
    facts_.x_is_row = rows != 0 ? rows == kX : columns == kY;
    if (!facts_.uses_block_y) facts_.linear_over = rows != 0 ? "M" : "N";
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
        if (at(close + 1) != "[") {
          if (facts_.line_extent.empty()) facts_.line_extent = join(w_, j + 1, close);
          j = close;
          continue;
        }
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
