// Columns of preprocessed and rewritten text against those of the user's files.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::simt {

/// The lines of files, read once.
class SourceLines {
 public:
  /// Line `line` (from 1) of the file, or empty.
  std::string_view line(const std::string& file, int line);

 private:
  struct File {
    std::string text;
    std::vector<std::string_view> lines;
  };
  std::map<std::string, File> files_;
};

/// Spaces out the tokens of a preprocessed line so that they stand where the original has them.
std::string align_line(std::string_view preprocessed, std::string_view original);

/// The same for all lines of the program's own files.
std::string restore_columns(const std::string& preprocessed, SourceLines& lines);

/// The column in the original of the token at `column` (from 1) of the rewritten line; 0 when it
/// has no such token.
int original_column(std::string_view rewritten, int column, std::string_view original);

}  // namespace tessera::simt
