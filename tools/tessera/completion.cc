// `tessera completion`: a script for the shell, made from the options that exist.
#include <fmt/format.h>

#include <set>

#include "cli.h"
#include "tessera/kernel.h"

namespace tessera::cli {
namespace {

/// What may follow an option.
struct Values {
  bool any = false;   ///< takes a value
  bool file = false;  ///< which is a file
  std::vector<std::string> words;
};

std::vector<std::string> kernel_names() {
  std::vector<std::string> names = {"auto", "tuned"};
  std::set<std::string> seen;
  for (const Kernel& kernel : registry().kernels()) {
    const std::string family = kernel.id.backend + "." + kernel.id.family;
    for (const std::string& name : {family, kernel.name, kernel.stem}) {
      if (seen.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t at; (at = text.find(separator, start)) != std::string::npos; start = at + 1) {
    parts.push_back(text.substr(start, at - start));
  }
  parts.push_back(text.substr(start));
  return parts;
}

/// CLI11 gives the type name with the set of legal values, "TEXT:{a,b}".
Values values_of(const CLI::Option& option) {
  Values values;
  values.any = option.get_expected_max() > 0 && option.get_type_size_max() > 0;
  if (!values.any) return values;
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open != std::string::npos && close != std::string::npos) {
    values.words = split(type.substr(open + 1, close - open - 1), ',');
  } else if (type.rfind("FILE", 0) == 0) {
    values.file = true;
  } else if (type.rfind("DEVICE", 0) == 0) {
    values.words = {"auto", "cpu", "cuda"};
  } else if (type.rfind("KERNEL", 0) == 0) {
    values.words = kernel_names();
  }
  return values;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// The words a verb's positional argument may be: files are told by `file`.
Values positional_values(const CLI::App& verb) {
  Values all;
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_positional()) continue;
    const Values values = values_of(*option);
    all.file = all.file || values.file;
    all.words.insert(all.words.end(), values.words.begin(), values.words.end());
  }
  return all;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

std::string words(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, " "));
}

/// For compgen -W, which splits at IFS: newlines only, so that file names may hold blanks.
std::string shell_lines(const std::vector<std::string>& list) {
  return fmt::format("$'{}'", fmt::join(list, "\\n"));
}

std::vector<std::string> verb_names(const CLI::App& root) {
  std::vector<std::string> names;
  for (const CLI::App* verb : verbs_of(root)) names.push_back(verb->get_name());
  return names;
}

/// The case arms that bash and zsh share: "verb:option" to the words or files that may follow.
template <class Arm>
void for_each_valued_option(const CLI::App& verb, Arm arm) {
  for (const CLI::Option* option : verb.get_options()) {
    const std::vector<std::string> names = names_of(*option);
    const Values values = values_of(*option);
    if (!names.empty() && values.any) arm(names, values);
  }
}

std::vector<std::string> option_words(const CLI::App& verb) {
  std::vector<std::string> all;
  for (const CLI::Option* option : verb.get_options()) {
    for (std::string& name : names_of(*option)) all.push_back(std::move(name));
  }
  return all;
}

std::string compgen(const Values& values, const std::vector<std::string>& options) {
  std::vector<std::string> all = options;
  all.insert(all.end(), values.words.begin(), values.words.end());
  std::string out;
  if (values.file)
    out = "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\")); ";
  if (!all.empty())
    out += fmt::format("COMPREPLY+=($(compgen -W {} -- \"$cur\")); ", shell_lines(all));
  return out;
}

std::string bash_script(const CLI::App& root) {
  std::vector<std::string> first = verb_names(root);
  first.insert(first.end(), {"--help", "--version"});
  std::string out = fmt::format(
      "# bash completion for tessera: source <(tessera completion bash)\n"
      "_tessera() {{\n"
      "  local IFS=$'\\n' cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W {} -- \"$cur\")); return\n"
      "  fi\n"
      "  case ${{COMP_WORDS[1]}}:$prev in\n",
      shell_lines(first));
  for (const CLI::App* verb : verbs_of(root)) {
    for_each_valued_option(*verb, [&](const std::vector<std::string>& names, const Values& values) {
      for (const std::string& name : names) {
        out += fmt::format("    {}:{}) {}return ;;\n", verb->get_name(), name, compgen(values, {}));
      }
    });
  }
  out += "  esac\n  case ${COMP_WORDS[1]} in\n";
  for (const CLI::App* verb : verbs_of(root)) {
    out += fmt::format("    {}) {};;\n", verb->get_name(),
                       compgen(positional_values(*verb), option_words(*verb)));
  }
  return out + "  esac\n}\ncomplete -F _tessera tessera\n";
}

std::string zsh_script(const CLI::App& root) {
  // zsh runs bash's completions, which keeps one description of them.
  return "#compdef tessera\n"
         "# zsh completion for tessera: source <(tessera completion zsh)\n"
         "autoload -Uz compinit bashcompinit\n"
         "(( $+functions[compdef] )) || compinit\n"
         "bashcompinit\n" +
         bash_script(root);
}

/// For a fish string in single quotes.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_option(const CLI::App& verb, const CLI::Option& option) {
  std::string line =
      fmt::format("complete -c tessera -n '__fish_seen_subcommand_from {}'", verb.get_name());
  for (const std::string& name : option.get_snames()) line += " -s " + name;
  for (const std::string& name : option.get_lnames()) line += " -l " + name;
  const Values values = values_of(option);
  if (values.any) line += values.file ? " -r -F" : " -x";
  if (!values.words.empty()) line += " -a " + quoted(words(values.words));
  return line + " -d " + quoted(option.get_description()) + "\n";
}

std::string fish_script(const CLI::App& root) {
  std::string out =
      "# fish completion for tessera: tessera completion fish | source\n"
      "complete -c tessera -f\n"
      "complete -c tessera -n __fish_use_subcommand -l help -d 'show help'\n"
      "complete -c tessera -n __fish_use_subcommand -l version -d 'show the version'\n";
  for (const CLI::App* verb : verbs_of(root)) {
    out += fmt::format("complete -c tessera -n __fish_use_subcommand -a {} -d {}\n",
                       verb->get_name(), quoted(verb->get_description()));
    const Values positional = positional_values(*verb);
    const std::string seen = fmt::format("'__fish_seen_subcommand_from {}'", verb->get_name());
    if (positional.file) out += fmt::format("complete -c tessera -n {} -F\n", seen);
    if (!positional.words.empty()) {
      out +=
          fmt::format("complete -c tessera -n {} -a {}\n", seen, quoted(words(positional.words)));
    }
    for (const CLI::Option* option : verb->get_options()) {
      if (!names_of(*option).empty()) out += fish_option(*verb, *option);
    }
  }
  return out;
}

}  // namespace

Verb add_completion(CLI::App& root) {
  CLI::App* app = root.add_subcommand("completion", "print a completion script for a shell");
  const auto shell = std::make_shared<std::string>();
  app->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish"}));
  app->footer(
      "Examples:\n"
      "  source <(tessera completion bash)\n"
      "  source <(tessera completion zsh)\n"
      "  tessera completion fish | source\n");
  return {app, [&root, shell]() -> int {
            fmt::print("{}", *shell == "bash"  ? bash_script(root)
                             : *shell == "zsh" ? zsh_script(root)
                                               : fish_script(root));
            return kOk;
          }};
}

}  // namespace tessera::cli
