#include "simt/exercise/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "simt/gemm/tokens.h"
#include "simt/source/edits.h"

namespace tessera::simt {
namespace {

constexpr const char* kSolution[] = {
    "{ const int simt_col = t * kTile + tx, simt_row = t * kTile + ty;"
    " s_a[ty][tx] = row < M && simt_col < K ? A[row * K + simt_col] : 0.0f;"
    " s_b[ty][tx] = simt_row < K && col < N ? B[simt_row * N + col] : 0.0f; }",
    "__syncthreads();", "for (int p = 0; p < kTile; ++p) sum += s_a[ty][p] * s_b[p][tx];",
    "__syncthreads();"};

/// The number behind ">>> blank " in a comment that stands alone, or -1.
int marked(const std::string& line, const std::string& arrow) {
  const std::size_t from = line.find_first_not_of(" \t");
  const std::string mark = "// " + arrow + " blank ";
  if (from == std::string::npos || line.compare(from, mark.size(), mark) != 0) return -1;
  const std::size_t at = from + mark.size();
  if (at >= line.size() || line[at] < '1' || line[at] > '4') return -1;
  return line[at] - '1';
}

bool is_barrier(const std::string& word) {
  return word.rfind("__syncthreads", 0) == 0 || word == "sync" || word == "arrive_and_wait" ||
         word == "__barrier_sync";
}

void read_words(const std::string& text, Answer::Blank& blank) {
  const std::vector<std::string> words = tokens(text);
  const auto is_stray = [](const std::string& w) { return w == ";"; };
  blank.empty = std::all_of(words.begin(), words.end(), is_stray);
  blank.barriers = static_cast<int>(std::count_if(words.begin(), words.end(), is_barrier));
  blank.plain_barrier = words == std::vector<std::string>{"__syncthreads", "(", ")", ";"};
}

}  // namespace

Answer read_answer(const std::string& source) {
  Answer out;
  std::istringstream in(source);
  std::string line, inside;
  int open = -1, number = 0;
  while (std::getline(in, line)) {
    ++number;
    if (const int begins = marked(line, ">>>"); begins >= 0) {
      open = begins;
      inside.clear();
      out.blanks[static_cast<std::size_t>(open)].first_line = number;
      continue;
    }
    if (const int ends = marked(line, "<<<"); ends >= 0) {
      if (ends == open) {
        Answer::Blank& blank = out.blanks[static_cast<std::size_t>(open)];
        blank.last_line = number;
        blank.found = true;
        read_words(inside, blank);
      }
      open = -1;
      continue;
    }
    inside += line + "\n";
  }
  return out;
}

std::string completed(const std::string& source, const std::array<bool, 4>& own,
                      const std::string& path) {
  const Answer answer = read_answer(source);
  std::istringstream in(source);
  std::string out = fmt::format("#line 1 {}\n", c_string(path)), line;
  for (int number = 1; std::getline(in, line); ++number) {
    bool is_kept = true;
    for (std::size_t i = 0; i < 4; ++i) {
      const Answer::Blank& blank = answer.blanks[i];
      if (own[i] || !blank.found) continue;
      if (number == blank.first_line) line += std::string("\n") + kSolution[i];
      if (number == blank.last_line) line = fmt::format("#line {}\n{}", number, line);
      if (number > blank.first_line && number < blank.last_line) is_kept = false;
    }
    if (is_kept) out += line + "\n";
  }
  return out;
}

}  // namespace tessera::simt
