// What a warp asked of memory: the accesses of its lanes, grouped into requests as the hardware
// issues them, and counted in wavefronts and sectors.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace tessera::simt {

struct LoggedAccess {
  std::uintptr_t address;  ///< of shared memory: in its array, which a bank row begins with
  std::uint32_t pc;
  std::uint16_t array;  ///< of the launch's table of arrays
  std::uint8_t bytes;
  bool is_shared : 1;
  bool is_write : 1;
  bool is_part : 1;  ///< of a wider access of the source
};

struct SiteKey {
  std::uint32_t pc;
  std::uint16_t array;
  std::uint8_t bytes;
  bool is_shared, is_write, is_part;
  friend auto operator<=>(const SiteKey&, const SiteKey&) = default;
};

struct SiteCounts {
  std::uint64_t requests = 0, lanes = 0;
  std::uint64_t wavefronts = 0, ideal_wavefronts = 0;
  std::uint64_t sectors = 0, ideal_sectors = 0, useful_bytes = 0;
  unsigned worst_degree = 0;
  std::int64_t lane_stride = 0;
  bool stride_varies = false;
  bool width_is_compiled = false;
  std::vector<std::int64_t> worst_offsets;  ///< see Site::lane_offsets
  std::uint64_t worst_excess = 0;

  void add(const SiteCounts& other);
};

/// What the GPU's compiler made of the accesses of a line.
struct CompiledWidth {
  int bytes = 0;              ///< the widest; 0: unknown
  int count = 0;              ///< instructions
  std::vector<int> sequence;  ///< of several widths, see CompiledWidths
  int line = -1;              ///< accesses of one line have one number
};
using WidthOf = std::function<CompiledWidth(const LoggedAccess&)>;

class WarpLog {
 public:
  using Lane = std::vector<LoggedAccess>;

  void set_widths(WidthOf width_of) { width_of_ = std::move(width_of); }
  /// Groups and counts what the 32 lanes logged since the last call, and clears them.
  void analyse(std::array<Lane, 32>& lanes, int count);
  std::map<SiteKey, SiteCounts>& sites() { return sites_; }
  /// Where array `id` begins, for offsets in it.
  void set_base(std::uint16_t id, std::uintptr_t base) {
    if (bases_.size() <= id) bases_.resize(id + 1);
    bases_[id] = base;
  }

 private:
  void split(Lane& lane);
  void widen(Lane& lane);
  void add_request(const LoggedAccess* const* of_lane, int count);
  SiteCounts& counts_of(const LoggedAccess& a);

  const CompiledWidth& width(const LoggedAccess& a);

  WidthOf width_of_;
  std::unordered_map<std::uint64_t, CompiledWidth> widths_;  // by instruction and kind
  std::map<SiteKey, SiteCounts> sites_;
  struct Cached {
    SiteKey key{};
    SiteCounts* counts = nullptr;
  };
  std::array<Cached, 256> cache_{};
  struct Piece {
    std::uintptr_t base;
    std::uint32_t filled;
    std::size_t first;
    std::uint16_t array;
    std::uint8_t bytes, width;
    bool is_shared, is_write;
  };
  /// Of a line with a sequence, the next of its widths.
  struct Cursor {
    int line;
    bool is_split;  ///< all of a lane's accesses have the widest of the widths
    std::size_t next;
  };
  /// Null for a line that has none.
  Cursor* cursor_of(const CompiledWidth& width);
  std::vector<Cursor> cursors_;
  Lane widened_, split_;
  std::vector<Piece> pieces_;
  std::vector<std::int32_t> piece_of_;
  std::vector<std::uintptr_t> bases_;
};

}  // namespace tessera::simt
