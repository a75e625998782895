// What nvcc makes of a kernel, read from a cubin.
#pragma once

#include <string>
#include <vector>

#include "simt/report/report.h"

namespace tessera::simt {

/// Access widths at one source line, as compiled.
struct CompiledWidths {
  std::string kernel;  ///< demangled
  std::string file;    ///< base name
  int line = 0;
  bool is_shared = false, is_write = false;
  int bytes = 0;  ///< the widest
  int count = 0;  ///< instructions
  /// Where all of them always run together: their widths, in the order in which they run. Empty
  /// where one runs without another, or all have one width.
  std::vector<int> sequence;
};

struct Cubin {
  std::vector<Compiled> kernels;  ///< occupancy not yet filled in
  std::vector<CompiledWidths> widths;
};

/// nvcc on PATH or in /usr/local/cuda/bin; empty when there is none.
std::string find_nvcc();
/// Of a user's flags, those of the preprocessor and the language. The rest (libraries, warnings,
/// code generation) is for the checker's compiler or for linking.
std::vector<std::string> nvcc_flags(const std::vector<std::string>& flags);
/// sm_50 or newer: sm_90, sm_90a.
bool is_architecture(const std::string& name);
/// Compiles for `architecture` ("sm_90") with -lineinfo and reads the result. Throws
/// Error(kBadFile) with nvcc's message.
Cubin compile_cubin(const std::string& nvcc, const std::string& path,
                    const std::vector<std::string>& flags, const std::string& architecture,
                    const std::string& folder);
/// Throws Error(kBadFile) for a file that is no cubin or is damaged.
Cubin read_cubin(const std::string& path);
/// The same of a file's bytes; `name` is for messages.
Cubin read_cubin(std::vector<char> bytes, const std::string& name);

/// Fills in blocks_per_sm, occupancy and limited_by.
void add_occupancy(Compiled& kernel, int threads, std::int64_t dynamic_shared_bytes);

}  // namespace tessera::simt
