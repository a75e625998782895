#include "simt/gemm/expression.h"

#include <cctype>
#include <charconv>

#include "simt/gemm/tokens.h"

namespace tessera::simt {

struct Expression::Node {
  enum class Kind { kNumber, kName, kAdd, kSubtract, kMultiply, kDivide, kCeil } kind;
  std::int64_t value = 0;
  std::string name = {};
  std::shared_ptr<const Node> left = {}, right = {};
};

namespace {

using Node = Expression::Node;
using Pointer = std::shared_ptr<const Node>;
using Kind = Node::Kind;

// More than any launch rule has; they bound the recursion on hostile text.
constexpr int kDeepest = 100;
constexpr std::size_t kMostWords = 500;

Pointer pair(Kind kind, Pointer left, Pointer right) {
  return std::make_shared<Node>(Node{kind, 0, {}, std::move(left), std::move(right)});
}

bool is_sign(const std::string& word) {
  return word == "+" || word == "-" || word == "*" || word == "/";
}

/// Recursive descent; null is no expression.
class Parser {
 public:
  explicit Parser(std::vector<std::string> words) : words_(std::move(words)) {}
  Pointer whole() {
    if (words_.size() > kMostWords) return wrong("it is too long");
    Pointer out = sum();
    return !out || at_ == words_.size() ? out : no_sign_here();
  }
  const std::string& why() const { return why_; }

 private:
  /// The first thing that is wrong counts.
  Pointer wrong(const std::string& why) {
    if (why_.empty()) why_ = why;
    return nullptr;
  }
  /// `at`: the word in whose place something to calculate with should be.
  Pointer nothing_at(std::size_t at) {
    const std::string before = at == 0 ? "" : words_[at - 1];
    if (at >= words_.size()) {
      return wrong(at == 0 ? "it is empty" : "nothing follows '" + before + "'");
    }
    const std::string& word = words_[at];
    if (!is_sign(word)) return wrong("'" + word + "' is no number, size or ceil");
    return wrong("'" + word + "' " + (at == 0 ? "at the beginning" : "behind '" + before + "'") +
                 " has nothing on its left: there are no signs of numbers, write 0 - x");
  }
  Pointer no_sign_here() {
    const std::string& word = words_[at_];
    if (word == ")") return wrong("')' has no '(' before it");
    if (word == "(" || is_identifier(word) || std::isdigit(static_cast<unsigned char>(word[0]))) {
      return wrong("'" + word + "' follows '" + words_[at_ - 1] + "' without + - * or / between");
    }
    return wrong("'" + word + "' is none of + - * /");
  }
  Pointer missing_end(std::size_t open) {
    if (at_ < words_.size() && words_[at_] != ",") return no_sign_here();
    return wrong("a ')' is missing: the '(' " +
                 (open == 0 ? "at the beginning" : "behind '" + words_[open - 1] + "'") +
                 " is not closed");
  }
  bool take(const char* sign) {
    if (at_ >= words_.size() || words_[at_] != sign) return false;
    ++at_;
    return true;
  }
  Pointer sum() {
    if (++depth_ > kDeepest) return wrong("its brackets are too deep");
    Pointer left = product();
    while (left) {
      const bool add = take("+");
      if (!add && !take("-")) break;
      Pointer right = product();
      if (!right) return nullptr;
      left = pair(add ? Kind::kAdd : Kind::kSubtract, left, right);
    }
    --depth_;
    return left;
  }
  Pointer product() {
    Pointer left = atom();
    while (left) {
      const bool multiply = take("*");
      if (!multiply && !take("/")) break;
      Pointer right = atom();
      if (!right) return nullptr;
      left = pair(multiply ? Kind::kMultiply : Kind::kDivide, left, right);
    }
    return left;
  }
  Pointer atom() {
    if (take("(")) {
      const std::size_t open = at_ - 1;
      Pointer inside = sum();
      return !inside || take(")") ? inside : missing_end(open);
    }
    if (at_ >= words_.size()) return nothing_at(at_);
    const std::string word = words_[at_++];
    if (word == "ceil") return ceiling();
    if (is_identifier(word)) return std::make_shared<Node>(Node{Kind::kName, 0, word});
    std::int64_t value = 0;
    const char* end = word.data() + word.size();
    const auto read = std::from_chars(word.data(), end, value);
    if (read.ec == std::errc::result_out_of_range) return wrong("'" + word + "' is too large");
    if (read.ec != std::errc()) return nothing_at(at_ - 1);
    for (const char* c = read.ptr; c != end; ++c) {
      const int letter = std::tolower(static_cast<unsigned char>(*c));
      if (letter != 'u' && letter != 'l') return wrong("'" + word + "' is no whole number");
    }
    return std::make_shared<Node>(Node{Kind::kNumber, value});
  }
  Pointer ceiling() {
    const std::size_t open = at_;
    if (!take("(")) return wrong("ceil has no '(' behind it");
    Pointer inside = sum();
    if (!inside) return nullptr;
    if (!take(")")) return missing_end(open);
    if (inside->kind != Kind::kDivide) return inside;
    return pair(Kind::kCeil, inside->left, inside->right);
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string why_;
};

using Value = std::optional<std::int64_t>;

Value divide(std::int64_t a, std::int64_t b, bool up) {
  if (b <= 0) return {};
  const std::int64_t q = a / b, r = a % b;
  if (r == 0) return q;
  if (up) return r > 0 ? q + 1 : q;
  return r < 0 ? q - 1 : q;
}

Value evaluate(const Node& node, const Expression::Lookup& lookup) {
  if (node.kind == Kind::kNumber) return node.value;
  if (node.kind == Kind::kName) return lookup(node.name);
  const Value a = evaluate(*node.left, lookup), b = evaluate(*node.right, lookup);
  std::int64_t out = 0;
  if (!a || !b) return {};
  switch (node.kind) {
    case Kind::kAdd:
      return __builtin_add_overflow(*a, *b, &out) ? Value() : out;
    case Kind::kSubtract:
      return __builtin_sub_overflow(*a, *b, &out) ? Value() : out;
    case Kind::kMultiply:
      return __builtin_mul_overflow(*a, *b, &out) ? Value() : out;
    default:
      return divide(*a, *b, node.kind == Kind::kCeil);
  }
}

std::string code(const Node& node, const std::function<std::string(const std::string&)>& name) {
  if (node.kind == Kind::kNumber) return std::to_string(node.value) + "LL";
  if (node.kind == Kind::kName) return name(node.name);
  const std::string a = code(*node.left, name), b = code(*node.right, name);
  if (node.kind == Kind::kCeil) return "simt_ceil_div(" + a + ", " + b + ")";
  const char* sign = node.kind == Kind::kAdd        ? " + "
                     : node.kind == Kind::kSubtract ? " - "
                     : node.kind == Kind::kMultiply ? " * "
                                                    : " / ";
  return "(" + a + sign + b + ")";
}

void names(const Node& node, std::vector<std::string>& out) {
  if (node.kind == Kind::kName) out.push_back(node.name);
  if (node.left) names(*node.left, out);
  if (node.right) names(*node.right, out);
}

}  // namespace

std::optional<Expression> Expression::parse(const std::string& text, std::string* why) {
  Expression out;
  Parser parser(tokens(text));
  out.root_ = parser.whole();
  out.text_ = text;
  if (why != nullptr) *why = parser.why();
  if (!out.root_) return {};
  return out;
}

Expression Expression::number(std::int64_t value) {
  Expression out;
  out.root_ = std::make_shared<Node>(Node{Kind::kNumber, value});
  out.text_ = std::to_string(value);
  return out;
}

std::optional<std::int64_t> Expression::evaluate(const Lookup& lookup) const {
  return simt::evaluate(*root_, lookup);
}

std::string Expression::code(const std::function<std::string(const std::string&)>& name) const {
  return simt::code(*root_, name);
}

std::vector<std::string> Expression::names() const {
  std::vector<std::string> out;
  simt::names(*root_, out);
  return out;
}

}  // namespace tessera::simt
