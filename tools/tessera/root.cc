// Parses, runs the verb, and turns every error into one line on stderr and an exit code.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>
#include <system_error>

#include "args.h"
#include "cli.h"
#include "interrupt.h"
#include "quantities.h"

namespace tessera::cli {
namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  tessera mul a.npy b.npy -o c.npy            multiply, prove, report\n"
    "  tessera verify a.npy b.npy c.npy            is c = a * b?\n"
    "  tessera info --peaks                        what this machine can do\n"
    "  tessera VERB --help                         options and examples of a verb\n\n";

/// Line breaks and surrounding blanks folded away, so that an error stays one line; other control
/// characters escaped, so that a file name cannot drive the terminal.
std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return printable(out);
}

int fail(const std::string& verb, ExitCode code, const std::string& message) {
  const std::string line =
      fmt::format("tessera{}{}: {}\n", verb.empty() ? "" : " ", verb, one_line(message));
  std::fputs(line.c_str(), stderr);  // where stderr is closed, the exit code has to do
  return code;
}

std::vector<std::string> verb_names(const std::vector<Verb>& verbs) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.app->get_name());
  return names;
}

/// The first word must be a verb or an option of the root: CLI11 would report a misspelt verb as
/// an unexpected argument.
std::string verb_fault(const std::vector<Verb>& verbs, int argc, char** argv) {
  const std::vector<std::string> names = verb_names(verbs);
  if (argc < 2) return fmt::format("a verb is needed: {}", fmt::join(names, ", "));
  const std::string word = argv[1];
  if (!word.empty() && word[0] == '-') return "";
  for (const std::string& name : names) {
    if (name == word) return "";
  }
  const std::string near = nearest(word, names);
  return near.empty()
             ? fmt::format("\"{}\" is not a verb; there are {}", word, fmt::join(names, ", "))
             : fmt::format("\"{}\" is not a verb; did you mean \"{}\"?", word, near);
}

/// The option of `app` that an unexpected argument was probably meant to be.
std::string option_hint(const CLI::App& app, const std::string& message) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (std::size_t at = 0; (at = message.find("--", at)) != std::string::npos; ++at) {
    const std::string word = message.substr(at, message.find_first_of(" =", at) - at);
    const std::string near = nearest(word, names);
    if (!near.empty()) return fmt::format("; did you mean {}?", near);
  }
  return "";
}

int parse_failure(const CLI::App& app, const std::string& verb, const CLI::ParseError& error) {
  std::string message = one_line(error.what());
  // Later versions of CLI11 say the verb themselves.
  const std::string prefix = app.get_name() + ": ";
  if (message.rfind(prefix, 0) == 0) message.erase(0, prefix.size());
  const bool unexpected = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  return fail(
      verb, kUsage,
      fmt::format("{}{} (tessera {}{}--help)", message, unexpected ? option_hint(app, message) : "",
                  verb, verb.empty() ? "" : " "));
}

int run_guarded(const std::string& name, const std::function<int()>& run) {
  try {
    const int code = run();
    flush_stdout();
    return code;
  } catch (const Error& e) {
    return fail(name, exit_code_of(e.code()), e.what());
  } catch (const CheckFailed& e) {
    try {
      flush_stdout();
    } catch (const Error&) {  // the verdict matters more than a lost report
    }
    return fail(name, kCheckFailed, e.what());
  } catch (const std::bad_alloc&) {
    return fail(name, kCannotRun, "out of memory: the host refused an allocation");
  } catch (const std::system_error& e) {
    return fail(name, kCannotRun, e.what());
  } catch (const std::exception& e) {
    return fail(name, kInternal, fmt::format("internal error: {}", e.what()));
  }
}

/// A descriptor below 3 that is closed would go to the next file that is opened, and what is meant
/// for stdout or stderr would be written into a matrix. Reading only: writing stays an error.
void occupy_standard_descriptors() {
  int fd = 0;
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDONLY);
  if (fd >= 0) ::close(fd);
}

}  // namespace

std::vector<Verb> add_all(CLI::App& root) {
  root.name("tessera");
  root.description("Matrix multiplication that you can run, read, check and trust.");
  root.set_version_flag("--version", version_line());
  root.footer(kExamples + exit_code_help());
  root.require_subcommand(0, 1);
  return {add_mul(root),    add_verify(root), add_info(root),      add_kernels(root),
          add_show(root),   add_bench(root),  add_ladder(root),    add_tune(root),
          add_report(root), add_check(root),  add_completion(root)};
}

int run_command_line(int argc, char** argv) {
  occupy_standard_descriptors();
  set_command_line(argc, argv);
  // A write past RLIMIT_FSIZE must be an error that is reported, not a death by signal.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App root;
  const std::vector<Verb> verbs = add_all(root);
  const std::string fault = verb_fault(verbs, argc, argv);
  if (!fault.empty()) return fail("", kUsage, fault + " (tessera --help)");

  const CLI::App* app = &root;
  std::string name;
  for (const Verb& verb : verbs) {
    if (verb.app->get_name() != argv[1]) continue;
    app = verb.app;
    name = argv[1];
  }
  try {
    root.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    return root.exit(e) == 0 ? kOk : kInternal;
  } catch (const CLI::ParseError& e) {
    return parse_failure(*app, name, e);
  }
  for (const Verb& verb : verbs) {
    if (!*verb.app) continue;
    catch_interrupts(name);
    return run_guarded(name, verb.run);
  }
  return fail("", kUsage, verb_fault(verbs, 1, argv) + " (tessera --help)");
}

}  // namespace tessera::cli
