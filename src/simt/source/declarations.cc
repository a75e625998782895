#include "simt/source/declarations.h"

#include <algorithm>
#include <array>

namespace tessera::simt {
namespace {

/// Words before a parenthesis that are no function's name.
bool is_attribute(std::string_view word) {
  static constexpr std::array<std::string_view, 16> kWords = {
      "__launch_bounds__", "alignas",  "__align__",   "__attribute__",    "__attribute", "decltype",
      "noexcept",          "requires", "__maxnreg__", "__cluster_dims__", "__declspec",  "explicit",
      "__block_size__",    "throw",    "__typeof__",  "static_assert"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

class Reader {
 public:
  explicit Reader(const Tokens& tokens) : tokens_(tokens) {}

  Declarations read() {
    block({0, tokens_.size()}, "", false);
    return std::move(found_);
  }

 private:
  /// One declaration while it is read.
  struct State {
    std::size_t first = 0;
    Function function;
    bool has_parameters = false, has_initialiser = false, has_colon = false;
    bool is_type = false, is_enum = false, is_namespace = false, is_operator = false;
    std::string type_name;
    std::string qualifiers;  ///< "ns::" of `void ns::k()`
  };

  void block(Range range, const std::string& scope, bool in_class) {
    constexpr int kDeepest = 200;
    if (depth_ > kDeepest) return;
    ++depth_;
    std::size_t i = range.first;
    while (i < range.last) {
      if (tokens_.is(i, ";") || tokens_.is(i, "}")) {
        ++i;
      } else if (in_class && tokens_.is(i + 1, ":") &&
                 (tokens_.is(i, "public") || tokens_.is(i, "private") ||
                  tokens_.is(i, "protected"))) {
        i += 2;
      } else {
        i = declaration(i, range.last, scope, in_class);
      }
    }
    --depth_;
  }

  /// Returns the index behind it.
  std::size_t declaration(std::size_t first, std::size_t last, const std::string& scope,
                          bool in_class) {
    State state;
    state.first = first;
    state.function.scope = scope;
    state.function.in_class = in_class;
    for (std::size_t i = first; i < last;) {
      const Token& token = tokens_[i];
      if (token.is(";")) {
        finish(state, i, in_class);
        return i + 1;
      }
      if (token.is("}")) return i + 1;
      if (token.is("{")) {
        const std::size_t close = tokens_.partner[i];
        if (close == Tokens::npos) return last;
        if (brace(state, i, close)) return close + 1;
        i = close + 1;
        continue;
      }
      i = word(state, i);
      if (i == Tokens::npos) return last;
    }
    return last;
  }

  /// A token outside braces; returns the next index.
  std::size_t word(State& state, std::size_t i) {
    const Token& token = tokens_[i];
    if (token.is("template")) {
      if (!tokens_.is(i + 1, "<")) {
        state.function.is_instantiation = true;
        return i + 1;
      }
      const std::size_t behind = behind_angles(tokens_, i + 1);
      if (behind != Tokens::npos) state.function.templates.push_back({i + 2, behind - 1});
      return behind;
    }
    if (token.is("(") || token.is("[")) {
      const std::size_t close = tokens_.partner[i];
      if (close == Tokens::npos) return close;
      if (token.is("(") && !state.has_initialiser && !state.has_colon) {
        parameters(state, i, close);
      }
      return close + 1;
    }
    if (token.is("=") && !tokens_.is(i - 1, "operator")) state.has_initialiser = true;
    if (token.is(":") && state.has_parameters) state.has_colon = true;
    if (token.is("operator")) state.is_operator = true;
    if (token.is_word()) note_word(state, i);
    return i + 1;
  }

  void note_word(State& state, std::size_t i) {
    const Token& token = tokens_[i];
    Function& function = state.function;
    if (token.is("__global__")) function.is_global = true;
    if (token.is("__device__")) function.is_device = true;
    if (token.is("__host__")) function.is_host = true;
    if (token.is("constexpr") || token.is("consteval")) function.is_constexpr = true;
    if (token.is("namespace")) state.is_namespace = true;
    if (token.is("enum")) state.is_enum = true;
    if ((token.is("class") || token.is("struct") || token.is("union")) && !state.has_parameters) {
      state.is_type = true;
    } else if ((state.is_type && state.type_name.empty() && !is_attribute(token.text)) ||
               (state.is_namespace && !token.is("namespace") && !token.is("inline"))) {
      state.type_name += std::string(state.type_name.empty() ? "" : "::") + std::string(token.text);
    }
  }

  /// Takes the parenthesis at `open` for the parameters when a name stands before it.
  void parameters(State& state, std::size_t open, std::size_t close) {
    if (open == state.first) return;
    std::size_t name = open - 1;
    if (tokens_.is(name, ">")) {
      name = angle_before(tokens_, name);
      if (name == Tokens::npos || name == 0) return;
      --name;
    }
    const bool is_call_operator =
        tokens_.is(name, ")") && name >= 2 && tokens_.is(name - 2, "operator");
    if (!is_call_operator && !state.is_operator &&
        (!tokens_.is_word(name) || is_attribute(tokens_[name].text))) {
      return;
    }
    if (tokens_.is(name, "operator")) return;
    state.qualifiers = qualifiers_before(name);
    state.has_parameters = true;
    state.function.name = {name, open};
    state.function.parameters = {open + 1, close};
  }

  /// "a::B::" of `a::B<T>::name`, the name at `name`.
  std::string qualifiers_before(std::size_t name) const {
    std::string text;
    while (name >= 2 && tokens_.is(name - 1, "::")) {
      std::size_t word = name - 2;
      if (tokens_.is(word, ">")) {
        word = angle_before(tokens_, word);
        if (word == Tokens::npos || word == 0) break;
        --word;
      }
      if (!tokens_.is_word(word)) break;
      text = std::string(tokens_[word].text) + "::" + text;
      name = word;
    }
    return text;
  }

  /// Returns true when the declaration ends with this pair of braces.
  bool brace(State& state, std::size_t open, std::size_t close) {
    if (state.is_namespace && !state.has_parameters) {
      const std::string& name = state.type_name;
      block({open + 1, close}, state.function.scope + (name.empty() ? "" : name + "::"), false);
      return true;
    }
    if (tokens_.is(state.first, "extern") && state.first + 2 == open &&
        tokens_[open - 1].kind == TokenKind::kString) {
      block({open + 1, close}, state.function.scope, state.function.in_class);
      return true;
    }
    if (state.has_parameters && !state.has_initialiser) {
      const bool initialises_member = state.has_colon &&
                                      (tokens_.is_word(open - 1) || tokens_.is(open - 1, ">")) &&
                                      (tokens_.is(close + 1, ",") || tokens_.is(close + 1, "{"));
      if (initialises_member) return false;
      state.function.has_body = true;
      state.function.body = {open + 1, close};
      finish(state, open, state.function.in_class);
      return true;
    }
    if (state.is_type && !state.is_enum && !state.has_initialiser) {
      block({open + 1, close}, state.function.scope + state.type_name + "::", true);
    }
    return false;
  }

  void finish(State& state, std::size_t end, bool in_class) {
    const std::string scope = state.function.scope;
    state.function.declaration = {state.first, end};
    state.function.scope += state.qualifiers;
    if (state.has_parameters && !tokens_.is(state.first, "using") &&
        !tokens_.is(state.first, "typedef")) {
      // `dim3 grid(1, 2);` reads like a function too; harmless, since it has no body.
      found_.functions.push_back(std::move(state.function));
    }
    if (!in_class && !state.function.has_body) {
      found_.variables.push_back({{state.first, end}, scope});
    }
  }

  const Tokens& tokens_;
  Declarations found_;
  int depth_ = 0;
};

}  // namespace

const Function* Declarations::around(std::size_t token) const {
  for (const Function& function : functions) {
    if (function.has_body && function.body.contains(token)) return &function;
  }
  return nullptr;
}

Declarations find_declarations(const Tokens& tokens) { return Reader(tokens).read(); }

std::vector<Range> split_at_commas(const Tokens& tokens, Range range) {
  std::vector<Range> parts;
  std::size_t first = range.first;
  for (std::size_t i = range.first; i < range.last; ++i) {
    const Token& token = tokens[i];
    if (token.is("(") || token.is("[") || token.is("{")) {
      if (tokens.partner[i] == Tokens::npos) break;
      i = tokens.partner[i];
    } else if (token.is("<")) {
      const std::size_t behind = behind_angles(tokens, i);
      if (behind != Tokens::npos && behind <= range.last) i = behind - 1;
    } else if (token.is(",")) {
      parts.push_back({first, i});
      first = i + 1;
    }
  }
  if (first < range.last) parts.push_back({first, range.last});
  return parts;
}

}  // namespace tessera::simt
