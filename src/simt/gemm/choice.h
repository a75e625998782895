// Which function of a program is asked for.
#pragma once

#include <string>
#include <vector>

#include "simt/gemm/launch_rule.h"
#include "simt/source/translate.h"

namespace tessera::simt {

/// Either `kernel` or `solve` is set.
struct Choice {
  const Signature* kernel = nullptr;
  const SolveFunction* solve = nullptr;
  std::vector<std::string> template_arguments;
  bool arguments_are_usual = false;  ///< not given by the user

  /// "tiled<16>" or "solve".
  std::string launched(bool qualified) const;
  /// The values of integer template parameters, defaults included, where they can be told.
  Values values(const std::vector<Constant>& constants) const;
  /// The parameters, with type parameters and aliases replaced.
  std::vector<Parameter> parameters(const std::vector<Constant>& aliases) const;
};

/// `wanted`: "tiled", "tiled<16>", "solve" or empty: the only one. Throws Error(kInvalidArgument).
Choice choose(const Translation& translation, const std::string& wanted);

}  // namespace tessera::simt
