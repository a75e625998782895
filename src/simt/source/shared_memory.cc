// __shared__ declarations become references into the block's shared memory, of the arrays' own
// types, so that sizeof, bounds checks and overloads see what was written:
//   __shared__ float x[4], y;     float (&x)[4] = SHARED(x), &y = SHARED(y);
//   extern __shared__ float z[];  float (&z)[] = DYNAMIC(z);
// At file scope the name is declared with its type, and every function that uses it gets such a
// reference at the head of its body.
#include <algorithm>
#include <optional>
#include <set>

#include "simt/source/rewrite.h"

namespace tessera::simt {
namespace {

struct Declarator {
  Range range;
  std::size_t name = Tokens::npos;
  std::size_t behind_name = 0;  ///< the first token behind the array's extents
};

struct SharedDeclaration {
  std::size_t first = 0, semicolon = 0;
  std::vector<Declarator> declarators;
  std::vector<std::size_t> dropped;  ///< __shared__, extern, static and alignments
  std::string alignment;             ///< an expression, or empty
  bool is_dynamic = false;
};

bool begins_statement(const Token& token) {
  return token.is(";") || token.is("{") || token.is("}") || token.is(":");
}

bool is_alignment(const Tokens& tokens, std::size_t i) {
  return (tokens[i].is("alignas") || tokens[i].is("__align__") || tokens[i].is("__attribute__")) &&
         tokens.is(i + 1, "(") && tokens.partner[i + 1] != Tokens::npos;
}

/// 16 of alignas(16), __align__(16) or __attribute__((aligned(16))).
std::string alignment_of(const Tokens& tokens, std::size_t i) {
  std::size_t open = i + 1;
  if (tokens[i].is("__attribute__")) {
    if (!tokens.is(i + 2, "(") ||
        !(tokens.is(i + 3, "aligned") || tokens.is(i + 3, "__aligned__"))) {
      return "";
    }
    open = i + 4;
    if (!tokens.is(open, "(")) return "16";
  }
  return tokens.join(open + 1, tokens.partner[open]);
}

class SharedReader {
 public:
  SharedReader(const Tokens& tokens, std::size_t at) : tokens_(tokens), at_(at) {}

  /// Nothing when the declaration has a form that is not understood.
  std::optional<SharedDeclaration> read() {
    find_start();
    if (!find_declarators()) return std::nullopt;
    return std::move(found_);
  }

 private:
  void find_start() {
    found_.first = at_;
    while (found_.first > 0 && !begins_statement(tokens_[found_.first - 1]) &&
           !tokens_.is(found_.first - 1, ")")) {
      --found_.first;
    }
    // alignas(16) before __shared__
    while (found_.first >= 2 && tokens_.is(found_.first - 1, ")")) {
      const std::size_t open = tokens_.partner[found_.first - 1];
      if (open == Tokens::npos || open == 0) break;
      const std::size_t word = open - 1;
      if (!is_alignment(tokens_, word)) break;
      found_.first = word;
      while (found_.first > 0 && tokens_.is_word(found_.first - 1)) --found_.first;
    }
  }

  bool find_declarators() {
    std::size_t i = found_.first, start = i;
    bool in_angles_of_type = true;
    for (; i < tokens_.size() && !tokens_[i].is(";"); ++i) {
      const Token& token = tokens_[i];
      if (token.is("__shared__") || token.is("static") || token.is("extern")) {
        found_.dropped.push_back(i);
        if (token.is("extern")) found_.is_dynamic = true;
      } else if (is_alignment(tokens_, i)) {
        const std::string alignment = alignment_of(tokens_, i);
        if (!alignment.empty()) found_.alignment = alignment;
        const std::size_t close = tokens_.partner[i + 1];
        for (; i <= close; ++i) found_.dropped.push_back(i);
        --i;
      } else if (token.is("<") && in_angles_of_type) {
        i = behind_angles(tokens_, i) - 1;
        if (i >= tokens_.size()) return false;
      } else if (token.is("=")) {
        return false;  // CUDA has no initialisers here
      } else if (token.is(",")) {
        if (!add({start, i})) return false;
        start = i + 1;
      } else if (tokens_.partner[i] != Tokens::npos) {
        if (tokens_.partner[i] < i) return false;
        in_angles_of_type = in_angles_of_type && !token.is("[");
        i = tokens_.partner[i];
      }
    }
    found_.semicolon = i;
    return i < tokens_.size() && add({start, i});
  }

  bool is_dropped(std::size_t i) const {
    return std::find(found_.dropped.begin(), found_.dropped.end(), i) != found_.dropped.end();
  }

  /// The name is the last word before the extents.
  bool add(Range range) {
    Declarator declarator;
    declarator.range = range;
    std::size_t end = range.last;
    while (end > range.first && is_dropped(end - 1)) --end;
    declarator.behind_name = end;
    while (end > range.first && tokens_.is(end - 1, "]")) {
      end = tokens_.partner[end - 1];
      if (end == Tokens::npos) return false;
      while (end > range.first && is_dropped(end - 1)) --end;
    }
    if (end <= range.first || !tokens_.is_word(end - 1)) return false;
    declarator.name = end - 1;
    found_.declarators.push_back(declarator);
    return true;
  }

  const Tokens& tokens_;
  std::size_t at_;
  SharedDeclaration found_;
};

std::string place(const Tokens& tokens, std::size_t name) {
  return c_string(tokens[name].text) + ", " + c_string(tokens.file(name)) + ", " +
         std::to_string(tokens[name].line);
}

void drop(const Program& program, const SharedDeclaration& declaration) {
  for (std::size_t i : declaration.dropped) program.edits.blank(i, i + 1);
}

void rewrite_local(const Program& program, const SharedDeclaration& declaration) {
  const Tokens& tokens = program.tokens;
  drop(program, declaration);
  for (const Declarator& declarator : declaration.declarators) {
    const std::string name(tokens[declarator.name].text);
    const std::string alignment = declaration.alignment.empty() ? "1" : declaration.alignment;
    const std::string value = declaration.is_dynamic
                                  ? "simt_dynamic(" + name + ", " + c_string(name) + ", " +
                                        std::to_string(tokens[declarator.name].line) + ")"
                                  : "simt_static(" + name + ", " + place(tokens, declarator.name) +
                                        ", " + alignment + ")";
    program.edits.insert_before(declarator.name, "(&");
    program.edits.insert_behind(declarator.name, ")");
    program.edits.insert_behind(declarator.behind_name - 1, " = " + value);
  }
}

bool names(const Tokens& tokens, Range range, std::string_view name) {
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (tokens[i].is(name) && !(i > 0 && (tokens.is(i - 1, ".") || tokens.is(i - 1, "->")))) {
      return true;
    }
  }
  return false;
}

/// A name at file scope: its type is declared there, the reference in each body that uses it.
void rewrite_global(const Program& program, const SharedDeclaration& declaration) {
  const Tokens& tokens = program.tokens;
  drop(program, declaration);
  program.edits.insert_before(declaration.first, "extern ");
  std::string arrays;
  for (const Declarator& declarator : declaration.declarators) {
    const std::string name(tokens[declarator.name].text);
    const std::string type = "simt_type_" + name, array = "simt_array_" + name;
    program.edits.replace(declarator.name, type);
    std::string value = "simt_dynamic(" + type + ", " + c_string(name) + ", " +
                        std::to_string(tokens[declarator.name].line) + ")";
    if (!declaration.is_dynamic) {
      arrays += " static simt_shared_array " + array + " = ::simt::shared_array<decltype(" + type +
                ")>(" + place(tokens, declarator.name) + ", " +
                (declaration.alignment.empty() ? "1" : declaration.alignment) + ");";
      value = "::simt::shared<decltype(" + type + ")>(&" + array + ")";
    }
    for (const Function& function : program.declarations.functions) {
      if (!function.has_body || function.body.first < declaration.semicolon ||
          names(tokens, function.parameters, name) || !names(tokens, function.body, name)) {
        continue;
      }
      program.edits.insert_behind(function.body.first - 1, " auto& " + name + " = " + value + ";");
    }
  }
  program.edits.insert_behind(declaration.semicolon, arrays);
}

}  // namespace

void rewrite_shared(const Program& program) {
  const Tokens& tokens = program.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__shared__")) continue;
    const auto declaration = SharedReader(tokens, i).read();
    if (!declaration) {
      program.refuse(i, "__shared__", "This declaration of shared memory could not be read.");
      continue;
    }
    const Function* around = program.declarations.around(i);
    if (around != nullptr) {
      rewrite_local(program, *declaration);
    } else {
      rewrite_global(program, *declaration);
    }
    i = declaration->semicolon;
  }
}

}  // namespace tessera::simt
