// Any bytes as a compiled kernel: refused with an Error, or read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "simt/report/cubin.h"
#include "tessera/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera;
  try {
    const simt::Cubin cubin = simt::read_cubin({data, data + size}, "fuzz.cubin");
    for (const simt::CompiledWidths& widths : cubin.widths) {
      if (widths.line < 1 || widths.bytes < 1 || widths.count < 1) std::abort();
    }
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kBadFile) std::abort();
  }
  return 0;
}
