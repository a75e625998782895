// asm statements of device functions become the C++ that does the same, as one expression.
#include "simt/source/assembly.h"
#include "simt/source/rewrite.h"

namespace tessera::simt {
namespace {

bool is_asm(const Token& token) {
  return token.is("asm") || token.is("__asm__") || token.is("__asm");
}

/// The characters of adjacent string literals.
std::string string_value(const Tokens& tokens, Range range) {
  std::string value;
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (tokens[i].kind != TokenKind::kString) continue;
    const std::string_view text = tokens[i].text;
    if (text.starts_with("R\"")) {
      const std::size_t open = text.find('('), close = text.rfind(')');
      value += text.substr(open + 1, close - open - 1);
    } else {
      value += text.substr(1, text.size() - 2);
    }
  }
  return value;
}

struct Statement {
  std::string code;
  std::vector<std::string> operands;
  std::vector<std::string> names;  ///< [name] "r"(x), or empty
};

/// The operands in one part of the statement: [name] "constraint"(expression), ...
void read_operands(const Tokens& tokens, Range range, Statement* statement) {
  for (Range part : split_at_commas(tokens, range)) {
    std::size_t i = part.first;
    std::string name;
    if (tokens.is(i, "[")) {
      name = tokens[i + 1].text;
      i += 3;
    }
    if (!tokens.is(i + 1, "(") || tokens.partner[i + 1] == Tokens::npos) continue;
    statement->operands.push_back(tokens.join(i + 2, tokens.partner[i + 1]));
    statement->names.push_back(name);
  }
}

/// Parts between colons; `::` is two of them with nothing between.
Statement read_statement(const Tokens& tokens, Range range) {
  std::vector<Range> parts;
  std::size_t first = range.first;
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (tokens[i].is(":") || tokens[i].is("::")) {
      parts.push_back({first, i});
      if (tokens[i].is("::")) parts.push_back({i, i});
      first = i + 1;
    } else if (tokens.partner[i] != Tokens::npos && tokens.partner[i] > i) {
      i = tokens.partner[i];
    }
  }
  parts.push_back({first, range.last});
  Statement statement;
  statement.code = string_value(tokens, parts[0]);
  for (std::size_t i = 1; i < parts.size() && i < 3; ++i) {
    read_operands(tokens, parts[i], &statement);
  }
  for (std::size_t i = 0; i < statement.names.size(); ++i) {
    if (statement.names[i].empty()) continue;
    const std::string from = "%[" + statement.names[i] + "]", to = "%" + std::to_string(i);
    for (std::size_t at = 0; (at = statement.code.find(from)) != std::string::npos;) {
      statement.code.replace(at, from.size(), to);
    }
  }
  return statement;
}

}  // namespace

void rewrite_assembly(const Program& program) {
  const Tokens& tokens = program.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_asm(tokens[i])) continue;
    std::size_t open = i + 1;
    while (tokens.is_word(open)) ++open;  // volatile
    if (!tokens.is(open, "(") || tokens.partner[open] == Tokens::npos) continue;
    const Function* around = program.declarations.around(i);
    // Of the host's assembly the compiler is the judge.
    if (around != nullptr && !around->is_global && !around->is_device) continue;
    const std::size_t close = tokens.partner[open];
    const Statement statement = read_statement(tokens, {open + 1, close});
    const Assembly assembly = translate_assembly(statement.code, statement.operands);
    if (!assembly.unsupported.empty()) {
      program.refuse(i, assembly.unsupported, "This PTX instruction is not run.");
    }
    for (std::size_t j = i; j <= close; ++j) program.edits.replace(j, "");
    program.edits.insert_before(i, "({ " + assembly.text + "})");
    i = close;
  }
}

}  // namespace tessera::simt
