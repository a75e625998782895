// Integer expressions: of a launch rule ("ceil(N/16)"), of constants and of launch bounds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::simt {

/// Numbers, names, + - * / ( ) and ceil(a / b). Division rounds down.
class Expression {
 public:
  /// No value for text that is not one; `why` then says in a few words what is wrong with it.
  static std::optional<Expression> parse(const std::string& text, std::string* why = nullptr);
  static Expression number(std::int64_t value);

  using Lookup = std::function<std::optional<std::int64_t>(const std::string& name)>;
  /// No value for an unknown name, a divisor below 1 or a result beyond 64 bits.
  std::optional<std::int64_t> evaluate(const Lookup& lookup) const;
  /// As C++ over long long, with `simt_ceil_div`; names become what `name` returns.
  std::string code(const std::function<std::string(const std::string&)>& name) const;
  std::vector<std::string> names() const;
  const std::string& text() const { return text_; }

  struct Node;

 private:
  std::shared_ptr<const Node> root_;
  std::string text_;
};

}  // namespace tessera::simt
