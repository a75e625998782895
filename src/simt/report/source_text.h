// The lines of the checked source, and of files that it includes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "simt/report/report.h"

namespace tessera::simt {

class SourceText {
 public:
  explicit SourceText(const Report& report);
  /// Printable; null when the place has no line that can be shown.
  const std::string* line(const Place& place);
  const std::vector<std::string>& lines() const { return main_; }
  bool is_main(const Place& place) const;

 private:
  std::string path_;
  std::vector<std::string> main_;
  std::map<std::string, std::vector<std::string>> others_;
};

/// A line as a terminal shows it, and where its caret goes.
struct Excerpt {
  std::string line;
  int caret = 0;  ///< columns before it; -1: none
};
Excerpt excerpt(const std::string& line, int column, int width);

}  // namespace tessera::simt
