#include "bench/text_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <limits>

#include "io/message.h"

namespace tessera::bench {

void check_is_file(const std::string& path) {
  std::error_code ignored;  // opening it says what is wrong
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) io::bad_file(path, "is a folder, not a file");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    io::bad_file(path, "is not a regular file");
  }
}

TextFile::TextFile(const std::string& path) : path_(path) {
  check_is_file(path);
  errno = 0;
  stream_.open(path, std::ios::binary);
  if (!stream_) io::bad_file(path, "cannot be opened: " + io::errno_text(errno));
}

bool TextFile::next(std::string& line) {
  char buffer[kMostLine + 1];
  stream_.getline(buffer, sizeof buffer);
  line.assign(buffer, static_cast<std::size_t>(stream_.gcount()));
  // getline counts the newline that it takes, but stores a NUL in its place.
  if (stream_.good() && !line.empty()) line.pop_back();
  if (stream_.bad()) io::bad_file(path_, "cannot be read: " + io::errno_text(errno));
  if (stream_.eof() && line.empty()) return false;
  ++line_number_;
  // Before the rest of a long line is skipped, which in a binary file may be the whole of it.
  if (line.find('\0') != std::string::npos) {
    io::bad_file(path_, fmt::format("line {} holds a NUL byte: not a text file", line_number_));
  }
  too_long_ = stream_.fail() && !stream_.eof();
  if (too_long_) {
    stream_.clear();
    stream_.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  if (line_number_ == 1 && line.compare(0, 3, "\xef\xbb\xbf") == 0) line.erase(0, 3);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace tessera::bench
