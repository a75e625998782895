#include "simt/gemm/choice.h"

#include <cctype>

#include "simt/gemm/types.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorCode::kInvalidArgument, "check: " + problem);
}

std::string trimmed(const std::string& text) {
  const std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string::npos) return "";
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

struct Wanted {
  std::string name;
  bool has_arguments = false;
  std::vector<std::string> arguments;
};

Wanted parse(const std::string& text) {
  Wanted out;
  const std::string whole = trimmed(text);
  const std::size_t open = whole.find('<');
  out.name = trimmed(whole.substr(0, open));
  if (open == std::string::npos) return out;
  out.has_arguments = true;
  if (whole.back() != '>') refuse("--kernel '" + text + "': it has no closing '>'");
  int depth = 0;
  std::string word;
  const std::string inside = whole.substr(open + 1, whole.size() - open - 2);
  for (char c : inside) {
    const bool legal = std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string("_:+-*/ ,()<>").find(c) != std::string::npos;
    if (!legal) refuse("--kernel '" + text + "': '" + c + "' is no part of a template argument");
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      out.arguments.push_back(trimmed(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!trimmed(inside).empty()) out.arguments.push_back(trimmed(word));
  for (const std::string& argument : out.arguments) {
    if (argument.empty()) refuse("--kernel '" + text + "': a template argument is empty");
  }
  if (depth != 0) refuse("--kernel '" + text + "': its brackets do not match");
  return out;
}

std::string described(const Signature& kernel) {
  std::string out = kernel.qualified_name.empty() ? kernel.name : kernel.qualified_name;
  if (!kernel.template_parameters.empty()) {
    std::string list = listed(kernel.template_parameters);
    out += "<" + list.substr(1, list.size() - 2) + ">";
  }
  return out + " (line " + std::to_string(kernel.line) + ")";
}

std::string listed(const std::vector<const Signature*>& kernels) {
  std::string out;
  for (const Signature* kernel : kernels) out += (out.empty() ? "" : ", ") + described(*kernel);
  return out;
}

const Signature& find_kernel(const Translation& translation, const std::string& name) {
  std::vector<const Signature*> all, named;
  for (const Signature& kernel : translation.kernels) {
    all.push_back(&kernel);
    const bool match = name.empty() || kernel.name == name || kernel.qualified_name == name;
    if (match) named.push_back(&kernel);
  }
  if (all.empty()) refuse("there is no __global__ function and no solve(A, B, C, M, N, K)");
  if (named.empty()) refuse("--kernel '" + name + "': there is none; there is " + listed(all));
  if (named.size() == 1) return *named[0];
  refuse("--kernel: name one of " + std::to_string(named.size()) + " kernels: " + listed(named));
}

void set_arguments(Choice& choice, const Wanted& wanted) {
  const Signature& kernel = *choice.kernel;
  const std::vector<Parameter>& parameters = kernel.template_parameters;
  if (wanted.has_arguments && parameters.empty()) {
    refuse("--kernel '" + wanted.name + "<...>': " + described(kernel) + " is no template");
  }
  if (wanted.arguments.size() > parameters.size()) {
    refuse("--kernel '" + wanted.name + "': " + std::to_string(wanted.arguments.size()) +
           " template arguments for " + described(kernel));
  }
  choice.template_arguments = wanted.arguments;
  if (wanted.has_arguments || parameters.empty()) return;
  const auto usual = usual_template_arguments(kernel);
  if (!usual) {
    refuse("kernel " + described(kernel) + " needs template arguments that have no usual value: " +
           "--kernel '" + kernel.name + "<...>'");
  }
  choice.template_arguments = *usual;
  choice.arguments_are_usual = true;
}

}  // namespace

std::string Choice::launched(bool qualified) const {
  if (solve) return "solve";
  std::string out =
      qualified && !kernel->qualified_name.empty() ? kernel->qualified_name : kernel->name;
  if (kernel->template_parameters.empty()) return out;
  out += "<";
  for (std::size_t i = 0; i < template_arguments.size(); ++i) {
    out += (i ? ", " : "") + template_arguments[i];
  }
  return out + ">";
}

Values Choice::values(const std::vector<Constant>& constants) const {
  Values file, out;
  // Twice, so that a constant may use one that comes later in the list.
  add_constants(file, constants);
  add_constants(file, constants);
  if (!kernel) return file;
  for (std::size_t i = 0; i < kernel->template_parameters.size(); ++i) {
    const Parameter& p = kernel->template_parameters[i];
    if (type_of(p.type).kind != TypeKind::kInteger) continue;
    const std::string text =
        i < template_arguments.size() ? template_arguments[i] : p.default_value;
    Values scope = i < template_arguments.size() ? file : out;
    scope.insert(file.begin(), file.end());
    scope.erase(p.name);
    add_constants(scope, {{p.name, text}});
    if (const auto found = scope.find(p.name); found != scope.end()) out.insert(*found);
  }
  out.insert(file.begin(), file.end());
  return out;
}

std::vector<Parameter> Choice::parameters(const std::vector<Constant>& aliases) const {
  if (solve) {
    std::vector<Parameter> out = solve->parameters;
    for (Parameter& p : out) p.type = resolved(p.type, aliases);
    return out;
  }
  std::vector<Constant> names = aliases;
  for (std::size_t i = 0; i < kernel->template_parameters.size(); ++i) {
    const Parameter& p = kernel->template_parameters[i];
    if (p.type != "typename" && p.type != "class") continue;
    names.push_back(
        {p.name, i < template_arguments.size() ? template_arguments[i] : p.default_value});
  }
  std::vector<Parameter> out = kernel->parameters;
  for (Parameter& p : out) p.type = resolved(p.type, names);
  return out;
}

Choice choose(const Translation& translation, const std::string& text) {
  const Wanted wanted = parse(text);
  Choice out;
  const bool named = !wanted.name.empty();
  bool is_kernel = false;
  for (const Signature& kernel : translation.kernels) {
    is_kernel = is_kernel || (named && kernel.name == wanted.name);
  }
  if (!translation.solves.empty() && !is_kernel && (!named || wanted.name == "solve")) {
    if (translation.solves.size() > 1) {
      refuse("there are " + std::to_string(translation.solves.size()) +
             " functions called solve (lines " + std::to_string(translation.solves[0].line) +
             " and " + std::to_string(translation.solves[1].line) + ")");
    }
    if (wanted.has_arguments) refuse("--kernel '" + text + "': solve is no template");
    out.solve = &translation.solves[0];
    return out;
  }
  out.kernel = &find_kernel(translation, wanted.name);
  set_arguments(out, wanted);
  return out;
}

}  // namespace tessera::simt
