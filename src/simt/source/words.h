// The headers that a checked program includes in CUDA's place.
#pragma once

#include <string>
#include <vector>

namespace tessera::simt {

struct Word {
  std::string name;  ///< "cuda_runtime.h", "cooperative_groups/reduce.h"
  std::string text;
};
const std::vector<Word>& words();
/// Writes them all into `folder`.
void write_words(const std::string& folder);

}  // namespace tessera::simt
