#include "simt/source/translate.h"

#include <algorithm>
#include <set>

#include "simt/source/rewrite.h"

namespace tessera::simt {
namespace {

/// Short names for what the rewritten text repeats: macros, so that columns and lines stay those of
/// the place of use.
constexpr char kPreamble[] =
    "#define simt_quiet __attribute__((no_sanitize(\"thread\")))\n"
    "#define simt_inline inline __attribute__((always_inline))\n"
    "#define simt_outline __attribute__((noinline))\n"
    "#define simt_algn(...) __attribute__((aligned(__VA_ARGS__)))\n"
    "#define simt_site(expression, file, line, kernel) [] { static const ::simt_launch_site "
    "simt_s = {expression, file, line, kernel}; return &simt_s; }()\n"
    "#define simt_static(name, text, file, line, ...) ::simt::shared<decltype(name)>([] { static "
    "::simt_shared_array simt_a = ::simt::shared_array<decltype(name)>(text, file, line, "
    "__VA_ARGS__); return &simt_a; }())\n"
    "#define simt_dynamic(name, text, line) ::simt::dynamic_shared<decltype(name)>(text, line)\n";

std::string declare_kernels(const Kernels& kernels) {
  std::string text = "struct simt_kernel;\n";
  for (std::size_t i = 0; i < kernels.all.size(); ++i) {
    text += "extern const simt_kernel simt_kernel_" + std::to_string(i) +
            " __attribute__((visibility(\"hidden\")));\n";
  }
  return text;
}

/// The table, which the executor also finds by the name simt_kernels; and one of those kernels that
/// a launch finds by their addresses.
std::string define_kernels(const Kernels& kernels) {
  std::string text = "\n# 1 \"<kernels>\" 3\n", table, typed;
  for (std::size_t i = 0; i < kernels.all.size(); ++i) {
    const Signature& kernel = kernels.all[i].signature;
    const std::string name = "simt_kernel_" + std::to_string(i);
    text += "extern const simt_kernel " + name + " = {" + c_string(kernel.qualified_name) + ", " +
            c_string(kernel.file) + ", " + std::to_string(kernel.line) + ", " +
            c_string(to_string(kernel.template_parameters)) + ", " +
            c_string(to_string(kernel.parameters)) + "};\n";
    table += "&" + name + ", ";
    const Kernel& one = kernels.all[i];
    if (one.is_defined && !one.is_template && !one.is_overloaded && !one.in_class) {
      typed += "::simt::typed_kernel<&::" + kernel.qualified_name + ">(), ";
    }
  }
  text += "extern \"C\" const simt_typed_kernel simt_typed_kernels[] = {" + typed + "{}};\n";
  return text + "extern \"C\" const simt_kernel* const simt_kernels[] = {" + table + "nullptr};\n";
}

bool is_named(const Tokens& tokens, const Function& function, std::string_view name) {
  return function.has_body && !function.in_class && function.scope.empty() &&
         tokens.is(function.name.first, name);
}

/// `volatile` of what a pointer points to, not that of an asm statement.
bool is_volatile_pointer(const Tokens& tokens, std::size_t i) {
  if (!tokens[i].is("volatile") || (i > 0 && tokens[i - 1].text.find("asm") == 0)) return false;
  for (std::size_t j = i + 1; j < tokens.size() && j < i + 6; ++j) {
    if (tokens.is(j, "*")) return true;
    if (!tokens.is_word(j) && !tokens.is(j, "::")) return false;
  }
  return false;
}

bool talks_between_blocks(const Tokens& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view word = tokens[i].text;
    const bool is_atomic = word.size() > 6 && word.starts_with("atomic") && tokens.is(i + 1, "(");
    if (is_atomic || word.starts_with("__threadfence") || is_volatile_pointer(tokens, i)) {
      return true;
    }
  }
  return false;
}

/// In the order of the program, one of each group.
void sort_refusals(std::vector<Refusal>& refusals) {
  std::stable_sort(refusals.begin(), refusals.end(),
                   [](const Refusal& a, const Refusal& b) { return a.at < b.at; });
  std::set<std::string> told;
  std::erase_if(refusals, [&](const Refusal& r) { return !told.insert(r.group).second; });
}

/// `kernel`: what is left out for, or null when all is kept.
Translation translate_tokens(const Tokens& tokens, const std::string& path,
                             const std::string* kernel) {
  const Declarations declarations = find_declarations(tokens);
  const Kernels kernels = read_kernels(tokens, declarations);
  Edits edits(tokens);
  Translation translation;
  const Program program{tokens, declarations,         kernels,
                        edits,  translation.refusals, translation.doubts};

  for (const auto& [begin, end] : tokens.definitions) edits.blank_range(begin, end);
  rewrite_qualifiers(program);
  rewrite_shared(program);
  rewrite_launches(program);
  rewrite_assembly(program);
  refuse_unsupported(program);
  if (kernel != nullptr && !translation.refusals.empty()) {
    const std::string rest = without_unneeded(tokens, declarations, translation.refusals, *kernel);
    return translate_tokens(tokenise(rest, path), path, nullptr);
  }
  sort_refusals(translation.refusals);

  for (const Kernel& one : kernels.all) {
    if (one.is_defined) translation.kernels.push_back(one.signature);
  }
  for (const Function& function : declarations.functions) {
    if (is_named(tokens, function, "main")) translation.has_main = true;
    if (is_named(tokens, function, "solve") && !function.device_only()) {
      translation.solves.push_back({tokens[function.name.first].line,
                                    read_parameters(tokens, function.parameters),
                                    tokens.file(function.name.first)});
    }
  }
  translation.constants = find_constants(tokens, declarations);
  translation.aliases = find_aliases(tokens, declarations);
  translation.talks_between_blocks = talks_between_blocks(tokens);
  translation.text = kPreamble + declare_kernels(kernels) + "# 1 " + c_string(path) + "\n" +
                     edits.apply() + define_kernels(kernels);
  return translation;
}

}  // namespace

Translation translate(const std::string& preprocessed, const std::string& path) {
  return translate_tokens(tokenise(preprocessed, path), path, nullptr);
}

Translation translate_for(const std::string& kernel, const std::string& preprocessed,
                          const std::string& path) {
  return translate_tokens(tokenise(preprocessed, path), path, &kernel);
}

}  // namespace tessera::simt
