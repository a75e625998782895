// Text for terminals and files: safe bytes, width, wrapping.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::simt {

/// Valid UTF-8 without control characters: what is neither becomes U+FFFD. Tabs and line ends stay.
std::string printable(const std::string& bytes);

/// Columns on a terminal; wide characters (Chinese, Japanese, Korean) take two.
int display_width(const std::string& utf8);

/// Lines of at most `width` columns, each behind `indent` spaces; a word longer than a line is cut.
std::vector<std::string> wrap(const std::string& text, int width, int indent);

/// At most `width` columns; what is cut ends in "...".
std::string clip(const std::string& text, int width);

/// Padded with spaces to `width` columns; at the left when `right_aligned`.
std::string pad(const std::string& text, int width, bool right_aligned = false);

/// Characters of `utf8` before byte `byte`.
int characters_before(const std::string& utf8, int byte);

/// "1 finding", "2 findings", "3 accesses".
std::string plural(std::uint64_t count, const std::string& noun);

}  // namespace tessera::simt
