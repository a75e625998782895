// Copies operands so that their lines (rows of op(A), columns of op(B)) lie side by side, 16-byte
// aligned: the form in which tiles can be fetched without being transposed.
#pragma once

#include "cuda/launch.cuh"

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
};

inline constexpr int kPackTile = 64, kPackThreads = 256;

/// Lines start at multiples of a cache line, so that no two share one.
inline std::int64_t packed_pitch(std::int64_t lines) { return (lines + 31) / 32 * 32; }

/// One tile of one job: x counts tiles, y batch members, z jobs.
__global__ void __launch_bounds__(kPackThreads)
    pack_panels(const __grid_constant__ PackJobs jobs, std::int64_t first_member) {
  // A row more than the tile is wide: both the rows written and the columns read use all banks.
  __shared__ float s_tile[kPackTile][kPackTile + 1];
  constexpr int kRows = kPackThreads / kPackTile, kItems = kPackTile / kRows;
  const PackJob& job = jobs.job[blockIdx.z];
  const Panel<float>& x = job.from;
  const std::int64_t member = first_member + blockIdx.y;
  const std::int64_t tiles_p = (x.depth + kPackTile - 1) / kPackTile;
  const std::int64_t first_line = blockIdx.x / tiles_p * kPackTile;
  const std::int64_t first_p = blockIdx.x % tiles_p * kPackTile;
  if (member >= job.batch || first_line >= x.lines) return;
  const int lines = static_cast<int>(min(x.lines - first_line, std::int64_t{kPackTile}));
  const int depth = static_cast<int>(min(x.depth - first_p, std::int64_t{kPackTile}));
  const int inner = threadIdx.x % kPackTile, outer = threadIdx.x / kPackTile;

  // All loads before the first store, so that they wait together.
  float r_items[kItems];
  const bool along_depth = x.depth_is_contiguous();
  const std::int64_t step = along_depth ? x.line_step : x.depth_step;
  const float* g_from = x.at(first_line, first_p) + member * x.batch_stride + outer * step + inner;
  const int outer_end = inner < (along_depth ? depth : lines) ? (along_depth ? lines : depth) : 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    r_items[i] = outer + i * kRows < outer_end ? g_from[i * kRows * step] : 0;
  }
  float* g_to = job.g_to + (member * x.depth + first_p + outer) * job.pitch + first_line + inner;
  const int p_end = inner < lines ? depth : 0;
  if (along_depth) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) s_tile[outer + i * kRows][inner] = r_items[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) r_items[i] = s_tile[inner][outer + i * kRows];
  }
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    if (outer + i * kRows < p_end) g_to[i * kRows * job.pitch] = r_items[i];
  }
}

inline void launch_pack(const PackJobs& jobs, void* stream) {
  std::int64_t tiles = 0, batch = 0;
  for (const PackJob& job : jobs.job) {
    const auto count = [](std::int64_t size) { return (size + kPackTile - 1) / kPackTile; };
    if (job.batch == 0) continue;
    tiles = std::max(tiles, count(job.from.lines) * count(job.from.depth));
    batch = std::max(batch, job.batch);
  }
  if (tiles == 0) return;
  const unsigned used = jobs.job[1].batch == 0 ? 1 : 2;
  for (std::int64_t first = 0; first < batch; first += kMaxGridYZ) {
    const auto members = static_cast<unsigned>(std::min(batch - first, kMaxGridYZ));
    launch(pack_panels, dim3(static_cast<unsigned>(tiles), members, used), dim3(kPackThreads),
           stream, jobs, first);
  }
}

}  // namespace tessera::cuda
