// PTX as text: the instructions that have a C++ counterpart here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::simt {

/// The translation of one asm string, or the name of the instruction that has none.
struct Assembly {
  std::string text;         ///< C++ statements
  std::string unsupported;  ///< "wgmma.mma_async", or empty
};

/// `operands` are %0, %1, ... as C++ expressions.
Assembly translate_assembly(std::string_view code, const std::vector<std::string>& operands);

}  // namespace tessera::simt
