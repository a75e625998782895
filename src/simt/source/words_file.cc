#include <fstream>

#include "simt/source/words.h"
#include "tessera/error.h"

namespace tessera::simt {

void write_words(const std::string& folder) {
  for (const Word& word : words()) {
    std::ofstream out(folder + "/" + word.name);
    out << word.text;
    if (!out.flush()) {
      throw Error(ErrorCode::kOutputFailure, "check: cannot write " + folder + "/" + word.name);
    }
  }
}

}  // namespace tessera::simt
