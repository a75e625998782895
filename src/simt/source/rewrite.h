// The steps of a translation; each reads the tokens and adds its edits.
#pragma once

#include "simt/source/declarations.h"
#include "simt/source/edits.h"
#include "simt/source/signatures.h"
#include "simt/source/translate.h"

namespace tessera::simt {

struct Program {
  const Tokens& tokens;
  const Declarations& declarations;
  const Kernels& kernels;
  Edits& edits;
  std::vector<Refusal>& refusals;
  std::vector<Refusal>& doubts;

  void refuse(std::size_t token, std::string what, std::string why, std::string group = "") const {
    if (group.empty()) group = what;
    refusals.push_back({tokens.file(token), tokens[token].line, std::move(what), std::move(why),
                        std::move(group), tokens[token].begin});
  }
};

/// k<<<...>>>(...), cudaLaunchKernel(...) and its kin.
void rewrite_launches(const Program& program);
/// __global__, __device__, __launch_bounds__ and the like.
void rewrite_qualifiers(const Program& program);
/// __shared__ in all its forms. Returns false when there is none.
void rewrite_shared(const Program& program);
/// asm statements of device functions.
void rewrite_assembly(const Program& program);
/// Refuses the libraries and features that the executor lacks.
void refuse_unsupported(const Program& program);

/// The text without the functions that refusals lie in and that `kernel` does not call.
std::string without_unneeded(const Tokens& tokens, const Declarations& declarations,
                             const std::vector<Refusal>& refusals, const std::string& kernel);

std::vector<Constant> find_constants(const Tokens& tokens, const Declarations& declarations);
/// Other names of types that are plain words, each with the type that it comes to in the end.
std::vector<Constant> find_aliases(const Tokens& tokens, const Declarations& declarations);

}  // namespace tessera::simt
