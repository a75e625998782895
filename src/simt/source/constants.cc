// Integer constants of a program, by which a lone kernel's tile sizes are known.
#include <map>
#include <optional>

#include "simt/source/rewrite.h"

namespace tessera::simt {
namespace {

/// Words of an expression, which own no text.
struct Word {
  TokenKind kind;
  std::string_view text;
};

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == ' ' || text[at] == '\t') {
      ++at;
      continue;
    }
    const auto [kind, end] = next_token(text, at);
    words.push_back({kind, text.substr(at, end - at)});
    at = end;
  }
  return words;
}

/// Integer expressions of numbers, known names, parentheses, + - * / % and shifts.
class Evaluator {
 public:
  Evaluator(std::vector<Word> words, const std::map<std::string, long long, std::less<>>& known)
      : words_(std::move(words)), known_(known) {}

  std::optional<long long> value() {
    const auto result = binary(0);
    return at_ == words_.size() ? result : std::nullopt;
  }

 private:
  bool is(std::string_view text) const { return at_ < words_.size() && words_[at_].text == text; }
  std::string_view operation(int level) const {
    if (level == 0) return is("<<") ? "<<" : "";
    if (level == 1) return is("+") ? "+" : is("-") ? "-" : "";
    return is("*") ? "*" : is("/") ? "/" : is("%") ? "%" : "";
  }

  std::optional<long long> binary(int level) {
    if (level == 3) return unary();
    auto left = binary(level + 1);
    for (std::string_view op = operation(level); left && !op.empty(); op = operation(level)) {
      ++at_;
      const auto right = binary(level + 1);
      if (!right) return std::nullopt;
      left = apply(op, *left, *right);
    }
    return left;
  }

  static std::optional<long long> apply(std::string_view op, long long a, long long b) {
    long long result = 0;
    bool overflows = false;
    if (op == "+") overflows = __builtin_add_overflow(a, b, &result);
    if (op == "-") overflows = __builtin_sub_overflow(a, b, &result);
    if (op == "*") overflows = __builtin_mul_overflow(a, b, &result);
    if ((op == "/" || op == "%") && (b == 0 || b == -1)) return std::nullopt;
    if (op == "/") result = a / b;
    if (op == "%") result = a % b;
    if (op == "<<") {
      if (a < 0 || b < 0 || b > 40 || a > (1LL << 20)) return std::nullopt;
      result = a << b;
    }
    if (overflows) return std::nullopt;
    return result;
  }

  std::optional<long long> unary() {
    if (at_ >= words_.size() || depth_ > kDeepest) return std::nullopt;
    if (is("-")) {
      ++at_;
      ++depth_;
      const auto value = unary();
      --depth_;
      return value ? apply("-", 0, *value) : std::nullopt;
    }
    if (is("(")) {
      ++at_;
      ++depth_;
      const auto value = binary(0);
      --depth_;
      if (!is(")")) return std::nullopt;
      ++at_;
      return value;
    }
    const Word word = words_[at_++];
    if (word.kind == TokenKind::kWord) {
      const auto found = known_.find(word.text);
      return found == known_.end() ? std::nullopt : std::optional(found->second);
    }
    return word.kind == TokenKind::kNumber ? number(word.text) : std::nullopt;
  }

  static std::optional<long long> number(std::string_view text) {
    std::string digits;
    for (char c : text) {
      if (c != '\'') digits += c;
    }
    while (!digits.empty() &&
           std::string_view("uUlLzZ").find(digits.back()) != std::string_view::npos) {
      digits.pop_back();
    }
    try {
      std::size_t used = 0;
      const long long value = std::stoll(digits, &used, 0);
      return used == digits.size() ? std::optional(value) : std::nullopt;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  std::vector<Word> words_;
  const std::map<std::string, long long, std::less<>>& known_;
  static constexpr int kDeepest = 200;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// NAME and the expression of `constexpr int NAME = ...`.
struct Definition {
  std::string_view name;
  std::string text;
};

bool is_integer_type(const Token& token) {
  for (std::string_view word : {"int", "unsigned", "long", "short", "size_t", "auto", "uint32_t",
                                "int32_t", "int64_t", "uint64_t", "uint"}) {
    if (token.is(word)) return true;
  }
  return false;
}

/// enum { BM = 64, BN = 64 };
std::vector<Definition> enumerators_in(const Tokens& tokens, Range range) {
  std::vector<Definition> found;
  std::size_t open = range.first;
  while (open < range.last && !tokens.is(open, "{")) ++open;
  if (open == range.last || tokens.partner[open] == Tokens::npos) return found;
  for (Range part : split_at_commas(tokens, {open + 1, tokens.partner[open]})) {
    if (!tokens.is(part.first + 1, "=")) continue;
    found.push_back({tokens[part.first].text, tokens.join(part.first + 2, part.last)});
  }
  return found;
}

std::vector<Definition> definitions_in(const Tokens& tokens, Range range) {
  if (tokens.is(range.first, "enum")) return enumerators_in(tokens, range);
  bool is_constant = false, is_integer = false;
  std::size_t i = range.first;
  for (; i < range.last && !tokens.is(i + 1, "=") && !tokens.is(i + 1, "{"); ++i) {
    if (tokens[i].is("constexpr") || tokens[i].is("const")) is_constant = true;
    if (is_integer_type(tokens[i])) is_integer = true;
  }
  std::vector<Definition> found;
  if (!is_constant || !is_integer || i >= range.last) return found;
  for (Range part : split_at_commas(tokens, {i, range.last})) {
    if (!tokens[part.first].is_word() || part.last < part.first + 3) continue;
    std::size_t last = part.last;
    if (tokens.is(part.first + 1, "{")) --last;
    found.push_back({tokens[part.first].text, tokens.join(part.first + 2, last)});
  }
  return found;
}

}  // namespace

std::vector<Constant> find_constants(const Tokens& tokens, const Declarations& declarations) {
  std::vector<Definition> definitions;
  for (const Macro& macro : tokens.macros) {
    if (!macro.name.starts_with("__"))
      definitions.push_back({macro.name, std::string(macro.value)});
  }
  for (const Variable& variable : declarations.variables) {
    for (Definition& definition : definitions_in(tokens, variable.declaration)) {
      definitions.push_back(std::move(definition));
    }
  }
  std::map<std::string, long long, std::less<>> known;
  // A macro may use one that is defined behind it.
  for (int pass = 0; pass < 2; ++pass) {
    for (const Definition& definition : definitions) {
      const auto value = Evaluator(words_of(definition.text), known).value();
      if (value) known[std::string(definition.name)] = *value;
    }
  }
  std::vector<Constant> constants;
  for (const Definition& definition : definitions) {
    const auto found = known.find(definition.name);
    if (found == known.end()) continue;
    constants.push_back({std::string(definition.name), std::to_string(found->second)});
    known.erase(found);  // the last definition is meant, and named once
  }
  return constants;
}

}  // namespace tessera::simt
