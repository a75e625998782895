#include "simt/report/source_text.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "simt/report/text.h"

namespace tessera::simt {
namespace {

constexpr std::uintmax_t kMaxFileBytes = 4'000'000;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  const std::string clean = printable(text);
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t end = std::min(clean.find('\n', at), clean.size());
    lines.push_back(clean.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string read_text(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return "";
  const auto bytes = std::filesystem::file_size(path, failed);
  if (failed || bytes > kMaxFileBytes) return "";
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

SourceText::SourceText(const Report& report) : path_(report.path), main_(split(report.source)) {}

bool SourceText::is_main(const Place& place) const {
  const auto file = std::filesystem::path(place.file).lexically_normal();
  const auto main = std::filesystem::path(path_).lexically_normal();
  if (file == main) return true;
  // A compiler may have been given the file by its full path.
  return file.is_absolute() != main.is_absolute() && file.filename() == main.filename();
}

const std::string* SourceText::line(const Place& place) {
  if (place.line <= 0) return nullptr;
  const std::vector<std::string>* lines = &main_;
  if (!is_main(place)) {
    auto found = others_.find(place.file);
    if (found == others_.end())
      found = others_.emplace(place.file, split(read_text(place.file))).first;
    lines = &found->second;
  }
  const std::size_t index = static_cast<std::size_t>(place.line) - 1;
  return index < lines->size() ? &(*lines)[index] : nullptr;
}

Excerpt excerpt(const std::string& line, int column, int width) {
  constexpr int kTab = 4;
  Excerpt result;
  result.caret = -1;
  std::string expanded;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (static_cast<int>(i) + 1 == column) result.caret = display_width(expanded);
    if (line[i] == '\t')
      expanded.append(kTab, ' ');
    else
      expanded += line[i];
  }
  result.line = clip(expanded, width);
  if (result.caret >= width) result.caret = -1;
  return result;
}

}  // namespace tessera::simt
