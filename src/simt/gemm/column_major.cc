#include "simt/gemm/column_major.h"

#include <array>
#include <cctype>
#include <utility>

namespace tessera::simt {
namespace {

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string turned_word(const std::string& word) {
  constexpr std::array<std::pair<const char*, const char*>, 9> kTurned = {{{"row", "column"},
                                                                           {"rows", "columns"},
                                                                           {"column", "row"},
                                                                           {"columns", "rows"},
                                                                           {"col", "row"},
                                                                           {"M", "N"},
                                                                           {"N", "M"},
                                                                           {"A", "B"},
                                                                           {"B", "A"}}};
  for (const auto& [from, to] : kTurned) {
    if (word == from) return to;
  }
  return word;
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// "[3][5]" at `at`: where the inner bracket's content ends, or 0.
struct Pair {
  std::string first, second;
  std::size_t length = 0;
};
Pair element_at(const std::string& text, std::size_t at) {
  const auto index = [&](std::size_t from) {
    std::size_t end = from;
    while (end < text.size() &&
           (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) {
      ++end;
    }
    return end;
  };
  if (text[at] != '[') return {};
  const std::size_t middle = index(at + 1);
  if (middle == at + 1 || text.compare(middle, 2, "][") != 0) return {};
  const std::size_t end = index(middle + 2);
  if (end == middle + 2 || end >= text.size() || text[end] != ']') return {};
  return {text.substr(at + 1, middle - at - 1), text.substr(middle + 2, end - middle - 2),
          end + 1 - at};
}

}  // namespace

std::string in_column_major(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (const Pair element = element_at(text, i); element.length > 0) {
      out += "[" + element.second + "][" + element.first + "]";
      i += element.length;
      continue;
    }
    if (!is_word_char(text[i])) {
      out += text[i++];
      continue;
    }
    // The transposed product's factors have changed places already.
    if (text.compare(i, 3, "A*B") == 0 || text.compare(i, 3, "B*A") == 0) {
      out += text.substr(i, 3);
      i += 3;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_word_char(text[end])) ++end;
    out += turned_word(text.substr(i, end - i));
    i = end;
  }
  replace(out, "column below", "column to the right");
  replace(out, "column above", "column to the left");
  replace(out, "row to the right", "row below");
  replace(out, "row to the left", "row above");
  replace(out, "its right neighbour's", "the row below's");
  replace(out, "its left neighbour's", "the row above's");
  return out;
}

Finding in_column_major(Finding finding) {
  finding.message = in_column_major(finding.message);
  finding.remedy = in_column_major(finding.remedy);
  finding.element = in_column_major(finding.element);
  finding.cause = in_column_major(finding.cause);
  for (std::string* array : {&finding.array, &finding.at_fault}) {
    if (*array == "A" || *array == "B") *array = turned_word(*array);
  }
  return finding;
}

}  // namespace tessera::simt
