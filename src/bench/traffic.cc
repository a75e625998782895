#include "bench/traffic.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>

#include "core/int_math.h"

namespace tessera::bench {
namespace {

constexpr int kWarp = 32, kSectorBytes = 32, kBanks = 32, kWavefrontBytes = 128;

/// Of a whole product; or of a part of it, to be added up.
struct Counts {
  double requests = 0, sectors = 0, wavefronts = 0, multiply_adds = 0;
};

/// One kernel's sizes, from its id: "128x128x16_t8x8_s2_v4".
struct Tile {
  std::int64_t m = 1, n = 1, k = 1;  ///< of a block
  std::int64_t thread_m = 1, thread_n = 1;
  std::int64_t vector = 1;  ///< elements in a wide load
  std::int64_t slices = 1;
};

/// The number after `mark` at the beginning of one of the parts between '_'.
std::optional<std::int64_t> number_after(std::string_view config, std::string_view mark) {
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::size_t end = config.find('_', at);
    const std::string_view part = config.substr(at, end - at);
    std::int64_t value = 0;
    if (part.starts_with(mark) &&
        std::from_chars(part.data() + mark.size(), part.data() + part.size(), value).ec ==
            std::errc()) {
      return value;
    }
    at = end == std::string_view::npos ? end : end + 1;
  }
  return std::nullopt;
}

Tile tile_of(const Kernel& kernel) {
  const std::string_view config = kernel.id.config;
  Tile tile{kernel.tile_m, kernel.tile_n, kernel.tile_k};
  tile.thread_m = number_after(config, "t").value_or(1);
  tile.vector = number_after(config, "v").value_or(1);
  tile.slices = number_after(config, "k").value_or(1);
  // "t8x16": the second number follows the first.
  const std::size_t thread = config.find("_t"), by = config.find('x', thread);
  if (thread != std::string_view::npos && by != std::string_view::npos) {
    std::from_chars(config.data() + by + 1, config.data() + config.size(), tile.thread_n);
  }
  return tile;
}

/// Passes through shared memory for one access of a warp, a word of 4 or 8 bytes a lane, the latter
/// half a warp at a time: words of one bank that differ take turns.
template <class WordOf>
int wavefronts(int element_bytes, WordOf word_of) {
  const int words = element_bytes / 4, lanes = kWarp / words;
  int total = 0;
  for (int first = 0; first < kWarp; first += lanes) {
    std::array<std::set<int>, kBanks> bank;
    for (int lane = first; lane < first + lanes; ++lane) {
      for (int word = 0; word < words; ++word) {
        const int at = word_of(lane) * words + word;
        bank[static_cast<std::size_t>(at % kBanks)].insert(at);
      }
    }
    std::size_t turns = 0;
    for (const auto& rows : bank) turns = std::max(turns, rows.size());
    total += static_cast<int>(turns);
  }
  return total;
}

/// How one operand comes to shared memory.
struct Copy {
  double requests = 0, bytes = 0;
};

/// `lines` x `depth` elements by warps that move `vector` elements a lane, every sector whole.
Copy copy_of(std::int64_t lines, std::int64_t depth, std::int64_t vector, int element_bytes) {
  const auto elements = static_cast<double>(lines * depth);
  return {elements / static_cast<double>(kWarp * vector), elements * element_bytes};
}

/// Tiles, steps along k, and what they hold.
struct Grid {
  double tiles, steps, elements_of_c;
};

Grid grid_of(const Tile& tile, const Problem& p) {
  const auto tiles = static_cast<double>(ceil_div(p.m, tile.m) * ceil_div(p.n, tile.n)) *
                     static_cast<double>(p.batch);
  return {tiles, static_cast<double>(ceil_div(p.k, tile.k)), static_cast<double>(tile.m * tile.n)};
}

Counts count_naive(const Tile& tile, const Problem& p, int element_bytes) {
  const Grid grid = grid_of(tile, p);
  Counts x;
  x.multiply_adds = grid.tiles * grid.elements_of_c / kWarp * static_cast<double>(p.k);
  x.requests = 2 * x.multiply_adds;
  // A warp is two rows of 16 columns. For one p it asks for two elements of A, side by side when A
  // is transposed; and for 16 of B, side by side unless B is.
  const int sectors_a = p.trans_a ? 1 : 2;
  const int sectors_b = p.trans_b ? 16 : 16 * element_bytes / kSectorBytes;
  x.sectors = (sectors_a + sectors_b) * x.multiply_adds;
  return x;
}

Counts count_tiled(const Tile& tile, const Problem& p, int element_bytes) {
  const Grid grid = grid_of(tile, p);
  const int size = static_cast<int>(tile.m), vector = 16 / element_bytes;
  const double warps = grid.elements_of_c / kWarp;
  Counts x;
  x.requests = 2 * warps * grid.tiles * grid.steps;
  x.sectors = x.requests * kWarp * element_bytes / kSectorBytes;
  x.multiply_adds = warps * size * grid.tiles * grid.steps;

  // Lanes walk the index that is contiguous in memory, so the other operand is stored down columns.
  const int pitch_a = size + vector, pitch_b = size + 1;
  const auto stored = [&](int pitch, bool is_down) {
    return wavefronts(element_bytes, [&](int lane) {
      const int inner = lane % size, outer = lane / size;
      return is_down ? inner * pitch + outer : outer * pitch + inner;
    });
  };
  const int stores = stored(pitch_a, p.trans_a) + stored(pitch_b, p.trans_b);
  // A row's neighbours of B for each p; 16 bytes of A's row for every `vector` p, the same for a
  // row of lanes and few enough to go together.
  const int reads_b = wavefronts(element_bytes, [&](int lane) { return lane % size; });
  const double reads = size * (reads_b + 1.0 / vector);
  x.wavefronts = (stores + reads) * warps * grid.tiles * grid.steps;
  return x;
}

/// What the register tiled families have in common: `a` and `b` are copied for each step.
Counts count_register_tiled(const Tile& tile, const Problem& p, const Copy& a, const Copy& b,
                            double read_wavefronts) {
  const Grid grid = grid_of(tile, p);
  const double steps = grid.tiles * grid.steps;
  Counts x;
  x.requests = (a.requests + b.requests) * steps;
  x.sectors = (a.bytes + b.bytes) / kSectorBytes * steps;
  x.multiply_adds = grid.elements_of_c / kWarp * static_cast<double>(tile.k) * steps;
  // For one p a warp reads what its multiply-adds need. Stores fill every bank.
  const auto thread_results = static_cast<double>(tile.thread_m * tile.thread_n);
  x.wavefronts = read_wavefronts * x.multiply_adds / thread_results +
                 (a.bytes + b.bytes) / kWavefrontBytes * steps;
  return x;
}

/// Wavefronts of a warp's 16-byte reads for one p. Lanes in pairs share vectors, so that groups of
/// eight can go together two by two: two passes each.
double wide_reads(const Tile& tile, int element_bytes) {
  const int vector = 16 / element_bytes;
  return 2.0 * static_cast<double>(tile.thread_m + tile.thread_n) / vector;
}

/// The sums of all slices but the first are written and read once.
double slice_wavefronts(const Tile& tile, const Problem& p, int element_bytes) {
  const Grid grid = grid_of(tile, p);
  return 2 * static_cast<double>(tile.slices - 1) * grid.elements_of_c * element_bytes /
         kWavefrontBytes * grid.tiles;
}

Counts count_warp_tiled(const Tile& tile, const Problem& p, int element_bytes) {
  const auto vector_for = [](bool along_depth, int alignment, std::int64_t lines) {
    return !along_depth && alignment >= 16 && lines % 4 == 0 ? 4 : 1;
  };
  const Copy a = copy_of(tile.m, tile.k, vector_for(!p.trans_a, p.align_a, p.m), element_bytes);
  const Copy b = copy_of(tile.n, tile.k, vector_for(p.trans_b, p.align_b, p.n), element_bytes);
  Counts x = count_register_tiled(tile, p, a, b, wide_reads(tile, element_bytes));
  x.wavefronts += slice_wavefronts(tile, p, element_bytes);
  return x;
}

/// The copy engine brings the tiles: no warp asks for them.
Counts count_packed(const Tile& tile, const Problem& p, int element_bytes) {
  const auto fetched = [&](std::int64_t lines) {
    return Copy{0, static_cast<double>(lines * tile.k * element_bytes)};
  };
  Counts x = count_register_tiled(tile, p, fetched(tile.m), fetched(tile.n),
                                  wide_reads(tile, element_bytes));
  x.wavefronts += slice_wavefronts(tile, p, element_bytes);
  return x;
}

std::optional<Counts> count(const Kernel& kernel, const Problem& p) {
  const std::string& family = kernel.id.family;
  const int bytes = static_cast<int>(size_of(kernel.id.dtype));
  const Tile tile = tile_of(kernel);
  if (family == "naive") return count_naive(tile, p, bytes);
  if (family == "tiled") return count_tiled(tile, p, bytes);
  if (family == "register_tiled") {
    // One element a lane and read: rows of lanes share those of A and lie side by side in B.
    const int columns = static_cast<int>(tile.n / tile.thread_n);
    const double reads =
        static_cast<double>(tile.thread_m) * wavefronts(bytes, [&](int x) { return x / columns; }) +
        static_cast<double>(tile.thread_n) * wavefronts(bytes, [&](int x) { return x % columns; });
    return count_register_tiled(tile, p, copy_of(tile.m, tile.k, 1, bytes),
                                copy_of(tile.n, tile.k, 1, bytes), reads);
  }
  if (family == "vectorized") {
    return count_register_tiled(tile, p, copy_of(tile.m, tile.k, tile.vector, bytes),
                                copy_of(tile.n, tile.k, tile.vector, bytes),
                                wide_reads(tile, bytes));
  }
  if (family == "double_buffered") {
    // An operand that is contiguous along k is copied element by element.
    return count_register_tiled(
        tile, p, copy_of(tile.m, tile.k, p.trans_a ? tile.vector : 1, bytes),
        copy_of(tile.n, tile.k, p.trans_b ? 1 : tile.vector, bytes), wide_reads(tile, bytes));
  }
  if (family == "warp_tiled") return count_warp_tiled(tile, p, bytes);
  if (family == "packed") return count_packed(tile, p, bytes);
  return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::string, double>> analytic_counts(const Kernel& kernel,
                                                            const Problem& problem) {
  if (kernel.id.backend != "cuda") return {};
  const std::optional<Counts> x = count(kernel, problem);
  if (!x) return {};
  return {{"global_load_requests", x->requests},
          {"global_load_sectors", x->sectors},
          {"shared_wavefronts", x->wavefronts},
          {"multiply_adds", x->multiply_adds},
          {"flops_per_byte", 2 * kWarp * x->multiply_adds / (x->sectors * kSectorBytes)}};
}

}  // namespace tessera::bench
