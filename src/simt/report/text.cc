#include "simt/report/text.h"

#include <fmt/format.h>

#include <cstdint>

namespace tessera::simt {
namespace {

constexpr char kReplacement[] = "\xEF\xBF\xBD";

struct Character {
  char32_t code = 0;
  int bytes = 1;
  bool valid = false;
};

Character decode(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1, true};
  const int length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return {};
  char32_t code = first & (0xFF >> (length + 1));
  for (int i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, length, true};
}

// Besides the C0 and C1 codes those that turn the reading direction, with which a source could show
// other text than it holds.
bool is_control(char32_t c) {
  return (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7F && c < 0xA0) ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

bool is_wide(char32_t c) {
  return (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
         (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
         (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD);
}

// The longest start of `text` of at most `width` columns, in bytes.
std::size_t prefix_bytes(const std::string& text, int width) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Character c = decode(text, at);
    width -= is_wide(c.code) ? 2 : 1;
    if (width < 0) break;
    at += c.bytes;
  }
  return at;
}

}  // namespace

std::string printable(const std::string& bytes) {
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const Character c = decode(bytes, at);
    if (c.code == '\r' && at + 1 < bytes.size() && bytes[at + 1] == '\n') {
      // A line end of another system.
    } else if (!c.valid || is_control(c.code)) {
      out += kReplacement;
    } else {
      out.append(bytes, at, c.bytes);
    }
    at += c.bytes;
  }
  return out;
}

int display_width(const std::string& utf8) {
  int width = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const Character c = decode(utf8, at);
    width += is_wide(c.code) ? 2 : 1;
    at += c.bytes;
  }
  return width;
}

int characters_before(const std::string& utf8, int byte) {
  int count = 0;
  for (std::size_t at = 0; at < utf8.size() && static_cast<int>(at) < byte; ++count)
    at += decode(utf8, at).bytes;
  return count;
}

std::vector<std::string> wrap(const std::string& text, int width, int indent) {
  const std::string margin(indent, ' ');
  const int room = width - indent;
  std::vector<std::string> lines;
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) lines.push_back(margin + line);
    line.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    std::string word = text.substr(at, end - at);
    if (!line.empty() && display_width(line) + 1 + display_width(word) > room) flush();
    while (display_width(word) > room) {
      const std::size_t cut = prefix_bytes(word, room);
      lines.push_back(margin + word.substr(0, cut));
      word.erase(0, cut);
    }
    if (!word.empty()) line += (line.empty() ? "" : " ") + word;
    if (end < text.size() && text[end] == '\n') flush();
    at = end + 1;
  }
  flush();
  return lines;
}

std::string clip(const std::string& text, int width) {
  if (display_width(text) <= width) return text;
  return text.substr(0, prefix_bytes(text, width - 3)) + "...";
}

std::string pad(const std::string& text, int width, bool right_aligned) {
  const int missing = width - display_width(text);
  if (missing <= 0) return text;
  const std::string spaces(missing, ' ');
  return right_aligned ? spaces + text : text + spaces;
}

std::string plural(std::uint64_t count, const std::string& noun) {
  const char* ending = count == 1 ? "" : !noun.empty() && noun.back() == 's' ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, ending);
}

}  // namespace tessera::simt
