// Block and grid of a lone kernel, as far as its source tells.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simt/gemm/body.h"
#include "simt/gemm/expression.h"

namespace tessera::simt {

/// The integers that a kernel is made of: template arguments, constants of the file and its own.
using Values = std::map<std::string, std::int64_t>;

/// Adds what can be evaluated of `constants`; names already present stay.
void add_constants(Values& values, const std::vector<Constant>& constants);

struct LaunchRule {
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::vector<std::string> grid;  ///< expressions of M, N, K
  std::string from;               ///< "TILE = 16"
};

LaunchRule derive_launch(const Signature& kernel, const BodyFacts& body, const Values& values);

/// Values for the template parameters of a kernel asked for by its bare name, in their order and up
/// to the first with a default; no value when they are none that have a usual one.
std::optional<std::vector<std::string>> usual_template_arguments(const Signature& kernel);

}  // namespace tessera::simt
