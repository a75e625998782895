#include "verify/signs.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tessera::verify_detail {
namespace {

// The output function of SplitMix64 (G. Steele, D. Lea, C. Flood, OOPSLA 2014), at position
// `index` of the stream that starts at `seed`.
std::uint64_t random_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

using SignTable = std::array<std::array<double, 8>, 256>;

SignTable make_table() {
  SignTable table{};
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t bit = 0; bit < 8; ++bit) table[byte][bit] = (byte >> bit) & 1 ? -1.0 : 1.0;
  }
  return table;
}

}  // namespace

void Signs::expand(std::int64_t j0, std::int64_t count, const std::vector<unsigned char>& skip,
                   double* out) const {
  static const SignTable table = make_table();
  for (std::int64_t j = j0; j < j0 + count; ++j, out += columns_) {
    if (!skip.empty() && skip[static_cast<std::size_t>(j)]) {
      std::fill(out, out + columns_, 0.0);
      continue;
    }
    std::uint64_t word = random_word(seed_, static_cast<std::uint64_t>(j));
    for (std::int64_t r = 0; r < columns_; r += 8, word >>= 8) {
      std::memcpy(out + r, table[word & 255].data(), 8 * sizeof(double));
    }
  }
}

}  // namespace tessera::verify_detail
