#include "html.h"

#include <fmt/format.h>

#include "simt/report/html_text.h"

namespace tessera::cli {

std::string base64(std::string_view bytes) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      out += i + j > bytes.size() ? '=' : kLetters[group >> (18 - 6 * j) & 63];
    }
  }
  return out;
}

namespace {

const char* class_of(HtmlTable::Kind kind) {
  switch (kind) {
    case HtmlTable::Kind::kNumber:
      return " class=\"n\"";
    case HtmlTable::Kind::kSentence:
      return " class=\"s\"";
    case HtmlTable::Kind::kWord:
      break;
  }
  return "";
}

}  // namespace

std::string HtmlTable::html() const {
  if (rows.empty()) return "";
  std::vector<bool> used(columns.size(), false);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) used[i] = used[i] || !row.cells[i].empty();
  }
  std::string out = "<div class=\"scroll\"><table>\n<thead><tr>";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!used[i]) continue;
    out += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(columns[i].kind),
                       html_escaped(columns[i].title));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const Row& row : rows) {
    out += row.style.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", row.style);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!used[i]) continue;
      out += fmt::format("<td{}>{}</td>", class_of(columns[i].kind), html_escaped(row.cells[i]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string facts_html(const std::vector<std::pair<std::string, std::string>>& facts) {
  if (facts.empty()) return "";
  std::string out = "<div class=\"scroll\"><table class=\"facts\"><tbody>\n";
  for (const auto& [name, value] : facts) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", html_escaped(name),
                       html_escaped(value));
  }
  return out + "</tbody></table></div>\n";
}

std::string list_html(const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string out = "<ul>\n";
  for (const std::string& line : lines) out += fmt::format("<li>{}</li>\n", html_escaped(line));
  return out + "</ul>\n";
}

}  // namespace tessera::cli
