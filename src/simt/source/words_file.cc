#include <filesystem>
#include <fstream>

#include "simt/source/words.h"
#include "tessera/error.h"

namespace tessera::simt {

void write_words(const std::string& folder) {
  for (const Word& word : words()) {
    const std::filesystem::path path = std::filesystem::path(folder) / word.name;
    std::error_code ignored;  // the stream below will not open
    std::filesystem::create_directories(path.parent_path(), ignored);
    std::ofstream out(path);
    out << word.text;
    if (!out.flush()) {
      throw Error(ErrorCode::kOutputFailure, "check: cannot write " + path.string());
    }
  }
}

}  // namespace tessera::simt
