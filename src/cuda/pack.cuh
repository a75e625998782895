// What is done before a product: operands are copied and counts cleared, by one kernel.
//
// Operands are copied so that their lines (rows of op(A), columns of op(B)) lie side by side,
// 16-byte aligned: the form in which tiles can be fetched without being transposed.
#pragma once

#include "cuda/launch.cuh"
#include "cuda/ptx/grid_dependency.cuh"

namespace tessera::cuda {

/// A panel and where its copy goes: element (line, p) of batch member b to
/// g_to[(b * depth + p) * pitch + line]. What lies between the lines and the pitch is not written.
struct PackJob {
  Panel<float> from;
  std::int64_t batch = 0;  ///< members to copy; 0 for no work
  float* g_to = nullptr;
  std::int64_t pitch = 0;
};

struct PackJobs {
  PackJob job[2];
  unsigned* counts = nullptr;  ///< to clear
  std::int64_t count = 0;      ///< of them
};

inline constexpr int kPackLines = 32, kPackDepth = 64, kPackThreads = 256;

/// Lines start at multiples of a cache line, so that no two share one.
inline std::int64_t packed_pitch(std::int64_t lines) { return (lines + 31) / 32 * 32; }

/// One tile of one job: x counts tiles, y batch members, z jobs. The very first block clears.
__global__ void __launch_bounds__(kPackThreads)
    pack_panels(const __grid_constant__ PackJobs jobs, std::int64_t first_member) {
  // A float more than the tile is deep: the lines written and the columns read use all banks.
  __shared__ float s_tile[kPackLines][kPackDepth + 1];
  constexpr int kItems = kPackLines * kPackDepth / kPackThreads;
  ptx::let_next_grid_start();
  if (blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && first_member == 0) {
    for (std::int64_t i = threadIdx.x; i < jobs.count; i += kPackThreads) jobs.counts[i] = 0;
  }
  const PackJob& job = jobs.job[blockIdx.z];
  const Panel<float>& x = job.from;
  const std::int64_t member = first_member + blockIdx.y;
  const auto tiles_p = static_cast<unsigned>((x.depth + kPackDepth - 1) / kPackDepth);
  const std::int64_t first_line = std::int64_t{blockIdx.x / tiles_p} * kPackLines;
  const std::int64_t first_p = std::int64_t{blockIdx.x % tiles_p} * kPackDepth;
  if (member >= job.batch || first_line >= x.lines) return;
  const int lines = static_cast<int>(min(x.lines - first_line, std::int64_t{kPackLines}));
  const int depth = static_cast<int>(min(x.depth - first_p, std::int64_t{kPackDepth}));
  // Neighbours write neighbouring lines of one p; they read them too, or neighbouring p of a line.
  const int line = threadIdx.x % kPackLines, p = threadIdx.x / kPackLines;
  constexpr int kStepP = kPackThreads / kPackLines;
  const float* g_from = x.at(first_line, first_p) + member * x.batch_stride;
  float r_items[kItems];
  // All loads before the first store, so that they wait together.
  if (x.depth_is_contiguous()) {
    constexpr int kStepLine = kPackThreads / kPackDepth;
    const int from_p = threadIdx.x % kPackDepth, from_line = threadIdx.x / kPackDepth;
    g_from += from_line * x.line_step + from_p;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const bool present = from_p < depth && from_line + i * kStepLine < lines;
      r_items[i] = present ? g_from[i * kStepLine * x.line_step] : 0;
    }
#pragma unroll
    for (int i = 0; i < kItems; ++i) s_tile[from_line + i * kStepLine][from_p] = r_items[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) r_items[i] = s_tile[line][p + i * kStepP];
  } else {
    g_from += line + p * x.depth_step;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const bool present = line < lines && p + i * kStepP < depth;
      r_items[i] = present ? g_from[i * kStepP * x.depth_step] : 0;
    }
  }
  float* g_to = job.g_to + (member * x.depth + first_p + p) * job.pitch + first_line + line;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (line < lines && p + i * kStepP < depth) g_to[i * kStepP * job.pitch] = r_items[i];
  }
}

/// Returns how a kernel that needs the results may start.
inline Start launch_pack(const PackJobs& jobs, void* stream) {
  std::int64_t tiles = 0, batch = 0;
  for (const PackJob& job : jobs.job) {
    const auto count = [](std::int64_t size, int tile) { return (size + tile - 1) / tile; };
    if (job.batch == 0) continue;
    tiles = std::max(tiles, count(job.from.lines, kPackLines) * count(job.from.depth, kPackDepth));
    batch = std::max(batch, job.batch);
  }
  if (tiles == 0 && jobs.count == 0) return Start::kAfterEnd;
  tiles = std::max(tiles, std::int64_t{1}), batch = std::max(batch, std::int64_t{1});
  const unsigned used = jobs.job[1].batch == 0 ? 1 : 2;
  for (std::int64_t first = 0; first < batch; first += kMaxGridYZ) {
    const auto members = static_cast<unsigned>(std::min(batch - first, kMaxGridYZ));
    launch(pack_panels, dim3(static_cast<unsigned>(tiles), members, used), dim3(kPackThreads),
           stream, jobs, first);
  }
  return Start::kWithinEnd;
}

}  // namespace tessera::cuda
