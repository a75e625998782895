// From CUDA C++ as written to C++ that calls the executor.
//
// The source is preprocessed first (so that launches in headers and macros are seen), then its own
// parts, not those of system headers, are rewritten token by token; line and column stay:
//   k<T><<<grid, block, shared, stream>>>(args)   a launch object that is given a lambda
//   __shared__ T x[A][B];                         a reference into the block's shared memory
//   extern __shared__ T x[];                      a pointer to its dynamic part
//   __global__ __device__ __launch_bounds__ ...   nothing, or what C++ has for it
//   asm("cp.async ..." ...)                       the function that does it
#pragma once

#include <string>
#include <vector>

namespace tessera::simt {

struct Parameter {
  std::string type, name;  ///< "const float*", "A"; qualifiers such as __restrict__ left out
  std::string default_value = {};  ///< of a template parameter; empty: none
};

/// A __global__ function of the source.
struct Signature {
  std::string name;  ///< without namespaces
  std::string qualified_name;
  std::string file;
  int line = 0;
  std::vector<Parameter> template_parameters;  ///< "int", "BM", "128"
  std::vector<Parameter> parameters;
  std::string launch_bounds;   ///< the words between its parentheses, or empty
  bool uses_thread_y = false;  ///< its body or what it calls names threadIdx.y
  std::string body = {};       ///< its tokens, as preprocessed, and those of what it calls
};

/// A host function `solve(A, B, C, M, N, K)`, which launches by itself.
struct SolveFunction {
  int line = 0;
  std::vector<Parameter> parameters;
  std::string file = {};
};

/// Something that the executor cannot run.
struct Refusal {
  std::string file;
  int line = 0;
  std::string what;        ///< "wgmma.mma_async", "cudaGraphLaunch", "#include <cublas_v2.h>"
  std::string why;         ///< one sentence
  std::string group = {};  ///< of those of one group only the first is told
  std::size_t at = 0;      ///< offset in the preprocessed text
};

struct Constant {
  std::string name, value;  ///< "TILE", "16": integer constants and macros at namespace scope
};

struct Translation {
  std::string text;
  std::vector<Signature> kernels;
  std::vector<SolveFunction> solves;
  std::vector<Refusal> refusals;
  std::vector<Refusal> doubts;  ///< headers of libraries: what to tell if it does not compile
  std::vector<Constant> constants;
  std::vector<Constant> aliases;  ///< "real_t", "float": typedef and using of plain words
  bool has_main = false;
  bool talks_between_blocks = false;  ///< atomics, fences or volatile: blocks run one after another
};

/// Rewrites preprocessed text (with line markers) of the program `path`.
Translation translate(const std::string& preprocessed, const std::string& path);
/// The same for running the kernel `kernel` alone, or `solve`; empty: any of them. Functions that
/// it does not call are left out where they ask for what the executor lacks.
Translation translate_for(const std::string& kernel, const std::string& preprocessed,
                          const std::string& path);

}  // namespace tessera::simt
