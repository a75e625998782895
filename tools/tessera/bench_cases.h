// The cases that `bench` and `tune` are given: sizes, suites, ops, element type.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/case.h"

namespace tessera::cli {

struct CaseArgs {
  std::vector<std::int64_t> sizes;
  std::vector<std::string> suites;
  std::string ops = "NN";
  std::string dtype = "f32";
  bool empty() const { return sizes.empty() && suites.empty(); }
};

void add_case_options(CLI::App& app, CaseArgs& args);

/// Sizes first, then suites; lines of suites that cannot be read go to `faults`. Throws Error when
/// there is no case.
std::vector<bench::Case> cases_of(const CaseArgs& args, std::vector<std::string>* faults);

}  // namespace tessera::cli
