// Preprocessed C++ as tokens, those of the program's own files only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::simt {

enum class TokenKind : char { kWord, kNumber, kString, kCharacter, kPunctuation };

struct Token {
  TokenKind kind = TokenKind::kPunctuation;
  std::string_view text;
  std::size_t begin = 0;  ///< its offset in the text
  int file = 0;           ///< an index into Tokens::files
  int line = 0;

  std::size_t end() const { return begin + text.size(); }
  bool is(std::string_view other) const { return text == other; }
  bool is_word() const { return kind == TokenKind::kWord; }
};

/// `#define NAME value` without parameters.
struct Macro {
  std::string_view name, value;
};

/// A header that the program's own files include, and that is none of them.
struct Include {
  std::string header;  ///< as found: /usr/include/c++/12/vector
  std::string file;    ///< that includes it
  int line = 0;
};

struct Tokens {
  std::string_view text;
  std::vector<Token> all;
  std::vector<std::string> files;
  std::vector<std::size_t> partner;  ///< of each bracket the index of its other half; else npos
  std::vector<Macro> macros;         ///< of the program's files and of the command line
  std::vector<Include> includes;
  std::string words_folder;  ///< of the executor's headers, with a slash; empty: none was read
  /// Lines that define macros: they have been applied and must not be applied again.
  std::vector<std::pair<std::size_t, std::size_t>> definitions;

  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
  std::size_t size() const { return all.size(); }
  const Token& operator[](std::size_t i) const { return all[i]; }
  /// True when token i exists and reads `word`.
  bool is(std::size_t i, std::string_view word) const { return i < size() && all[i].text == word; }
  bool is_word(std::size_t i) const { return i < size() && all[i].is_word(); }
  const std::string& file(std::size_t i) const {
    return files[static_cast<std::size_t>(all[i].file)];
  }
  /// Tokens [first, last) as one line, a space only where one is needed.
  std::string join(std::size_t first, std::size_t last) const;
};

/// A line marker: # 12 "file" 1 3
struct LineMarker {
  int line = 0;
  std::string file;
  bool enters = false;     ///< an #include begins here
  bool is_system = false;  ///< the file is none of the program's own
};
/// False when the line is no marker.
bool read_marker(std::string_view line, LineMarker* marker);

/// Splits text with line markers. Closing angle brackets are always single tokens, since only
/// their surroundings tell `>>` of two templates from a shift.
Tokens tokenise(std::string_view text, const std::string& path);

/// The token that begins at text[at], which is no blank: its kind and its end.
std::pair<TokenKind, std::size_t> next_token(std::string_view text, std::size_t at);

/// Behind the `>` that closes the `<` at `open`, or npos.
std::size_t behind_angles(const Tokens& tokens, std::size_t open);
/// The `<` that the `>` at `close` closes, or npos.
std::size_t angle_before(const Tokens& tokens, std::size_t close);

}  // namespace tessera::simt
