#include "io/npy_literal.h"

#include <fmt/format.h>

#include "io/message.h"

namespace tessera::io {
namespace {

/// A reader for the few forms that a header may hold; anything else is refused where it stands.
class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  NpyLiteral parse() {
    bool seen_descr = false, seen_order = false, seen_shape = false;
    expect('{', "the header must be a dict literal");
    while (peek() != '}') {
      const std::string key = string("a key must be a string");
      expect(':', "a key is followed by ':'");
      if (key == "descr") {
        once(seen_descr, key);
        literal_.descr = descr();
      } else if (key == "fortran_order") {
        once(seen_order, key);
        literal_.fortran_order = boolean();
      } else if (key == "shape") {
        once(seen_shape, key);
        literal_.shape = shape();
      } else {
        bad_file(file_, fmt::format("header key {} is not one of descr, fortran_order, shape",
                                    in_quotes(key)));
      }
      if (peek() != '}') expect(',', "fields are separated by ','");
    }
    ++at_;
    if (peek() != '\0' || at_ != text_.size()) refuse("nothing may follow the dict");
    need(seen_descr, "descr");
    need(seen_order, "fortran_order");
    need(seen_shape, "shape");
    return literal_;
  }

 private:
  [[noreturn]] void refuse(const char* rule) const {
    bad_file(file_,
             fmt::format("header at byte {}: {}: {}", at_, in_quotes(text_.substr(at_)), rule));
  }

  void once(bool& seen, const std::string& key) const {
    if (seen) bad_file(file_, fmt::format("header key {} appears twice", in_quotes(key)));
    seen = true;
  }

  void need(bool seen, const char* key) const {
    if (!seen) bad_file(file_, fmt::format("header has no {}: {}", key, in_quotes(text_)));
  }

  /// Next character after white space; NUL at the end.
  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void expect(char wanted, const char* rule) {
    if (at_ >= text_.size() || peek() != wanted) refuse(rule);
    ++at_;
  }

  std::string string(const char* rule) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') refuse(rule);
    const std::size_t begin = at_ + 1;
    const std::size_t end = text_.find(quote, begin);
    if (end == text_.npos) refuse("the string does not end");
    const std::string_view body = text_.substr(begin, end - begin);
    if (body.find('\\') != body.npos) refuse("a string may not hold a backslash");
    at_ = end + 1;
    return std::string(body);
  }

  std::string descr() {
    const char c = peek();
    if (c == '[' || c == '(' || c == '{') {
      bad_file(file_, fmt::format("descr = {}: structured and sub-array types are not supported",
                                  in_quotes(text_.substr(at_))));
    }
    return string("descr must be a string");
  }

  bool boolean() {
    peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    refuse("fortran_order must be True or False");
  }

  /// A tuple of integers; one element needs its comma, as in Python.
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    bool comma = true;
    expect('(', "shape must be a tuple");
    while (peek() != ')') {
      if (!comma) refuse("sizes in shape are separated by ','");
      sizes.push_back(size());
      comma = peek() == ',';
      if (comma) ++at_;
    }
    if (sizes.size() == 1 && !comma) refuse("a shape of one size is written (n,)");
    ++at_;
    return sizes;
  }

  std::int64_t size() {
    if (peek() == '-') refuse("a size in shape must be >= 0");
    const std::size_t begin = at_;
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (__builtin_mul_overflow(value, 10, &value) ||
          __builtin_add_overflow(value, text_[at_] - '0', &value)) {
        at_ = begin;
        refuse("a size in shape must be below 2^63");
      }
    }
    if (at_ == begin) refuse("a size in shape must be a decimal integer");
    if (text_[begin] == '0' && at_ - begin > 1) {
      at_ = begin;
      refuse("a size in shape has no leading zeros");
    }
    // NumPy under Python 2 wrote long integers with this suffix.
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;
    return value;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  NpyLiteral literal_;
};

}  // namespace

NpyLiteral parse_npy_literal(std::string_view text, const std::string& file) {
  return Parser(text, file).parse();
}

}  // namespace tessera::io
