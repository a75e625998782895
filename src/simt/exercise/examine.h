// From an answer's file to its verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simt/check.h"
#include "simt/exercise/exercise.h"
#include "simt/exercise/loads.h"

namespace tessera::simt {

struct Examination {
  Report report;  ///< of the first size, with what was found at any
  std::vector<SizeRun> runs;
  ExerciseVerdict verdict;
  std::optional<LoadComparison> loads;
};

/// Runs an answer at each of exercise_sizes().
Examination examine(CheckedProgram& program);

std::string to_text(const Examination& examination);
/// {"solved", "summary", "blanks", "sizes", "others", "loads"}
Json to_json(const Examination& examination);

}  // namespace tessera::simt
