// What the verbs of the command line share: the shape of a verb, JSON, provenance.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "exit_code.h"

namespace tessera::cli {

using Json = nlohmann::ordered_json;

/// A subcommand and what it does once its options are parsed; run returns an ExitCode.
struct Verb {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

Verb add_mul(CLI::App& root);
Verb add_verify(CLI::App& root);
Verb add_info(CLI::App& root);
Verb add_kernels(CLI::App& root);
Verb add_show(CLI::App& root);
Verb add_bench(CLI::App& root);
Verb add_ladder(CLI::App& root);
Verb add_tune(CLI::App& root);
Verb add_report(CLI::App& root);
Verb add_check(CLI::App& root);
Verb add_completion(CLI::App& root);

/// The whole command line: options of the root, then every verb.
std::vector<Verb> add_all(CLI::App& root);

/// Version, commit, compiler and build of this program.
Json provenance();
/// The same in one line.
std::string version_line();
std::string compiler_text();
/// The words of the command line, quoted where a shell needs it; set once by the program's start.
void set_command_line(int argc, char** argv);
const std::string& command_line();
/// "nvcc 13.0.88, architectures 80;90", or empty in a build without CUDA.
std::string cuda_build_text();
/// Tells programs apart: the commit, with the contents of the program where the commit does not say
/// all (changed files, no commit known).
std::string exact_commit();
/// Why times measured by this program mean little (debug build, sanitizer); empty when they do.
std::string slow_build_reason();

/// Prints JSON, with bytes that are not UTF-8 (file names) replaced.
void print_json(const Json& json);
/// A JSON number, or a string for NaN and infinity, which JSON lacks.
Json json_number(double value);
/// Throws Error(kOutputFailure) when what was printed to stdout did not arrive.
void flush_stdout();

}  // namespace tessera::cli
