// Other names of types, by which the elements of a lone kernel's matrices are known.
#include <map>
#include <optional>

#include "simt/source/rewrite.h"

namespace tessera::simt {
namespace {

struct Alias {
  std::string_view name;
  Range type;
};

/// `typedef T name` or `using name = T`.
std::optional<Alias> alias_in(const Tokens& tokens, Range range) {
  if (range.last < range.first + 3) return std::nullopt;
  if (tokens.is(range.first, "typedef")) {
    return Alias{tokens[range.last - 1].text, {range.first + 1, range.last - 1}};
  }
  if (tokens.is(range.first, "using") && tokens.is(range.first + 2, "=")) {
    return Alias{tokens[range.first + 1].text, {range.first + 3, range.last}};
  }
  return std::nullopt;
}

bool is_plain(const Tokens& tokens, Range range) {
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (!tokens.is_word(i) && !tokens.is(i, "::")) return false;
  }
  return range.first < range.last;
}

}  // namespace

std::vector<Constant> find_aliases(const Tokens& tokens, const Declarations& declarations) {
  std::map<std::string, std::string, std::less<>> known;
  std::vector<Constant> aliases;
  for (const Variable& variable : declarations.variables) {
    const auto alias = alias_in(tokens, variable.declaration);
    if (!alias || !is_plain(tokens, alias->type)) continue;
    std::string type = tokens.join(alias->type.first, alias->type.last);
    // A name is declared before it is used, so one look leads to the end.
    if (const auto found = known.find(type); found != known.end()) type = found->second;
    const std::string name(alias->name);
    known[name] = type;
    aliases.push_back({name, type});
  }
  return aliases;
}

}  // namespace tessera::simt
