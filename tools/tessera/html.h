// Pieces of HTML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::cli {

std::string base64(std::string_view bytes);

struct HtmlTable {
  enum class Kind { kWord, kNumber, kSentence };
  struct Column {
    std::string title;
    Kind kind = Kind::kWord;
  };
  struct Row {
    std::vector<std::string> cells;  ///< text, not yet escaped
    std::string style;               ///< class of the row; empty for none
  };
  std::vector<Column> columns;
  std::vector<Row> rows;

  /// Columns in which no row has anything are left out; empty without rows.
  std::string html() const;
};

/// Names and values in two columns.
std::string facts_html(const std::vector<std::pair<std::string, std::string>>& facts);
std::string list_html(const std::vector<std::string>& lines);

}  // namespace tessera::cli
