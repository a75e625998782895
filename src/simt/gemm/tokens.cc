#include "simt/gemm/tokens.h"

#include <array>
#include <cctype>

namespace tessera::simt {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Behind the comment, text literal or line marker at `i`, or i when there is none.
std::size_t skip(std::string_view text, std::size_t i) {
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t at = text.find(end, from);
    return at == std::string_view::npos ? text.size() : at + end.size();
  };
  if (text.substr(i, 2) == "//") return behind("\n", i);
  if (text.substr(i, 2) == "/*") return behind("*/", i + 2);
  if (text[i] == '#') return behind("\n", i);
  if (text[i] != '"' && text[i] != '\'') return i;
  const char quote = text[i];
  for (++i; i < text.size() && text[i] != quote; ++i) {
    if (text[i] == '\\') ++i;
  }
  return i < text.size() ? i + 1 : text.size();
}

}  // namespace

bool is_identifier(std::string_view token) {
  return !token.empty() && is_word(token[0]) && !std::isdigit(static_cast<unsigned char>(token[0]));
}

std::vector<std::string> tokens(std::string_view text) {
  constexpr std::array<std::string_view, 18> kPairs = {
      "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=",
      "-=", "*=", "/=", "->", "::", "++", "--", "%=", "|="};
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t next = skip(text, i); next != i) {
      i = next;
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      ++i;
      continue;
    }
    std::size_t length = 1;
    if (is_word(text[i])) {
      // A digit separator or a decimal point belongs to its number.
      const bool number = std::isdigit(static_cast<unsigned char>(text[i]));
      while (i + length < text.size() &&
             (is_word(text[i + length]) ||
              (number && (text[i + length] == '.' || text[i + length] == '\'')))) {
        ++length;
      }
    } else {
      for (std::string_view pair : kPairs) {
        if (text.substr(i, 2) == pair) length = 2;
      }
    }
    out.emplace_back(text.substr(i, length));
    i += length;
  }
  return out;
}

std::size_t closing(const std::vector<std::string>& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string& t = tokens[i];
    if (t == "(" || t == "[" || t == "{") ++depth;
    if (t == ")" || t == "]" || t == "}") --depth;
    if (depth == 0) return i;
  }
  return tokens.size();
}

}  // namespace tessera::simt
