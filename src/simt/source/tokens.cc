#include "simt/source/tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

namespace tessera::simt {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Behind the quote that ends the literal whose opening quote is at `at`.
std::size_t behind_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      return at + 1;
    }
  }
  return std::min(at, text.size());
}

/// R"mark( ... )mark", `at` at its quote.
std::size_t behind_raw(std::string_view text, std::size_t at) {
  const std::size_t open = text.find('(', at);
  if (open == std::string_view::npos) return text.size();
  const std::string end = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
  const std::size_t close = text.find(end, open);
  return close == std::string_view::npos ? text.size() : close + end.size();
}

std::size_t behind_number(std::string_view text, std::size_t at) {
  // In hexadecimal numbers e is a digit: 0x1e+2 is a sum.
  const std::string_view prefix = text.substr(at, 2);
  const bool is_hexadecimal = prefix == "0x" || prefix == "0X";
  for (++at; at < text.size(); ++at) {
    const char c = text[at], before = text[at - 1];
    const bool exponent =
        before == 'p' || before == 'P' || (!is_hexadecimal && (before == 'e' || before == 'E'));
    const bool sign = (c == '+' || c == '-') && exponent;
    const bool separator =
        c == '\'' && at + 1 < text.size() && (is_letter(text[at + 1]) || is_digit(text[at + 1]));
    if (!is_letter(c) && !is_digit(c) && c != '.' && !sign && !separator) break;
  }
  return at;
}

constexpr std::array<std::string_view, 22> kLongPunctuation = {
    "<<<", "<=>", "<<=", "...", "->*", "::", "->", "<<", "<=", "==", "!=",
    ">=",  "&&",  "||",  "+=",  "-=",  "*=", "/=", "%=", "++", "--", "##"};

std::size_t behind_punctuation(std::string_view text, std::size_t at) {
  for (std::string_view word : kLongPunctuation) {
    if (text.substr(at, word.size()) == word) return at + word.size();
  }
  return at + 1;
}

/// #define NAME value
void read_definition(std::string_view line, Tokens* tokens) {
  if (!line.starts_with("#define ")) return;
  line.remove_prefix(8);
  std::size_t end = 0;
  while (end < line.size() && (is_letter(line[end]) || is_digit(line[end]))) ++end;
  if (end + 1 < line.size() && line[end] == ' ') {
    tokens->macros.push_back({line.substr(0, end), line.substr(end + 1)});
  }
}

class Splitter {
 public:
  Splitter(std::string_view text, const std::string& path) : text_(text) {
    tokens_.text = text;
    enter(path);
  }

  Tokens split() {
    while (at_ < text_.size()) line();
    match_brackets();
    return std::move(tokens_);
  }

 private:
  void enter(const std::string& file) {
    const auto [found, is_new] = files_.emplace(file, static_cast<int>(tokens_.files.size()));
    if (is_new) tokens_.files.push_back(file);
    file_ = found->second;
  }

  void line() {
    std::size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) end = text_.size();
    if (text_[at_] == '#') {
      directive(text_.substr(at_, end - at_));
    } else if (!is_system_) {
      end = split_line(end);
      ++line_;
    } else {
      ++line_;
    }
    at_ = std::min(end + 1, text_.size());
  }

  void directive(std::string_view line) {
    LineMarker marker;
    if (read_marker(line, &marker)) {
      if (marker.enters && marker.is_system && !is_system_) {
        entered_ = marker.file;
      } else if (!marker.is_system && is_system_ && !entered_.empty()) {
        // The marker that leads back stands for the line behind the #include.
        tokens_.includes.push_back({entered_, marker.file, marker.line - 1});
        entered_.clear();
      }
      if (marker.file.ends_with("/simt_abi.h")) {
        tokens_.words_folder = marker.file.substr(0, marker.file.rfind('/') + 1);
      }
      line_ = marker.line;
      is_system_ = marker.is_system;
      enter(marker.file);
      return;
    }
    ++line_;
    if (!line.starts_with("#define ") && !line.starts_with("#undef ")) return;
    tokens_.definitions.emplace_back(at_, at_ + line.size());
    if (!is_system_) read_definition(line, &tokens_);
  }

  /// Returns the end of the line, which a raw string may move.
  std::size_t split_line(std::size_t end) {
    while (true) {
      while (at_ < end && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
      if (at_ >= end) return end;
      const auto [kind, behind] = next_token(text_, at_);
      const std::string_view word = text_.substr(at_, behind - at_);
      tokens_.all.push_back({kind, word, at_, file_, line_});
      line_ += static_cast<int>(std::count(word.begin(), word.end(), '\n'));
      at_ = behind;
      if (at_ > end) {
        end = text_.find('\n', at_);
        if (end == std::string_view::npos) end = text_.size();
      }
    }
  }

  void match_brackets() {
    tokens_.partner.assign(tokens_.size(), Tokens::npos);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind != TokenKind::kPunctuation) continue;
      const char c = tokens_[i].text[0];
      if (c == '(' || c == '[' || c == '{') open.push_back(i);
      if (c != ')' && c != ']' && c != '}') continue;
      const char wanted = c == ')' ? '(' : c == ']' ? '[' : '{';
      if (open.empty() || tokens_[open.back()].text[0] != wanted) return;  // the compiler will say
      tokens_.partner[i] = open.back();
      tokens_.partner[open.back()] = i;
      open.pop_back();
    }
  }

  std::string_view text_;
  Tokens tokens_;
  std::map<std::string, int> files_;
  std::size_t at_ = 0;
  int file_ = 0, line_ = 1;
  bool is_system_ = false;
  std::string entered_;  ///< the header outside the program's own files that is being read
};

}  // namespace

bool read_marker(std::string_view line, LineMarker* marker) {
  if (line.size() < 3 || line[0] != '#' || line[1] != ' ' || !is_digit(line[2])) return false;
  std::size_t at = 2;
  marker->line = 0;
  for (; at < line.size() && is_digit(line[at]); ++at) {
    if (marker->line > 100'000'000) return false;
    marker->line = marker->line * 10 + (line[at] - '0');
  }
  marker->file.clear();
  at = line.find('"', at);
  if (at == std::string_view::npos) return false;
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] == '\\' && at + 1 < line.size()) ++at;
    marker->file += line[at];
  }
  marker->enters = line.find(" 1", at) != std::string_view::npos;
  marker->is_system = line.find(" 3", at) != std::string_view::npos || marker->file == "<built-in>";
  return true;
}

Tokens tokenise(std::string_view text, const std::string& path) {
  return Splitter(text, path).split();
}

std::pair<TokenKind, std::size_t> next_token(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '"') return {TokenKind::kString, behind_quoted(text, at)};
  if (c == '\'') return {TokenKind::kCharacter, behind_quoted(text, at)};
  if (is_digit(c) || (c == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
    return {TokenKind::kNumber, behind_number(text, at)};
  }
  if (!is_letter(c)) return {TokenKind::kPunctuation, behind_punctuation(text, at)};
  std::size_t end = at + 1;
  while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
  const std::string_view word = text.substr(at, end - at);
  if (end < text.size() && text[end] == '"') {
    if (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R") {
      return {TokenKind::kString, behind_raw(text, end)};
    }
    if (word == "L" || word == "u" || word == "U" || word == "u8") {
      return {TokenKind::kString, behind_quoted(text, end)};
    }
  }
  return {TokenKind::kWord, end};
}

std::string Tokens::join(std::size_t first, std::size_t last) const {
  const auto is_name = [this](std::size_t i) {
    return all[i].kind == TokenKind::kWord || all[i].kind == TokenKind::kNumber;
  };
  std::string joined;
  for (std::size_t i = first; i < last && i < size(); ++i) {
    if (i > first) {
      const Token &before = all[i - 1], &token = all[i];
      // Two punctuation marks of one kind would become another: a - -b.
      const bool would_merge =
          before.text.back() == token.text[0] &&
          std::string_view("+-&|=<:").find(token.text[0]) != std::string_view::npos;
      if (before.is(",") || (is_name(i - 1) && is_name(i)) || would_merge ||
          (before.kind == TokenKind::kString && token.kind == TokenKind::kString)) {
        joined += ' ';
      }
    }
    joined += all[i].text;
  }
  return joined;
}

std::size_t behind_angles(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.kind != TokenKind::kPunctuation) continue;
    if (token.is("<")) ++depth;
    if (token.is(">") && --depth == 0) return i + 1;
    if (token.is("(") || token.is("[") || token.is("{")) {
      i = tokens.partner[i];
      if (i == Tokens::npos) return i;
    } else if (token.is(";") || token.is("}") || token.is(")")) {
      return Tokens::npos;
    }
  }
  return Tokens::npos;
}

std::size_t angle_before(const Tokens& tokens, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    const Token& token = tokens[i];
    if (token.kind != TokenKind::kPunctuation) continue;
    if (token.is(">")) ++depth;
    if (token.is("<") && --depth == 0) return i;
    if (token.is(")") || token.is("]") || token.is("}")) {
      i = tokens.partner[i];
      if (i == Tokens::npos) return i;
    } else if (token.is(";") || token.is("{")) {
      return Tokens::npos;
    }
  }
  return Tokens::npos;
}

}  // namespace tessera::simt
