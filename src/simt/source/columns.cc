#include "simt/source/columns.h"

#include <fstream>
#include <sstream>

#include "simt/source/tokens.h"

namespace tessera::simt {
namespace {

struct Piece {
  std::string_view text;
  std::size_t column = 0;  ///< from 0
};

/// The tokens of one line without its comments.
std::vector<Piece> pieces_of(std::string_view line) {
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
      ++at;
    } else if (line.substr(at, 2) == "//") {
      break;
    } else if (line.substr(at, 2) == "/*") {
      const std::size_t end = line.find("*/", at + 2);
      at = end == std::string_view::npos ? line.size() : end + 2;
    } else {
      const std::size_t end = next_token(line, at).second;
      pieces.push_back({line.substr(at, end - at), at});
      at = end;
    }
  }
  return pieces;
}

}  // namespace

std::string_view SourceLines::line(const std::string& file, int line) {
  const auto [found, is_new] = files_.try_emplace(file);
  File& entry = found->second;
  if (is_new) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    entry.text = text.str();
    for (std::size_t at = 0; at < entry.text.size();) {
      std::size_t end = entry.text.find('\n', at);
      if (end == std::string::npos) end = entry.text.size();
      std::string_view line_text = std::string_view(entry.text).substr(at, end - at);
      if (line_text.ends_with('\r')) line_text.remove_suffix(1);
      entry.lines.push_back(line_text);
      at = end + 1;
    }
  }
  const auto index = static_cast<std::size_t>(line - 1);
  return line >= 1 && index < entry.lines.size() ? entry.lines[index] : std::string_view();
}

std::string align_line(std::string_view preprocessed, std::string_view original) {
  const std::vector<Piece> now = pieces_of(preprocessed), wanted = pieces_of(original);
  std::string aligned;
  std::size_t next = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const bool had_space = i > 0 && now[i].column > now[i - 1].column + now[i - 1].text.size();
    std::size_t column = i == 0 ? now[i].column : aligned.size() + (had_space ? 1 : 0);
    // What a macro became has no place of its own; the words behind it have theirs again.
    const bool is_word = std::isalpha(static_cast<unsigned char>(now[i].text[0])) != 0;
    for (std::size_t j = next; j < wanted.size(); ++j) {
      if (wanted[j].text == now[i].text) {
        if (wanted[j].column >= column) column = wanted[j].column;
        next = j + 1;
        break;
      }
      if (!is_word) break;
    }
    if (aligned.size() < column) aligned.append(column - aligned.size(), ' ');
    aligned += now[i].text;
  }
  return aligned;
}

std::string restore_columns(const std::string& preprocessed, SourceLines& lines) {
  std::string result;
  result.reserve(preprocessed.size() + 4096);
  LineMarker place;
  place.is_system = true;
  for (std::size_t at = 0; at < preprocessed.size();) {
    std::size_t end = preprocessed.find('\n', at);
    if (end == std::string::npos) end = preprocessed.size();
    const std::string_view line = std::string_view(preprocessed).substr(at, end - at);
    at = end + 1;
    LineMarker marker;
    if (read_marker(line, &marker)) {
      place = marker;
      result.append(line) += '\n';
      continue;
    }
    const std::string_view original = place.is_system || line.empty() || line[0] == '#'
                                          ? std::string_view()
                                          : lines.line(place.file, place.line);
    // A raw string's inside is no C++.
    const bool is_plain = !original.empty() && original.find("R\"") == std::string_view::npos;
    result += is_plain && line != original ? align_line(line, original) : std::string(line);
    result += '\n';
    ++place.line;
  }
  return result;
}

int original_column(std::string_view rewritten, int column, std::string_view original) {
  if (column < 1 || static_cast<std::size_t>(column) > rewritten.size()) return 0;
  std::string_view text;
  std::size_t number = 0;  // of tokens like this one before it
  for (const Piece& piece : pieces_of(rewritten)) {
    if (piece.column + piece.text.size() >= static_cast<std::size_t>(column)) {
      text = piece.text;
      for (const Piece& other : pieces_of(rewritten)) {
        if (other.column < piece.column && other.text == text) ++number;
      }
      break;
    }
  }
  for (const Piece& piece : pieces_of(original)) {
    if (piece.text == text && number-- == 0) return static_cast<int>(piece.column) + 1;
  }
  return 0;
}

}  // namespace tessera::simt
