// Any bytes as a .safetensors file: refused with an Error, or tensors that lie within them.
#include "io/safetensors.h"

#include <cstddef>
#include <cstdint>

#include "read_all.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera;
  const std::string name = "fuzz.safetensors";
  io::SafetensorsFile file;
  try {
    file = io::parse_safetensors({reinterpret_cast<const std::byte*>(data), size}, name);
  } catch (const Error&) {
    return 0;
  }
  for (const io::SafetensorsEntry& entry : file.entries) {
    try {
      io::read_all(io::find_tensor(file, name, entry.name));
      io::find_tensor(file, name, entry.name + "x");
    } catch (const Error&) {
    }
  }
  return 0;
}
