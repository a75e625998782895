#include "simt/report/html_text.h"

#include <fmt/format.h>

namespace tessera {

std::string html_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
          out += fmt::format("\\x{:02x}", c);  // no document may hold it
        } else {
          out += c;
        }
    }
  }
  return out;
}

}  // namespace tessera
