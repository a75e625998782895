#include "simt/source/signatures.h"

#include <algorithm>
#include <array>

#include "simt/source/calls.h"

namespace tessera::simt {
namespace {

bool is_one_of(const Token& token, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](auto word) { return token.is(word); });
}

bool is_dropped(const Token& token) {
  return is_one_of(token, {"__restrict__", "__restrict", "restrict", "__grid_constant__",
                           "volatile", "register", "typename", "struct"});
}

bool is_basic_type(const Token& token) {
  return is_one_of(token, {"int", "unsigned", "signed", "long", "short", "char", "float", "double",
                           "bool", "void", "const", "auto"});
}

/// The end of a parameter without its default.
std::size_t before_default(const Tokens& tokens, Range range) {
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (tokens[i].is("=")) return i;
    if (tokens.partner[i] != Tokens::npos && tokens.partner[i] > i) i = tokens.partner[i];
  }
  return range.last;
}

/// "const float*" from the words of a type: const first, stars last.
std::string type_text(const Tokens& tokens, const std::vector<std::size_t>& words, bool is_array) {
  std::string base, behind;
  bool is_const = false;
  int depth = 0;  // of angles, within which all words belong to the base
  for (std::size_t i : words) {
    const Token& token = tokens[i];
    if (token.is("<")) ++depth;
    if (token.is(">")) --depth;
    if (depth > 0) {
      base += (token.is_word() && tokens.is_word(i - 1) ? " " : "") + std::string(token.text);
    } else if (token.is("*") || token.is("&") || token.is("&&") || token.is("...")) {
      behind += token.text;
    } else if (token.is("const")) {
      if (behind.empty()) is_const = true;  // else it is the pointer that is const
    } else {
      const bool needs_space =
          !base.empty() && token.is_word() &&
          (std::isalnum(static_cast<unsigned char>(base.back())) != 0 || base.back() == '_');
      base += (needs_space ? " " : "") + std::string(token.text);
    }
  }
  if (is_array) behind += '*';
  return (is_const && !behind.empty() ? "const " : "") + base + behind;
}

Parameter read_parameter(const Tokens& tokens, Range range) {
  const std::size_t last = before_default(tokens, range);
  std::vector<std::size_t> words;
  std::size_t name = Tokens::npos;
  bool is_array = false;
  int depth = 0;
  for (std::size_t i = range.first; i < last; ++i) {
    const Token& token = tokens[i];
    if (token.is("[")) {
      is_array = true;
      i = tokens.partner[i];
      if (i == Tokens::npos) break;
      continue;
    }
    if (is_dropped(token)) continue;
    if (is_one_of(token, {"alignas", "__align__"}) && tokens.is(i + 1, "(")) {
      i = tokens.partner[i + 1];
      if (i == Tokens::npos) break;
      continue;
    }
    if (token.is("<")) ++depth;
    if (token.is(">")) --depth;
    words.push_back(i);
    // The name is the last word outside angles that is not a type's own.
    const bool begins = words.size() == 1 || tokens.is(i - 1, "::");
    if (token.is_word() && depth == 0 && !begins && !is_basic_type(token)) name = i;
  }
  // `const T` has no name; `const T n` has.
  const auto is_type_word = [&](std::size_t i) {
    return i != name && (tokens[i].is_word() || tokens[i].is(">")) && !tokens[i].is("const");
  };
  if (std::none_of(words.begin(), words.end(), is_type_word)) name = Tokens::npos;
  if (name != Tokens::npos) std::erase(words, name);
  return {type_text(tokens, words, is_array),
          name == Tokens::npos ? "" : std::string(tokens[name].text)};
}

/// "unsigned int" -> int with a sign word is left as written; "void" means none.
bool is_void(const Tokens& tokens, Range range) {
  return range.last - range.first == 1 && tokens.is(range.first, "void");
}

std::string launch_bounds(const Tokens& tokens, Range declaration) {
  for (std::size_t i = declaration.first; i + 1 < declaration.last; ++i) {
    if (tokens[i].is("__launch_bounds__") && tokens.is(i + 1, "(") &&
        tokens.partner[i + 1] != Tokens::npos) {
      return tokens.join(i + 2, tokens.partner[i + 1]);
    }
  }
  return "";
}

bool has_default(const Tokens& tokens, Range range) {
  return before_default(tokens, range) != range.last;
}

std::string default_of(const Tokens& tokens, Range range) {
  const std::size_t equals = before_default(tokens, range);
  return equals == range.last ? "" : tokens.join(equals + 1, range.last);
}

Kernel read_kernel(const Tokens& tokens, const Declarations& declarations,
                   const Function& function) {
  Kernel kernel;
  Signature& signature = kernel.signature;
  const std::size_t name = function.name.first;
  signature.name = tokens[name].text;
  signature.qualified_name = function.scope + signature.name;
  signature.file = tokens.file(name);
  signature.line = tokens[name].line;
  signature.parameters = read_parameters(tokens, function.parameters);
  signature.launch_bounds = launch_bounds(tokens, function.declaration);
  signature.body = body_text(tokens, declarations, function);
  signature.uses_thread_y = signature.body.find("threadIdx . y") != std::string::npos;
  kernel.is_defined = function.has_body;
  kernel.in_class = function.in_class;
  for (Range part : split_at_commas(tokens, function.parameters)) {
    kernel.has_defaults = kernel.has_defaults || has_default(tokens, part);
  }
  // Of a member of a class template the last header is the function's own.
  if (!function.templates.empty()) {
    const Range header = function.templates.back();
    kernel.is_template = header.first < header.last;
    signature.template_parameters = read_template_parameters(tokens, header);
    for (Range part : split_at_commas(tokens, header)) {
      const bool is_pack = std::any_of(tokens.all.begin() + static_cast<std::ptrdiff_t>(part.first),
                                       tokens.all.begin() + static_cast<std::ptrdiff_t>(part.last),
                                       [](const Token& token) { return token.is("..."); });
      kernel.has_pack = kernel.has_pack || is_pack;
      if (!is_pack && !has_default(tokens, part)) ++kernel.required_template_arguments;
    }
  }
  return kernel;
}

/// A declaration and its definition are one kernel.
void merge(Kernel& known, const Kernel& other) {
  const bool has_defaults = known.has_defaults || other.has_defaults;
  const std::size_t required =
      std::min(known.required_template_arguments, other.required_template_arguments);
  // Defaults stand in one of the two, mostly in the declaration.
  std::vector<Parameter> templates = known.signature.template_parameters;
  const std::vector<Parameter>& others = other.signature.template_parameters;
  for (std::size_t i = 0; i < std::min(templates.size(), others.size()); ++i) {
    if (templates[i].default_value.empty()) templates[i].default_value = others[i].default_value;
    if (!known.is_defined) templates[i].name = others[i].name;
  }
  if (!known.is_defined) {
    const std::string bounds = known.signature.launch_bounds;
    known = other;
    if (known.signature.launch_bounds.empty()) known.signature.launch_bounds = bounds;
  }
  known.signature.template_parameters = std::move(templates);
  known.has_defaults = has_defaults;
  known.required_template_arguments = required;
}

bool same_types(const Signature& a, const Signature& b) {
  return std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                    b.parameters.end(),
                    [](const auto& x, const auto& y) { return x.type == y.type; });
}

}  // namespace

std::vector<Parameter> read_parameters(const Tokens& tokens, Range range) {
  std::vector<Parameter> parameters;
  if (is_void(tokens, range)) return parameters;
  for (Range part : split_at_commas(tokens, range)) {
    parameters.push_back(read_parameter(tokens, part));
  }
  return parameters;
}

std::vector<Parameter> read_template_parameters(const Tokens& tokens, Range range) {
  std::vector<Parameter> parameters;
  for (Range part : split_at_commas(tokens, range)) {
    const std::size_t last = before_default(tokens, part);
    const bool is_type = is_one_of(tokens[part.first], {"typename", "class"});
    if (is_type) {
      const bool is_pack = tokens.is(part.first + 1, "...");
      const std::size_t name = part.first + (is_pack ? 2 : 1);
      parameters.push_back({is_pack ? "typename..." : "typename",
                            name < last ? std::string(tokens[name].text) : ""});
    } else {
      parameters.push_back(read_parameter(tokens, part));
    }
    parameters.back().default_value = default_of(tokens, part);
  }
  return parameters;
}

std::string to_string(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& parameter : parameters) {
    if (!text.empty()) text += ", ";
    text += parameter.type + (parameter.name.empty() ? "" : " ") + parameter.name;
  }
  return text;
}

std::size_t Kernels::find(std::string_view qualified, std::string scope) const {
  if (qualified.starts_with("::")) {
    qualified.remove_prefix(2);
    scope.clear();
  }
  // From the inside out, as C++ looks names up.
  for (;;) {
    const auto found = by_qualified_name.find(scope + std::string(qualified));
    if (found != by_qualified_name.end()) return found->second;
    if (scope.size() < 3) break;
    const std::size_t colon = scope.rfind("::", scope.size() - 3);
    scope.resize(colon == std::string::npos ? 0 : colon + 2);
  }
  if (const std::size_t colon = qualified.rfind("::"); colon != std::string_view::npos) {
    qualified.remove_prefix(colon + 2);
  }
  const auto found = by_name.find(qualified);
  return found == by_name.end() ? Tokens::npos : found->second;
}

Kernels read_kernels(const Tokens& tokens, const Declarations& declarations) {
  Kernels kernels;
  for (const Function& function : declarations.functions) {
    // Of a specialisation the general template tells the same.
    const bool is_specialised = function.name.last - function.name.first > 1;
    if (!function.is_global || function.is_instantiation || is_specialised) continue;
    const Kernel kernel = read_kernel(tokens, declarations, function);
    const std::string& name = kernel.signature.qualified_name;
    const auto known = kernels.by_qualified_name.find(name);
    if (known == kernels.by_qualified_name.end()) {
      kernels.by_qualified_name[name] = kernels.all.size();
      // Two of one name are told apart by their namespaces alone.
      const auto [same, is_only] =
          kernels.by_name.emplace(kernel.signature.name, kernels.all.size());
      if (!is_only) same->second = Tokens::npos;
      kernels.all.push_back(kernel);
    } else if (Kernel& first = kernels.all[known->second];
               same_types(first.signature, kernel.signature)) {
      merge(first, kernel);
    } else {
      first.is_overloaded = true;
    }
  }
  return kernels;
}

}  // namespace tessera::simt
