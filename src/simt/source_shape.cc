#include "simt/source_shape.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

#include "simt/source/tokens.h"

namespace tessera::simt {
namespace {

struct Word {
  std::string_view text;
  std::size_t begin = 0;
  int line = 0, column = 0;
};

/// Without comments and directives.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> out;
  int line = 1;
  std::size_t line_begin = 0;
  bool is_first = true;  // of its line
  std::size_t i = 0;
  const auto pass = [&](std::size_t end) {
    for (; i < std::min(end, text.size()); ++i) {
      if (text[i] != '\n') continue;
      ++line;
      line_begin = i + 1;
      is_first = true;
    }
  };
  const auto behind = [&](std::string_view end) {
    const std::size_t at = text.find(end, i + 1);
    return at == std::string_view::npos ? text.size() : at + end.size();
  };
  while (i < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      pass(i + 1);
    } else if (text.substr(i, 2) == "//") {
      pass(behind("\n"));
    } else if (text.substr(i, 2) == "/*") {
      pass(behind("*/"));
    } else if (text[i] == '#' && is_first) {
      std::size_t end = behind("\n");
      while (end >= 2 && end < text.size() && text[end - 2] == '\\') {
        const std::size_t next = text.find('\n', end);
        end = next == std::string_view::npos ? text.size() : next + 1;
      }
      pass(end);
    } else {
      const std::size_t end = std::max(next_token(text, i).second, i + 1);
      out.push_back({text.substr(i, end - i), i, line, static_cast<int>(i - line_begin) + 1});
      is_first = false;
      pass(end);
    }
  }
  return out;
}

bool is_name(std::string_view text) {
  return std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_';
}

class Shape {
 public:
  explicit Shape(const std::string& source) : source_(source), w_(words_of(source)) {}

  Surroundings look(int line, int column) {
    for (target_ = 0; target_ < w_.size(); ++target_) {
      const Word& w = w_[target_];
      if (w.line == line && (column == 0 || w.column == column)) break;
    }
    if (target_ == w_.size()) return {};
    for (std::size_t i = 0; i < w_.size() && !out_.is_known;) {
      // What has a parameter list before its brace is a function, anything else a scope.
      if (is(i, "{") && i > 0 && is(i - 1, ")")) {
        first_ = i;
        i = block(i);
      } else {
        ++i;
      }
    }
    return out_;
  }

 private:
  bool is(std::size_t i, std::string_view text) const {
    return i < w_.size() && w_[i].text == text;
  }

  std::size_t closing(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < w_.size(); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if (is(i, ")") || is(i, "]") || is(i, "}")) --depth;
      if (depth == 0) return i;
    }
    return w_.size();
  }

  std::size_t block(std::size_t open) {
    std::size_t i = open + 1;
    while (i < w_.size() && !is(i, "}")) i = statement(i);
    return i + 1;
  }

  /// Behind the statement at i.
  std::size_t statement(std::size_t i) {
    if (is(i, "{")) return block(i);
    if (is(i, "else")) return statement(i + 1);
    if (is(i, "if") || is(i, "for") || is(i, "while") || is(i, "switch")) {
      std::size_t open = i + 1;
      while (open < w_.size() && !is(open, "(")) ++open;  // if constexpr (
      const std::size_t close = closing(open);
      if (target_ > i && target_ <= close) found();
      headers_.push_back({i, open, close});
      std::size_t next = statement(close + 1);
      if (is(i, "if") && is(next, "else")) next = statement(next + 1);
      headers_.pop_back();
      return next;
    }
    for (; i < w_.size(); ++i) {
      if (i == target_) found();
      if (is(i, ";")) return i + 1;
      if (is(i, "}")) return i;
      if (is(i, "{")) i = block(i) - 1;  // of a lambda, or values
    }
    return i;
  }

  struct Header {
    std::size_t word, open, close;
  };

  void found() {
    if (out_.is_known) return;
    out_.is_known = true;
    for (std::size_t i = first_; i < target_; ++i) {
      out_.function_returns = out_.function_returns || is(i, "return");
    }
    // Twice, since a loop may use what is assigned further down.
    trace();
    trace();
    for (auto h = headers_.rbegin(); h != headers_.rend() && out_.divided_by.empty(); ++h) {
      if (!depends(h->open, h->close)) continue;
      const std::size_t from = w_[h->word].begin;
      out_.divided_by = source_.substr(from, w_[h->close].begin + 1 - from);
    }
  }

  bool depends(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (by_thread_.count(w_[i].text) != 0) return true;
    }
    return false;
  }

  /// Variables of the function that are made of threadIdx.
  void trace() {
    const std::size_t end = closing(first_);
    for (std::size_t i = first_; i + 1 < end; ++i) {
      if (!is_name(w_[i].text) || !is(i + 1, "=")) continue;
      std::size_t last = i + 2;
      for (; last < end && !is(last, ";") && !is(last, ","); ++last) {
        if (is(last, "(") || is(last, "[") || is(last, "{")) last = closing(last);
      }
      if (depends(i + 2, last)) by_thread_.insert(w_[i].text);
    }
  }

  const std::string& source_;
  std::vector<Word> w_;
  std::size_t target_ = 0, first_ = 0;
  std::vector<Header> headers_;
  std::set<std::string_view> by_thread_ = {"threadIdx", "thread_rank", "thread_index"};
  Surroundings out_;
};

}  // namespace

Surroundings surroundings(const std::string& source, int line, int column) {
  return Shape(source).look(line, column);
}

}  // namespace tessera::simt
