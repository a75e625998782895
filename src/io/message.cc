#include "io/message.h"

#include <fmt/format.h>

#include <system_error>

namespace tessera::io {

void bad_file(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::kBadFile, file + ": " + what);
}

void output_failure(const std::string& file, const std::string& what) {
  throw Error(ErrorCode::kOutputFailure, file + ": " + what);
}

std::string errno_text(int error) { return std::generic_category().message(error); }

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string out = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += text.size() > kMost ? "...\"" : "\"";
  return out;
}

}  // namespace tessera::io
