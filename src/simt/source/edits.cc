#include "simt/source/edits.h"

#include <algorithm>

namespace tessera::simt {

void Edits::blank(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) blank_text(tokens_[i].begin, tokens_[i].text.size());
}

void Edits::blank_text(std::size_t offset, std::size_t length) {
  std::string blank(tokens_.text.substr(offset, length));
  for (char& c : blank) c = c == '\n' ? '\n' : ' ';
  add(offset, length, std::move(blank));
}

std::string Edits::apply() const {
  std::vector<Edit> edits = edits_;
  // Insertions at one place keep their order, and stand before a replacement of what is there.
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return a.offset != b.offset ? a.offset < b.offset : (a.length == 0) > (b.length == 0);
  });
  std::string text;
  text.reserve(tokens_.text.size() + 4096);
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    if (edit.offset > done) text.append(tokens_.text, done, edit.offset - done);
    text += edit.text;
    done = std::max(done, edit.offset + edit.length);
  }
  text.append(tokens_.text, done);
  return text;
}

std::string c_string(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

}  // namespace tessera::simt
