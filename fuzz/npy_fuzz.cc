// Any bytes as a .npy file: refused with an Error, or a matrix that lies within them.
#include "io/npy.h"

#include <cstddef>
#include <cstdint>

#include "read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera;
  try {
    io::read_all(io::parse_npy({reinterpret_cast<const std::byte*>(data), size}, "fuzz.npy"));
  } catch (const Error&) {
  }
  return 0;
}
