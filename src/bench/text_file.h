// A text file, line by line, whatever it holds.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace tessera::bench {

/// Throws Error(kBadFile) for what is there but no regular file: opening a FIFO would wait, and a
/// device may have no end.
void check_is_file(const std::string& path);

class TextFile {
 public:
  /// Throws Error(kBadFile) when it cannot be opened or is no regular file.
  explicit TextFile(const std::string& path);

  /// The next line without its end (LF or CRLF) and without a byte order mark; false at the end.
  /// Memory stays bounded: of a line beyond kMostLine characters only the beginning is kept. Throws
  /// Error(kBadFile) when the line holds a NUL byte, which no text does, or reading fails.
  bool next(std::string& line);
  /// Of the line last read, from 1.
  std::int64_t line_number() const { return line_number_; }
  /// The line last read was longer than kMostLine.
  bool too_long() const { return too_long_; }

  static constexpr std::size_t kMostLine = 4096;

 private:
  std::string path_;
  std::ifstream stream_;
  std::int64_t line_number_ = 0;
  bool too_long_ = false;
};

/// Without spaces and tabs at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace tessera::bench
