#include "simt/report/sass.h"

namespace tessera::simt {
namespace {

int width_bytes(std::uint64_t high) {
  // u8, s8, u16, s16, 32, 64, 128; the eighth code is not an access of ours.
  constexpr int kBytes[8] = {1, 1, 2, 2, 4, 8, 16, 0};
  return kBytes[(high >> 9) & 7];
}

// LDGSTS: up to sm_90 as a load; from sm_100 on only bits 10-11 say 4, 8 or 16.
int copy_bytes(std::uint64_t high, int sm) {
  return sm >= 100 ? 4 << ((high >> 10) & 3) : width_bytes(high);
}

}  // namespace

SassBranch sass_branch(std::uint64_t low, std::uint64_t high, int sm) {
  const auto opcode = low & 0xfff;
  if (opcode == 0xb1d || opcode == 0x31d) return {true, {}};  // BAR
  if (opcode < 0x940 || opcode > 0x95f) return {};
  if (opcode != 0x947) return {true, {}};  // only BRA leads into the middle of other code
  std::uint64_t distance = low >> 34 | (high & 0x3ffff) << 30;  // 48 bits
  if (sm >= 90) distance = distance << 8 | (low >> 16 & 0xff);
  const int unused = sm >= 90 ? 8 : 16;  // its sign, at the top
  return {true, (static_cast<std::int64_t>(distance << unused) >> unused) * 4};
}

bool sass_is_unconditional(std::uint64_t low) { return (low >> 12 & 0xf) == 7; }

std::vector<SassAccess> sass_accesses(std::uint64_t low, std::uint64_t high, int sm) {
  const int bytes = width_bytes(high);
  switch (low & 0xfff) {
    case 0x984:  // LDS
      return {{Memory::kShared, false, bytes}};
    case 0x388:  // STS
    case 0x988:
      return {{Memory::kShared, true, bytes}};
    case 0x381:  // LDG
    case 0x981:
      return {{Memory::kGlobal, false, bytes}};
    case 0x386:  // STG
    case 0x986:
      return {{Memory::kGlobal, true, bytes}};
    case 0x983:  // LDL
      return {{Memory::kLocal, false, bytes}};
    case 0x387:  // STL
    case 0x987:
      return {{Memory::kLocal, true, bytes}};
    case 0x97e:  // LDG of 32 bytes, sm_100
      return {{Memory::kGlobal, false, 32}};
    case 0x97f:  // STG
      return {{Memory::kGlobal, true, 32}};
    case 0xfae:  // LDGSTS
    case 0x3ae: {
      const int copied = copy_bytes(high, sm);
      return {{Memory::kGlobal, false, copied}, {Memory::kShared, true, copied}};
    }
    default:
      return {};
  }
}

}  // namespace tessera::simt
