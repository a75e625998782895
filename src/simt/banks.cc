#include "simt/banks.h"

#include <algorithm>

namespace tessera::simt {
namespace {

constexpr int kLanes = 32, kBanks = 32;

/// Each of the lanes wants the same as lane ^ step.
bool agree(const std::uintptr_t* addresses, const bool* active, int first, int last, int step) {
  for (int i = first; i < last; ++i) {
    const int j = i ^ step;
    if (active[i] && active[j] && addresses[i] != addresses[j]) return false;
  }
  return true;
}

bool go_together(const std::uintptr_t* addresses, const bool* active, int first, int last) {
  return agree(addresses, active, first, last, 1) || agree(addresses, active, first, last, 2);
}

/// Most distinct words that lanes [first, last) want of one bank; 0 when none is active.
unsigned worst_bank(const std::uintptr_t* addresses, const bool* active, int first, int last,
                    unsigned bytes) {
  std::uintptr_t words[kBanks][kLanes];
  std::uint8_t count[kBanks] = {};
  unsigned most = 0;
  for (int i = first; i < last; ++i) {
    if (!active[i]) continue;
    const std::uintptr_t end = (addresses[i] + bytes - 1) >> 2;
    for (std::uintptr_t word = addresses[i] >> 2; word <= end; ++word) {
      const auto bank = word % kBanks;
      std::uintptr_t* of_bank = words[bank];
      if (std::find(of_bank, of_bank + count[bank], word) != of_bank + count[bank]) continue;
      if (count[bank] < kLanes) of_bank[count[bank]++] = word;
      most = std::max<unsigned>(most, count[bank]);
    }
  }
  return most;
}

}  // namespace

BankCount count_banks(const std::uintptr_t* addresses, const bool* active, unsigned bytes) {
  const int group = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  BankCount total;
  for (int first = 0; first < kLanes;) {
    int last = first + group;
    if (group < 32 && first % (2 * group) == 0 &&
        go_together(addresses, active, first, first + 2 * group)) {
      last += group;
    }
    const unsigned passes = worst_bank(addresses, active, first, last, bytes);
    total.wavefronts += passes;
    total.ideal += passes != 0 ? 1 : 0;
    total.degree = std::max(total.degree, passes);
    first = last;
  }
  return total;
}

}  // namespace tessera::simt
