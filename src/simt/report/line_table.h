// Source lines of a cubin's instructions, from its .debug_line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simt/report/elf_image.h"

namespace tessera::simt {

struct SourceLine {
  std::string file;  ///< as the compiler was given it
  int line = 0;
};

class LineTable {
 public:
  /// Empty for a cubin without line numbers. Writes addresses into the image's .debug_line.
  explicit LineTable(ElfImage& image);

  /// The line of the instruction at `offset` of section `section`. Where the instruction comes from
  /// a toolkit header that was inlined: the line of the user's source that called it.
  std::optional<SourceLine> find(unsigned section, std::uint64_t offset) const;

 private:
  void place_sections(ElfImage& image);

  std::map<unsigned, std::uint64_t> base_;  // section index to the address it was given
  std::map<std::uint64_t, SourceLine> rows_;
};

}  // namespace tessera::simt
