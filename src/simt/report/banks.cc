#include "simt/report/banks.h"

#include <algorithm>

#include "simt/banks.h"

namespace tessera::simt {
namespace {

constexpr int kLanes = 32, kBanks = 32, kBankBytes = 4;
constexpr std::int64_t kPeriod = kBanks * kBankBytes;  // padding by a period changes nothing

BankCount count(const std::vector<std::int64_t>& offsets, int bytes) {
  std::uintptr_t addresses[kLanes] = {};
  bool active[kLanes] = {};
  for (std::size_t i = 0; i < offsets.size() && i < kLanes; ++i) {
    active[i] = offsets[i] >= 0;
    addresses[i] = active[i] ? static_cast<std::uintptr_t>(offsets[i]) : 0;
  }
  return count_banks(addresses, active, static_cast<unsigned>(bytes));
}

// What a warp's lanes access, as far as the site tells: offsets within rows of site.row_pitch.
std::vector<std::int64_t> pattern_of(const Site& site) {
  if (!site.lane_offsets.empty()) return site.lane_offsets;
  if (site.lane_stride == 0) return {};
  std::vector<std::int64_t> offsets(kLanes);
  for (int i = 0; i < kLanes; ++i) {
    const int lane = site.lane_stride > 0 ? i : kLanes - 1 - i;
    offsets[i] = lane * std::abs(site.lane_stride);
  }
  return offsets;
}

std::vector<std::int64_t> with_pitch(std::vector<std::int64_t> offsets, std::int64_t from,
                                     std::int64_t to) {
  for (std::int64_t& offset : offsets)
    if (offset >= 0) offset = offset / from * to + offset % from;
  return offsets;
}

struct Access {
  std::vector<std::int64_t> pattern;
  int bytes;
  double requests;
  double cost(std::int64_t from, std::int64_t to) const {
    return wavefronts(with_pitch(pattern, from, to), bytes);
  }
};

}  // namespace

unsigned wavefronts(const std::vector<std::int64_t>& offsets, int bytes) {
  return count(offsets, bytes).wavefronts;
}

unsigned ideal_wavefronts(const std::vector<std::int64_t>& offsets, int bytes) {
  return count(offsets, bytes).ideal;
}

std::optional<Padding> best_padding(const Site& site, const std::vector<Site>& all) {
  const std::int64_t pitch = site.row_pitch;
  if (pitch <= 0 || site.bytes <= 0) return std::nullopt;
  std::int64_t step = kBankBytes, alignment = site.bytes;
  std::vector<Access> others;
  for (const Site& s : all) {
    if (s.space != Space::kShared || s.kernel != site.kernel || s.array != site.array ||
        s.bytes <= 0)
      continue;
    step = std::min<std::int64_t>(step, s.bytes);
    alignment = std::max<std::int64_t>(alignment, s.bytes);
    if (auto pattern = pattern_of(s); !pattern.empty() && s.row_pitch == pitch)
      others.push_back({std::move(pattern), s.bytes, static_cast<double>(s.requests)});
  }
  const Access own{pattern_of(site), site.bytes, static_cast<double>(site.requests)};

  std::optional<Padding> best;
  double now = 0;
  for (const Access& a : others) now += a.requests * a.cost(pitch, pitch);
  double fewest = now;
  for (std::int64_t bytes = step; bytes <= kPeriod; bytes += step) {
    const std::int64_t padded = pitch + bytes;
    if (padded % alignment != 0) continue;
    Padding padding{bytes, padded, !own.pattern.empty(), 0, false};
    if (own.pattern.empty()) {
      // An odd number of units puts the elements of a column into different banks.
      if (padded / std::max<std::int64_t>(alignment, kBankBytes) % 2 == 1 &&
          padded % kBankBytes == 0)
        return padding;
      continue;
    }
    padding.wavefronts = own.cost(pitch, padded);
    padding.is_free =
        padding.wavefronts <= ideal_wavefronts(with_pitch(own.pattern, pitch, padded), site.bytes);
    double total = 0;
    bool harms = false;
    for (const Access& a : others) {
      const double cost = a.cost(pitch, padded);
      harms = harms || cost > a.cost(pitch, pitch);
      total += a.requests * cost;
    }
    if (!harms && padding.is_free) return padding;
    if (total < fewest) {
      fewest = total;
      best = padding;
    }
  }
  return best;
}

}  // namespace tessera::simt
