// Launches become calls of simt_launch.h:
//   k<T><<<g, b>>>(x)        ::simt::launch(SITE, k<T>).on(g, b).run(x)
// The type of the function converts the arguments, as a call does. Where template arguments are
// deduced, or where a default argument is left out, a lambda makes the call:
//   k<<<g, b>>>(x)           ::simt::launch_deduced(SITE, nullptr, [&](auto... a) { k(a...); })...
#include <algorithm>
#include <array>
#include <optional>

#include "simt/source/rewrite.h"

namespace tessera::simt {
namespace {

std::string kernel_name(std::size_t index) { return "::simt_kernel_" + std::to_string(index); }

/// An expression for the launch site: one static object for each place and instantiation.
std::string site(const Program& program, std::size_t at, const std::string& expression,
                 std::size_t kernel) {
  const std::string entry = kernel == Tokens::npos ? "nullptr" : "&" + kernel_name(kernel);
  return "simt_site(" + c_string(expression) + ", " + c_string(program.tokens.file(at)) + ", " +
         std::to_string(program.tokens[at].line) + ", " + entry + ")";
}

/// What stands before `<<<`.
struct Callee {
  Range range;
  std::string text;
  bool is_name = false;        ///< a name, perhaps qualified and with template arguments
  std::string qualified_name;  ///< without template arguments
  Range template_arguments;    ///< of the last word; empty without
  bool has_template_arguments = false;
};

bool is_keyword(const Token& token) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "return", "else", "do", "case", "throw", "co_yield", "in", "typename"};
  return std::find(kWords.begin(), kWords.end(), token.text) != kWords.end();
}

/// Reads backwards from the token at `last`: names, template arguments, calls, subscripts, members.
std::optional<Callee> read_callee(const Tokens& tokens, std::size_t last) {
  Callee callee;
  callee.is_name = true;
  std::vector<std::string> names;
  std::size_t first = last + 1;
  bool at_end = true;
  while (first > 0) {
    std::size_t i = first - 1;
    if (tokens.is(i, ")") || tokens.is(i, "]")) {
      if (tokens.partner[i] == Tokens::npos) return std::nullopt;
      callee.is_name = false;
      first = tokens.partner[i];
    } else {
      Range arguments;
      if (tokens.is(i, ">")) {
        const std::size_t open = angle_before(tokens, i);
        if (open == Tokens::npos || open == 0) return std::nullopt;
        arguments = {open + 1, i};
        i = open - 1;
      }
      if (!tokens.is_word(i) || is_keyword(tokens[i])) return std::nullopt;
      if (at_end && arguments.last != 0) {
        callee.has_template_arguments = true;
        callee.template_arguments = arguments;
      }
      names.insert(names.begin(), std::string(tokens[i].text));
      first = i;
    }
    at_end = false;
    // What joins this part to one before it?
    if (first == 0) break;
    const std::size_t before = first - 1;
    const bool is_postfix = tokens.is(first, "(") || tokens.is(first, "[");
    if (is_postfix) {
      const bool continues = (tokens.is_word(before) && !is_keyword(tokens[before])) ||
                             tokens.is(before, ")") || tokens.is(before, "]");
      if (!continues) break;
      continue;
    }
    if (tokens.is(before, "template") && before > 0) {
      first = before;
    }
    const std::size_t joint = first - 1;
    if (tokens.is(joint, ".") || tokens.is(joint, "->")) {
      callee.is_name = false;
      first = joint;
    } else if (tokens.is(joint, "::")) {
      first = joint;
      const bool is_global =
          joint == 0 || (!tokens.is_word(joint - 1) && !tokens.is(joint - 1, ">"));
      if (is_global || is_keyword(tokens[joint - 1])) break;
    } else {
      break;
    }
  }
  callee.range = {first, last + 1};
  callee.text = tokens.join(first, last + 1);
  for (const std::string& name : names) {
    if (name == "template") continue;
    callee.qualified_name += (callee.qualified_name.empty() ? "" : "::") + name;
  }
  return callee;
}

std::size_t kernel_at(const Program& program, std::size_t at, const Callee& callee) {
  const Function* around = program.declarations.around(at);
  return program.kernels.find(callee.qualified_name, around == nullptr ? "" : around->scope);
}

/// The call that a callee needs, up to where the launch configuration opens.
std::string launch_call(const Program& program, std::size_t at, const Callee& callee,
                        std::size_t argument_count) {
  const std::size_t index = callee.is_name ? kernel_at(program, at, callee) : Tokens::npos;
  const std::string place = site(program, at, callee.text, index);
  if (index == Tokens::npos) return "::simt::launch(" + place + ", " + callee.text + ")";
  const Kernel& kernel = program.kernels.all[index];
  const std::size_t given = callee.has_template_arguments
                                ? split_at_commas(program.tokens, callee.template_arguments).size()
                                : 0;
  const bool is_complete = !kernel.is_overloaded && !kernel.has_pack &&
                           (!kernel.is_template || (callee.has_template_arguments &&
                                                    given >= kernel.required_template_arguments));
  const bool is_full = argument_count == kernel.signature.parameters.size();
  if (is_complete && (is_full || !kernel.has_defaults)) {
    return "::simt::launch(" + place + ", " + callee.text + ")";
  }
  return "::simt::launch_deduced(" + place + ", " +
         (is_complete ? "(const void*)+" + callee.text : "nullptr") +
         ", [&](auto... simt_a) simt_quiet { " + callee.text + "(simt_a...); })";
}

/// `<<<` as the compiler's tokens may spell it; returns its length in tokens or 0.
std::size_t launch_open(const Tokens& tokens, std::size_t i) {
  if (i > 0 && tokens.is(i - 1, "operator")) return 0;
  if (tokens.is(i, "<<<")) return 1;
  return tokens.is(i, "<<") && tokens.is(i + 1, "<") ? 2 : 0;
}

/// The first of the three `>` before the arguments, or npos.
std::size_t launch_close(const Tokens& tokens, std::size_t i) {
  for (; i < tokens.size(); ++i) {
    if (tokens.is(i, ">") && tokens.is(i + 1, ">") && tokens.is(i + 2, ">") &&
        tokens.is(i + 3, "(")) {
      return i;
    }
    if (tokens.is(i, ";") || tokens.is(i, ")") || tokens.is(i, "]") || tokens.is(i, "}")) {
      return Tokens::npos;
    }
    if (tokens.partner[i] != Tokens::npos) i = tokens.partner[i];
  }
  return Tokens::npos;
}

void refuse_nested(const Program& program, std::size_t at, const std::string& what) {
  const Function* around = program.declarations.around(at);
  if (around == nullptr || !around->device_only()) return;
  program.refuse(at, what, "A kernel that launches kernels (dynamic parallelism) is not run.");
}

void rewrite_chevrons(const Program& program, std::size_t open, std::size_t length) {
  const Tokens& tokens = program.tokens;
  const std::size_t close = launch_close(tokens, open + length);
  const auto callee = open == 0 ? std::nullopt : read_callee(tokens, open - 1);
  if (close == Tokens::npos || !callee) {
    program.refuse(open, "<<<", "This launch could not be read.");
    return;
  }
  refuse_nested(program, open, callee->text + "<<<...>>>");
  const std::size_t last = tokens.partner[close + 3];
  const std::size_t arguments =
      last == Tokens::npos ? 0 : split_at_commas(tokens, {close + 4, last}).size();
  program.edits.insert_before(
      callee->range.first, launch_call(program, callee->range.first, *callee, arguments) + ".on(");
  for (std::size_t i = callee->range.first; i < callee->range.last; ++i) {
    program.edits.replace(i, "");
  }
  for (std::size_t i = open; i < open + length; ++i) program.edits.replace(i, "");
  // Arguments of a call that deduces its types must have the types that they stand for.
  for (std::size_t i = close + 4; i < last && last != Tokens::npos; ++i) {
    if (tokens[i].is("__null")) program.edits.replace(i, "nullptr");
  }
  program.edits.replace(close, ").run");
  program.edits.replace(close + 1, "");
  program.edits.replace(close + 2, "");
}

/// The kernel within `(void*)k<T>`, `&k`, `reinterpret_cast<const void*>(k)` and the like.
Range without_cast(const Tokens& tokens, Range range) {
  while (range.first < range.last) {
    if (tokens.is(range.first, "&")) {
      ++range.first;
    } else if ((tokens.is(range.first, "reinterpret_cast") ||
                tokens.is(range.first, "static_cast")) &&
               tokens.is(range.first + 1, "<")) {
      const std::size_t open = behind_angles(tokens, range.first + 1);
      if (open == Tokens::npos || !tokens.is(open, "(") || tokens.partner[open] == Tokens::npos) {
        break;
      }
      range = {open + 1, tokens.partner[open]};
    } else if (tokens.is(range.first, "(") && tokens.partner[range.first] != Tokens::npos) {
      const std::size_t close = tokens.partner[range.first];
      const bool is_cast = tokens.is(close - 1, "*") && close + 1 < range.last;
      if (is_cast) {
        range.first = close + 1;
      } else if (close + 1 == range.last) {
        range = {range.first + 1, close};
      } else {
        break;
      }
    } else {
      break;
    }
  }
  return range;
}

struct LaunchFunction {
  std::string_view name, method;
  std::size_t kernel_argument;
};
constexpr std::array<LaunchFunction, 3> kLaunchFunctions = {{
    {"cudaLaunchKernel", "pointers", 0},
    {"cudaLaunchKernelExC", "pointers_ex", 1},
    {"cudaLaunchKernelEx", "values", 1},
}};

void rewrite_call(const Program& program, std::size_t at, const LaunchFunction& function) {
  const Tokens& tokens = program.tokens;
  const std::size_t close = tokens.partner[at + 1];
  if (close == Tokens::npos) return;
  const std::vector<Range> arguments = split_at_commas(tokens, {at + 2, close});
  if (arguments.size() <= function.kernel_argument) return;
  refuse_nested(program, at, std::string(function.name));
  const Range argument = arguments[function.kernel_argument];
  const Range kernel = without_cast(tokens, argument);
  const std::string text = tokens.join(kernel.first, kernel.last);
  const auto callee = read_callee(tokens, kernel.last - 1);
  const bool is_name = callee && callee->is_name && callee->range.first <= kernel.first;
  const std::size_t index = is_name ? kernel_at(program, at, *callee) : Tokens::npos;
  // The type of an error is the header's, not this one's.
  const bool is_qualified = at > 0 && tokens.is(at - 1, "::");
  program.edits.replace(is_qualified ? at - 1 : at, "::cudaError_t(::simt::at(" +
                                                        site(program, at, text, index) + ")." +
                                                        std::string(function.method));
  if (is_qualified) program.edits.replace(at, "");
  program.edits.blank(argument.first, kernel.first);
  program.edits.blank(kernel.last, argument.last);
  program.edits.insert_behind(close, ")");
}

}  // namespace

void rewrite_launches(const Program& program) {
  const Tokens& tokens = program.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (const std::size_t length = launch_open(tokens, i); length > 0) {
      rewrite_chevrons(program, i, length);
      i += length;
      continue;
    }
    if (!tokens[i].is_word() || !tokens.is(i + 1, "(")) continue;
    for (const LaunchFunction& function : kLaunchFunctions) {
      if (tokens[i].is(function.name)) rewrite_call(program, i, function);
    }
  }
}

}  // namespace tessera::simt
