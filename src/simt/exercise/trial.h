// Each blank on its own: the answer's text in one, the others as they should be.
#pragma once

#include <vector>

#include "simt/check.h"
#include "simt/exercise/exercise.h"

namespace tessera::simt {

/// What it takes to tell the blanks of an answer apart that does not work: nothing for one that
/// cannot be run so, such as a blank that uses another's variables.
std::vector<BlankTrial> try_blanks(const CheckedProgram& program, const std::vector<SizeRun>& runs);

}  // namespace tessera::simt
