#include "simt/source/compile.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "bench/run_program.h"
#include "simt/source/columns.h"
#include "simt/source/diagnostics.h"
#include "simt/source/edits.h"
#include "simt/source/libraries.h"
#include "simt/source/tokens.h"
#include "simt/source/words.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

using Words = std::vector<std::string>;

/// The user's flags by the step that they are for.
struct Flags {
  Words preprocess, compile, link;
};

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// A CUDA toolkit's own headers would hide those of the executor.
bool holds_cuda(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder + "/cuda_runtime.h", ignored);
}

bool is_library(const std::string& flag) {
  return is_source(flag) || flag.ends_with(".a") || flag.ends_with(".o") || flag.ends_with(".so") ||
         flag.starts_with("-l") || flag.starts_with("-L") || flag.starts_with("-Wl,");
}

/// Generic lambdas and `if constexpr` of the headers need C++17.
std::string standard_of(const std::string& flag) {
  for (std::string_view old : {"98", "03", "0x", "11", "1y", "14", "1z"}) {
    if (flag.ends_with(old)) return "-std=c++17";
  }
  return flag;
}

Flags sort_flags(const Words& given) {
  Flags flags;
  std::string standard = "-std=c++20";
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& flag = given[i];
    const bool is_split = flag == "-I" || flag == "-D" || flag == "-U" || flag == "-isystem" ||
                          flag == "-include" || flag == "-L" || flag == "-l";
    if (is_split && i + 1 == given.size()) {
      throw Error(ErrorCode::kInvalidArgument, "check: " + flag + " lacks its value");
    }
    const std::string value = is_split ? given[++i] : flag.size() > 2 ? flag.substr(2) : "";
    if (flag.starts_with("-std=")) {
      standard = standard_of(flag);
    } else if (flag == "-L" || flag == "-l") {
      append(flags.link, {flag, value});
    } else if (flag == "-isystem" || flag == "-include") {
      if (flag == "-include" || !holds_cuda(value)) append(flags.preprocess, {flag, value});
    } else if (flag.starts_with("-I")) {
      if (!holds_cuda(value)) append(flags.preprocess, {"-I", value});
    } else if (flag.starts_with("-D") || flag.starts_with("-U")) {
      flags.preprocess.push_back(flag.substr(0, 2) + value);
    } else if (flag == "-pthread" || flag == "-fopenmp") {
      append(flags.preprocess, {flag});
      append(flags.compile, {flag});
      append(flags.link, {flag});
    } else if (is_library(flag)) {
      flags.link.push_back(flag);
    } else {
      throw Error(ErrorCode::kInvalidArgument,
                  "check: the compiler flag " + flag +
                      " is not taken; -I, -D, -U, -std=, -include, -isystem, -pthread, -fopenmp, "
                      "-l, -L, libraries, object files and C++ sources are");
    }
  }
  flags.preprocess.push_back(standard);
  flags.compile.push_back(standard);
  return flags;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) throw Error(ErrorCode::kBadFile, "check: cannot read " + path);
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  if (!out.flush()) throw Error(ErrorCode::kOutputFailure, "check: cannot write " + path);
}

[[noreturn]] void fail(const std::string& messages, const MessageContext& context,
                       const std::vector<Refusal>& doubts = {}) {
  std::string text = context.path + ": does not compile\n" + readable_errors(messages, context);
  for (const Refusal& doubt : doubts) {
    text += "\n" + doubt.file + ":" + std::to_string(doubt.line) + ": note: " + doubt.what +
            " stands for nothing here. " + doubt.why;
  }
  throw Error(doubts.empty() ? ErrorCode::kBadFile : ErrorCode::kUnsupported, text);
}

/// The headers, written once for each folder.
std::string words_folder(const TemporaryFolder& folder) {
  const std::string path = folder.path() + "/words";
  if (std::filesystem::create_directory(path)) write_words(path);
  return path;
}

// What nvcc defines: its device pass is the one that is run here.
const Words& cuda_macros() {
  static const Words kMacros = {"-D__CUDACC__",
                                "-D__NVCC__",
                                "-D__CUDA_ARCH__=800",
                                "-D__CUDACC_VER_MAJOR__=12",
                                "-D__CUDACC_VER_MINOR__=8",
                                "-D__CUDACC_VER_BUILD__=0"};
  return kMacros;
}

/// clang's thread sanitiser: no entry and exit of functions, no atomics, and the read of `x += 1`
/// is kept.
const Words& sanitiser_options() {
  static const Words kOptions = {"-tsan-instrument-read-before-write=1",
                                 "-tsan-instrument-func-entry-exit=0",
                                 "-tsan-instrument-atomics=0"};
  return kOptions;
}

Words compile_command(const std::string& clang, Build build, const Flags& flags) {
  Words words = {clang,
                 "-x",
                 "c++",
                 "-c",
                 "-fdeclspec",
                 "-fPIC",
                 "-w",
                 "-gline-tables-only",
                 "-gcolumn-info",
                 "-ffp-contract=off",
                 "-fno-omit-frame-pointer",
                 "-fno-caret-diagnostics",
                 "-fno-color-diagnostics",
                 "-ferror-limit=8"};
  append(words, flags.compile);
  if (build == Build::kCheck) {
    append(words, {"-O0", "-fsanitize=thread,array-bounds", "-fsanitize-recover=array-bounds"});
  } else {
    // Accesses of two branches that become one lose their line.
    append(words, {"-O2", "-fsanitize=thread", "-fno-vectorize", "-fno-slp-vectorize", "-mllvm",
                   "-sink-common-insts=0", "-mllvm", "-hoist-common-insts=0"});
  }
  return words;
}

/// Every name that the compiled program may call, and its name in the executor.
std::string hook_names() {
  std::string names;
  const auto add = [&](const std::string& from, const std::string& to) {
    names += from + " simt_hook_" + to + "\n";
  };
  for (const char* bytes : {"1", "2", "4", "8", "16"}) {
    for (const std::string access :
         {"read", "write", "unaligned_read", "unaligned_write", "volatile_read", "volatile_write",
          "unaligned_volatile_read", "unaligned_volatile_write", "read_write",
          "unaligned_read_write"}) {
      add("__tsan_" + access + bytes, access + bytes);
    }
  }
  for (const std::string name :
       {"read_range", "write_range", "vptr_read", "vptr_update", "func_entry", "func_exit", "init",
        "ignore_thread_begin", "ignore_thread_end"}) {
    add("__tsan_" + name, name);
  }
  for (const std::string name : {"memcpy", "memmove", "memset"}) {
    add(name, name);
    add("__tsan_" + name, "tsan_" + name);  // the name of newer compilers; objcopy joins no names
  }
  add("__ubsan_handle_out_of_bounds", "index");
  add("__assert_fail", "assert");
  return names;
}

void redirect_hooks(const std::string& object, const std::string& names) {
  write_file(names, hook_names());
  bench::Printed printed;
  try {
    printed = bench::run_program({"objcopy", "--redefine-syms=" + names, object});
  } catch (const Error&) {
    throw Error(ErrorCode::kUnsupported,
                "check: needs objcopy (Debian and Ubuntu: the package binutils)");
  }
  if (printed.exit_code != 0) {
    throw Error(ErrorCode::kUnsupported, "check: objcopy (the package binutils) failed: " +
                                             printed.err.substr(0, printed.err.find('\n')));
  }
}

void compile_object(const Words& base, const std::string& text, const std::string& object,
                    const MessageContext& context, const std::vector<Refusal>& doubts) {
  Words words = base;
  for (const std::string& option : sanitiser_options()) append(words, {"-mllvm", option});
  append(words, {text, "-o", object});
  const bench::Printed printed = run_compiler(words, context.folder);
  if (printed.exit_code != 0) fail(printed.err, context, doubts);
}

/// The first header of a library that was found outside the executor's folder.
std::string library_header(const std::string& text, const std::string& folder) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    LineMarker marker;
    if (text[at] == '#' && read_marker(std::string_view(text).substr(at, end - at), &marker) &&
        marker.enters && marker.is_system && !marker.file.starts_with(folder) &&
        !library_of_header(marker.file).empty()) {
      return std::string(name_of_header(marker.file));
    }
    at = end + 1;
  }
  return "";
}

/// Preprocesses. A header of a library is stood in for: it may be missing, and it would bring in
/// CUDA's own; many a file includes one without using it.
std::string preprocessed(const Words& command, const Source& source,
                         const TemporaryFolder& folder) {
  std::set<std::string> standing_in;
  for (;;) {
    const bench::Printed printed = run_compiler(command, folder.path());
    const bool is_done = printed.exit_code == 0;
    const std::string header =
        is_done ? library_header(printed.out, folder.path()) : missing_library_header(printed.err);
    const bool leads_out = header.find("..") != std::string::npos || header.starts_with("/");
    if (header.empty() || leads_out || !standing_in.insert(header).second) {
      if (is_done) return printed.out;
      fail(printed.err, {folder.path(), "", source.path});
    }
    const std::filesystem::path path = folder.path() + "/words/" + header;
    std::error_code ignored;  // writing tells
    std::filesystem::create_directories(path.parent_path(), ignored);
    write_file(path.string(), std::string(stand_in_header()));
  }
}

}  // namespace

Translation read_source(const Source& source, const TemporaryFolder& folder) {
  if (access(source.path.c_str(), R_OK) != 0 || std::filesystem::is_directory(source.path)) {
    throw Error(ErrorCode::kBadFile, "check: cannot read " + source.path);
  }
  const Flags flags = sort_flags(source.flags);
  Words words = {find_clang(),
                 "-E",
                 "-dD",
                 "-x",
                 "c++",
                 "-fdeclspec",
                 "-fno-caret-diagnostics",
                 "-fno-color-diagnostics",
                 "-w"};
  append(words, flags.preprocess);
  append(words, cuda_macros());
  append(words, {"-isystem", words_folder(folder), "-include", "simt_prelude.h"});
  if (source.appended.empty()) {
    const bool is_like_a_flag = source.path.starts_with("-");
    words.push_back((is_like_a_flag ? "./" : "") + source.path);
  } else {
    // Both as one file, so that what is appended sees the program's macros.
    const std::string joined = folder.path() + "/joined.cu";
    const std::string parent = std::filesystem::path(source.path).parent_path().string();
    write_file(joined, "# 1 " + c_string(source.path) + "\n" +
                           std::string(without_mark(read_file(source.path))) +
                           "\n# 1 \"<driver>\"\n" + source.appended);
    append(words, {"-iquote", parent.empty() ? "." : parent, joined});
  }
  SourceLines lines;
  const std::string text = restore_columns(preprocessed(words, source, folder), lines);
  return source.is_lone_kernel ? translate_for(source.kernel, text, source.path)
                               : translate(text, source.path);
}

bool is_source(const std::string& flag) {
  return flag.ends_with(".cpp") || flag.ends_with(".cc") || flag.ends_with(".cxx") ||
         flag.ends_with(".c");
}

std::string compile(const Translation& translation, const Source& source, Build build,
                    const TemporaryFolder& folder) {
  const std::string stem = folder.path() + (build == Build::kCheck ? "/check" : "/count");
  const std::string text = stem + ".cc", object = stem + ".o", library = stem + ".so";
  const std::string clang = find_clang();
  const Flags flags = sort_flags(source.flags);
  const MessageContext context = {folder.path(), translation.text, source.path};
  write_file(text, translation.text);
  compile_object(compile_command(clang, build, flags), text, object, context, translation.doubts);
  redirect_hooks(object, stem + ".names");

  // The program's functions are its own, whatever the executor's are called.
  Words words = {clang, "-shared", "-Wl,-Bsymbolic,-z,lazy", "-o", library, object};
  if (std::any_of(flags.link.begin(), flags.link.end(), is_source)) {
    append(words, flags.preprocess);
    append(words, {"-fPIC", "-fdeclspec", "-w", "-O1", "-isystem", words_folder(folder)});
  }
  append(words, flags.link);
  const bench::Printed printed = run_compiler(words, folder.path());
  if (printed.exit_code != 0) {
    throw Error(ErrorCode::kBadFile, source.path + ": does not link\n" +
                                         readable_link_errors(printed.err, folder.path()));
  }
  return library;
}

}  // namespace tessera::simt
