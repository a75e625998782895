// Runs clang on a checked program.
#pragma once

#include <string>
#include <vector>

#include "bench/run_program.h"
#include "io/temporaries.h"
#include "simt/source/translate.h"

namespace tessera::simt {

struct Source {
  std::string path;                ///< of the .cu
  std::vector<std::string> flags;  ///< the user's: -I, -D, -std, libraries
  std::string appended = {};       ///< CUDA C++ behind the program's end, such as a driver
  bool is_lone_kernel = false;     ///< what the kernel does not call may be left out
  std::string kernel = {};         ///< the one meant; empty: any
};

/// A folder that vanishes with the object, or with the program if a signal ends it; TMPDIR or /tmp.
class TemporaryFolder {
 public:
  TemporaryFolder();
  const std::string& path() const { return folder_.path(); }

 private:
  const io::TemporaryFolder folder_;
};

/// As bench::run_program; what a compiler keeps for itself goes into the folder too.
bench::Printed run_compiler(const std::vector<std::string>& words, const std::string& folder);

/// The clang++ to use: TESSERA_CLANG, or clang++, or the newest clang++-N on PATH, 14 or newer.
/// Throws Error(kUnsupported) that names the package when there is none.
std::string find_clang();

/// Preprocesses and translates. Throws Error(kBadFile) with the compiler's message, at the user's
/// line, for a source that does not get that far.
Translation read_source(const Source& source, const TemporaryFolder& folder);

/// A flag that names a file of the program's own host code, which is compiled with it.
bool is_source(const std::string& flag);

enum class Build {
  kCheck,  ///< every access as written, and every index checked
  kCount,  ///< optimised, so that accesses are about those that a GPU compiler leaves
};

/// Compiles a translation into a shared object in the folder and returns its path. Its hooks are
/// named simt_hook_*. Throws Error(kBadFile) with the compiler's message.
std::string compile(const Translation& translation, const Source& source, Build build,
                    const TemporaryFolder& folder);

}  // namespace tessera::simt
