#include "simt/run/warp_log.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "simt/banks.h"

namespace tessera::simt {
namespace {

constexpr int kLanes = 32;
constexpr int kSector = 32;

/// Distinct numbers among count of them, which are sorted in place.
template <class T>
int distinct(T* x, int count) {
  if (!std::is_sorted(x, x + count)) std::sort(x, x + count);
  return static_cast<int>(std::unique(x, x + count) - x);
}

}  // namespace

void SiteCounts::add(const SiteCounts& other) {
  if (requests == 0) {
    lane_stride = other.lane_stride;
  } else if (other.requests != 0 && lane_stride != other.lane_stride) {
    stride_varies = true;
  }
  requests += other.requests, lanes += other.lanes;
  wavefronts += other.wavefronts, ideal_wavefronts += other.ideal_wavefronts;
  sectors += other.sectors, ideal_sectors += other.ideal_sectors;
  useful_bytes += other.useful_bytes;
  worst_degree = std::max(worst_degree, other.worst_degree);
  stride_varies |= other.stride_varies;
  if (worst_offsets.empty() || other.worst_excess > worst_excess) {
    worst_offsets = other.worst_offsets;
    worst_excess = other.worst_excess;
  }
  width_is_compiled |= other.width_is_compiled;
}

SiteCounts& WarpLog::counts_of(const LoggedAccess& a) {
  const SiteKey key{a.pc, a.array, a.bytes, a.is_shared != 0, a.is_write != 0, a.is_part != 0};
  Cached& cached = cache_[(a.pc ^ a.pc >> 8) % cache_.size()];
  if (cached.counts == nullptr || cached.key != key) cached = {key, &sites_[key]};
  return *cached.counts;
}

void WarpLog::add_request(const LoggedAccess* const* of_lane, int count) {
  std::uintptr_t addresses[kLanes];
  bool active[kLanes] = {};
  int lanes = 0, first = -1;
  for (int i = 0; i < count; ++i) {
    if (of_lane[i] == nullptr) continue;
    active[i] = true;
    addresses[i] = of_lane[i]->address;
    if (first < 0) first = i;
    ++lanes;
  }
  const LoggedAccess& a = *of_lane[first];
  SiteCounts& site = counts_of(a);
  ++site.requests;
  site.lanes += lanes;
  if (first + 1 < count && active[first + 1]) {
    const auto stride = static_cast<std::int64_t>(addresses[first + 1] - addresses[first]);
    if (site.requests == 1) site.lane_stride = stride;
    if (site.lane_stride != stride) site.stride_varies = true;
  }
  const auto keep_worst = [&](std::uint64_t excess) {
    if (!site.worst_offsets.empty() && excess <= site.worst_excess) return;
    site.worst_excess = excess;
    site.worst_offsets.assign(kLanes, -1);
    for (int i = 0; i < count; ++i) {
      if (active[i]) {
        site.worst_offsets[i] = static_cast<std::int64_t>(addresses[i] - bases_[a.array]);
      }
    }
  };
  if (a.is_shared) {
    const BankCount banks = count_banks(addresses, active, a.bytes);
    site.wavefronts += banks.wavefronts;
    site.ideal_wavefronts += banks.ideal;
    site.worst_degree = std::max(site.worst_degree, banks.degree);
    keep_worst(banks.wavefronts - banks.ideal);
    return;
  }
  std::uintptr_t sectors[kLanes * 2], distinct_addresses[kLanes];
  int sector_count = 0, address_count = 0;
  for (int i = 0; i < count; ++i) {
    if (!active[i]) continue;
    distinct_addresses[address_count++] = addresses[i];
    const std::uintptr_t last = (addresses[i] + a.bytes - 1) / kSector;
    for (std::uintptr_t s = addresses[i] / kSector; s <= last; ++s) sectors[sector_count++] = s;
  }
  const int moved = distinct(sectors, sector_count);
  const int useful = distinct(distinct_addresses, address_count) * a.bytes;
  const int ideal = (useful + kSector - 1) / kSector;
  site.sectors += moved;
  site.useful_bytes += useful;
  site.ideal_sectors += ideal;
  keep_worst(moved > ideal ? moved - ideal : 0);
}

const CompiledWidth& WarpLog::width(const LoggedAccess& a) {
  const std::uint64_t key = std::uint64_t{a.pc} << 2 | a.is_shared << 1 | a.is_write;
  const auto [it, is_new] = widths_.try_emplace(key);
  if (is_new) it->second = width_of_(a);
  return it->second;
}

WarpLog::Cursor* WarpLog::cursor_of(const CompiledWidth& width) {
  if (width.sequence.empty()) return nullptr;
  for (Cursor& cursor : cursors_) {
    if (cursor.line == width.line) return &cursor;
  }
  return &cursors_.emplace_back(Cursor{width.line, true, 0});
}

// The GPU's compiler may also take wide accesses of the source apart: all of a line, or those of
// some copies of an unrolled loop. Where all of a line's instructions run together their widths
// come in the order in which the accesses do.
void WarpLog::split(Lane& lane) {
  cursors_.clear();
  const auto is_taken_apart = [](const CompiledWidth& w, const LoggedAccess& a) {
    return w.bytes != 0 && w.bytes < a.bytes && w.count * w.bytes >= a.bytes;
  };
  bool any = false;
  for (const LoggedAccess& a : lane) {
    const CompiledWidth& w = width(a);
    any |= is_taken_apart(w, a);
    if (Cursor* cursor = cursor_of(w)) {
      cursor->is_split &= w.bytes == a.bytes;
      any = true;
    }
  }
  if (!any) return;
  split_.clear();
  for (const LoggedAccess& a : lane) {
    const CompiledWidth& w = width(a);
    Cursor* cursor = cursor_of(w);
    const bool in_sequence = cursor != nullptr && cursor->is_split;
    LoggedAccess piece = a;
    for (unsigned done = 0; done < a.bytes; done += piece.bytes) {
      unsigned bytes = is_taken_apart(w, a) ? w.bytes : a.bytes;
      if (in_sequence) {
        bytes = w.sequence[cursor->next];
        cursor->next = (cursor->next + 1) % w.sequence.size();
      }
      piece.address = a.address + done;
      piece.bytes = static_cast<std::uint8_t>(std::min(bytes, a.bytes - done));
      piece.is_part = piece.bytes < a.bytes;
      split_.push_back(piece);
    }
  }
  lane.swap(split_);
}

// The GPU's compiler joins neighbouring accesses of one line into wider ones; so are the logged
// ones where its code says so: those that fill an aligned piece of that width become one, at the
// place of the first. What fills no piece stays as it is: another array on the same line, or
// another kernel's code.
void WarpLog::widen(Lane& lane) {
  constexpr std::size_t kWindow = 64;  // pieces that may be incomplete at once
  pieces_.clear();
  piece_of_.assign(lane.size(), -1);
  std::size_t oldest = 0;
  bool any = false;
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const LoggedAccess& a = lane[i];
    const CompiledWidth& compiled = this->width(a);
    const int width = compiled.bytes;
    if (width <= a.bytes) continue;
    if (const Cursor* cursor = cursor_of(compiled); cursor != nullptr && cursor->is_split) continue;
    const std::uintptr_t base = a.address / width * width;
    const std::uint32_t slot = std::uint32_t{1} << ((a.address - base) / a.bytes);
    std::size_t p = pieces_.size();
    while (p-- > oldest) {
      const Piece& piece = pieces_[p];
      if (piece.base == base && piece.array == a.array && piece.is_shared == a.is_shared &&
          piece.is_write == a.is_write && piece.bytes == a.bytes && (piece.filled & slot) == 0) {
        break;
      }
    }
    if (p + 1 == oldest || p == ~std::size_t{0}) {
      p = pieces_.size();
      pieces_.push_back({base, 0, i, a.array, a.bytes, static_cast<std::uint8_t>(width),
                         a.is_shared != 0, a.is_write != 0});
      if (pieces_.size() - oldest > kWindow) ++oldest;
    }
    pieces_[p].filled |= slot;
    piece_of_[i] = static_cast<std::int32_t>(p);
    any = true;
  }
  if (!any) return;
  widened_.clear();
  for (std::size_t i = 0; i < lane.size(); ++i) {
    const Piece* piece = piece_of_[i] < 0 ? nullptr : &pieces_[piece_of_[i]];
    const bool full =
        piece != nullptr && piece->filled == (std::uint32_t{1} << piece->width / piece->bytes) - 1;
    if (!full) {
      widened_.push_back(lane[i]);
    } else if (piece->first == i) {
      LoggedAccess wide = lane[i];
      wide.address = piece->base;
      wide.bytes = piece->width;
      widened_.push_back(wide);
    }
  }
  lane.swap(widened_);
}

void WarpLog::analyse(std::array<Lane, 32>& lanes, int count) {
  if (width_of_) {
    for (int i = 0; i < count; ++i) {
      split(lanes[i]);
      widen(lanes[i]);
    }
  }
  const Lane& front = lanes[0];
  bool uniform = true;
  for (int i = 1; i < count && uniform; ++i) {
    uniform = lanes[i].size() == front.size();
    for (std::size_t j = 0; j < front.size() && uniform; ++j) {
      uniform = lanes[i][j].pc == front[j].pc && lanes[i][j].array == front[j].array &&
                lanes[i][j].bytes == front[j].bytes && lanes[i][j].is_write == front[j].is_write;
    }
  }
  const LoggedAccess* of_lane[kLanes] = {};
  if (uniform) {
    for (std::size_t j = 0; j < front.size(); ++j) {
      for (int i = 0; i < count; ++i) of_lane[i] = &lanes[i][j];
      add_request(of_lane, count);
    }
  } else {
    // Lanes went different ways: the n-th access of an instruction by each lane is one request.
    std::map<std::tuple<SiteKey, unsigned>, std::array<const LoggedAccess*, kLanes>> requests;
    for (int i = 0; i < count; ++i) {
      std::map<SiteKey, unsigned> times;
      for (const LoggedAccess& a : lanes[i]) {
        const SiteKey key{a.pc,          a.array, a.bytes, a.is_shared != 0, a.is_write != 0,
                          a.is_part != 0};
        requests[{key, times[key]++}][i] = &a;
      }
    }
    for (const auto& [key, lanes_of] : requests) add_request(lanes_of.data(), count);
  }
  for (int i = 0; i < count; ++i) lanes[i].clear();
}

}  // namespace tessera::simt
