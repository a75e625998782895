// What a lone kernel needs of its file. Beside it there may be host code that compares with a
// library, and kernels for hardware that is not modelled; neither keeps it from being run.
#include <algorithm>
#include <map>
#include <set>

#include "simt/source/rewrite.h"

namespace tessera::simt {
namespace {

class Needs {
 public:
  Needs(const Tokens& tokens, const Declarations& declarations,
        const std::vector<Refusal>& refusals, const std::string& kernel)
      : tokens_(tokens), functions_(declarations.functions), variables_(declarations.variables) {
    for (std::size_t i = 0; i < functions_.size(); ++i) by_name_.emplace(name_of(i), i);
    for (const Refusal& refusal : refusals) refused_.insert(refusal.at);
    is_live_.resize(functions_.size());
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const bool is_wanted = kernel.empty() || name_of(i) == kernel;
      const bool is_solve = name_of(i) == "solve" && !functions_[i].device_only();
      if (is_wanted && (functions_[i].is_global || is_solve)) live(i);
    }
  }

  std::vector<Range> unneeded() {
    is_dropped_.resize(functions_.size() + variables_.size());
    // Each round drops what uses something that the round before has dropped.
    while (round()) {
    }
    std::vector<Range> ranges;
    for (std::size_t i = 0; i < is_dropped_.size(); ++i) {
      if (is_dropped_[i]) ranges.push_back(range_of(i));
    }
    return ranges;
  }

 private:
  std::string_view name_of(std::size_t function) const {
    return tokens_[functions_[function].name.first].text;
  }

  /// Of functions first, then of variables and types; with the closing brace or semicolon.
  Range range_of(std::size_t i) const {
    if (i >= functions_.size()) {
      const Range range = variables_[i - functions_.size()].declaration;
      return {range.first, range.last + 1};
    }
    const Function& function = functions_[i];
    return {function.declaration.first,
            (function.has_body ? function.body.last : function.declaration.last) + 1};
  }

  void live(std::size_t function) {
    std::vector<std::size_t> open = {function};
    while (!open.empty()) {
      const std::size_t i = open.back();
      open.pop_back();
      if (is_live_[i]) continue;
      is_live_[i] = true;
      const Range range = range_of(i);
      for (std::size_t t = range.first; t < range.last && t < tokens_.size(); ++t) {
        if (!tokens_[t].is_word()) continue;
        const auto [first, last] = by_name_.equal_range(tokens_[t].text);
        for (auto named = first; named != last; ++named) open.push_back(named->second);
      }
    }
  }

  bool round() {
    bool dropped = false;
    for (std::size_t i = 0; i < is_dropped_.size(); ++i) {
      const bool is_needed = i < functions_.size() && is_live_[i];
      if (is_dropped_[i] || is_needed || !asks_for_more(range_of(i))) continue;
      is_dropped_[i] = dropped = true;
      names_.insert(i < functions_.size() ? name_of(i) : variable_name(range_of(i)));
    }
    return dropped;
  }

  bool asks_for_more(Range range) const {
    if (range.first >= tokens_.size() || range.first >= range.last) return false;
    const std::size_t last = std::min(range.last, tokens_.size()) - 1;
    const auto refused = refused_.lower_bound(tokens_[range.first].begin);
    if (refused != refused_.end() && *refused < tokens_[last].end()) return true;
    for (std::size_t i = range.first; i <= last; ++i) {
      if (!tokens_[i].is_word() || names_.count(tokens_[i].text) == 0) continue;
      if (i == 0 || (!tokens_.is(i - 1, ".") && !tokens_.is(i - 1, "->"))) return true;
    }
    return false;
  }

  /// `h` of `cublasHandle_t h = 0;`, `S` of `struct S { ... };`.
  std::string_view variable_name(Range range) const {
    std::string_view name;
    for (std::size_t i = range.first; i < range.last && i < tokens_.size(); ++i) {
      if (tokens_.is(i, "=") || tokens_.is(i, "[") || tokens_.is(i, "{")) break;
      if (tokens_.is_word(i)) name = tokens_[i].text;
    }
    return name;
  }

  const Tokens& tokens_;
  const std::vector<Function>& functions_;
  const std::vector<Variable>& variables_;
  std::multimap<std::string_view, std::size_t> by_name_;
  std::set<std::size_t> refused_;  // offsets
  std::vector<bool> is_live_, is_dropped_;
  std::set<std::string_view> names_;  // of what was dropped
};

}  // namespace

std::string without_unneeded(const Tokens& tokens, const Declarations& declarations,
                             const std::vector<Refusal>& refusals, const std::string& kernel) {
  std::string text(tokens.text);
  for (const Range& range : Needs(tokens, declarations, refusals, kernel).unneeded()) {
    // Token by token: line markers between them stay.
    for (std::size_t i = range.first; i < range.last && i < tokens.size(); ++i) {
      const auto begin = text.begin() + static_cast<std::ptrdiff_t>(tokens[i].begin);
      std::replace_if(
          begin, begin + static_cast<std::ptrdiff_t>(tokens[i].text.size()),
          [](char c) { return c != '\n'; }, ' ');
    }
  }
  return text;
}

}  // namespace tessera::simt
