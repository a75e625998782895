// The functions, variables and blocks of a program, as far as its rewriting needs them.
#pragma once

#include <string>
#include <vector>

#include "simt/source/tokens.h"

namespace tessera::simt {

/// Tokens [first, last).
struct Range {
  std::size_t first = 0, last = 0;
  bool contains(std::size_t i) const { return first <= i && i < last; }
};

/// A function at namespace or class scope.
struct Function {
  Range declaration;             ///< up to its body, or its semicolon
  Range name;                    ///< one word, or with the arguments of a specialisation
  Range parameters;              ///< between the parentheses
  std::vector<Range> templates;  ///< between the angles of `template <...>`
  Range body;                    ///< between the braces; empty without one
  bool has_body = false;
  bool is_global = false, is_device = false, is_host = false, is_constexpr = false;
  bool is_instantiation = false;  ///< template void k<int>(...);
  bool in_class = false;
  std::string scope;  ///< "ns::", or empty

  /// Runs on the device only.
  bool device_only() const { return is_global || (is_device && !is_host); }
};

/// A declaration at namespace scope that is no function.
struct Variable {
  Range declaration;  ///< without its semicolon
  std::string scope;
};

struct Declarations {
  std::vector<Function> functions;
  std::vector<Variable> variables;

  /// The function whose body holds the token, or null.
  const Function* around(std::size_t token) const;
};

Declarations find_declarations(const Tokens& tokens);

/// Splits [first, last) at commas outside all brackets, angles among them.
std::vector<Range> split_at_commas(const Tokens& tokens, Range range);

}  // namespace tessera::simt
