// Changes to a text, collected and then made all at once.
#pragma once

#include <string>
#include <vector>

#include "simt/source/tokens.h"

namespace tessera::simt {

class Edits {
 public:
  explicit Edits(const Tokens& tokens) : tokens_(tokens) {}

  void insert(std::size_t offset, std::string text) { add(offset, 0, std::move(text)); }
  void insert_before(std::size_t token, std::string text) {
    insert(tokens_[token].begin, std::move(text));
  }
  void insert_behind(std::size_t token, std::string text) {
    insert(tokens_[token].end(), std::move(text));
  }
  void replace(std::size_t token, std::string text) {
    add(tokens_[token].begin, tokens_[token].text.size(), std::move(text));
  }
  /// Blanks of the same width in the place of tokens [first, last): what follows keeps its column.
  void blank(std::size_t first, std::size_t last);
  void blank_range(std::size_t begin, std::size_t end) { blank_text(begin, end - begin); }

  std::string apply() const;

 private:
  struct Edit {
    std::size_t offset, length;
    std::string text;
  };
  void add(std::size_t offset, std::size_t length, std::string text) {
    edits_.push_back({offset, length, std::move(text)});
  }
  void blank_text(std::size_t offset, std::size_t length);

  const Tokens& tokens_;
  std::vector<Edit> edits_;
};

/// A C string literal.
std::string c_string(std::string_view text);

/// Without the byte order mark that an editor may have begun a UTF-8 file with: compilers skip it
/// at the start of a file, and nowhere else.
std::string_view without_mark(std::string_view text);

}  // namespace tessera::simt
