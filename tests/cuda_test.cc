// The CUDA part where there is no GPU: what it says, what it registers, how it cuts and predicts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <vector>

#include "core/backend.h"
#include "cuda/grid.h"
#include "cuda/register_config.h"
#include "tessera/gemm.h"
#include "tessera/plan.h"

namespace tessera {
namespace {

// The same answers on a machine with a GPU: hide it before the first CUDA call.
[[maybe_unused]] const int kHidden = setenv("CUDA_VISIBLE_DEVICES", "", 1);

std::vector<const Kernel*> cuda_kernels() {
  std::vector<const Kernel*> out;
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.id.backend == "cuda") out.push_back(&kernel);
  }
  return out;
}

DeviceInfo h200() {
  DeviceInfo device;
  device.space = Space::kCuda;
  device.compute_major = 9;
  device.sm_count = 132;
  device.max_threads_per_block = 1024;
  device.shared_bytes_per_block = 227 << 10;
  return device;
}

Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, DType dtype) {
  Problem p;
  p.dtype = dtype;
  p.space = Space::kCuda;
  p.m = m;
  p.n = n;
  p.k = p.lda = k;
  p.ldb = p.ldc = n;
  return p;
}

TEST(CudaWithoutDevice, DevicesAreEmptyAndTheReasonIsOneLine) {
  EXPECT_TRUE(cuda_devices().empty());
  const std::string reason = cuda_unavailable_reason();
  EXPECT_NE(reason.find("no CUDA device"), std::string::npos) << reason;
  EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
}

TEST(CudaWithoutDevice, OperandsInCudaMemoryAreRefused) {
  float x[4] = {1, 2, 3, 4}, c[4] = {5, 6, 7, 8};
  const auto view = row_major(x, 2, 2, Space::kCuda);
  try {
    gemm(Op::kN, Op::kN, 1.0F, view, view, 0.0F, row_major(c, 2, 2, Space::kCuda));
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kNoDevice);
    EXPECT_NE(std::string(e.what()).find(cuda_unavailable_reason()), std::string::npos) << e.what();
  }
  EXPECT_EQ(c[0], 5);
}

TEST(CudaWithoutDevice, PlanIsRefused) {
  GemmDesc desc;
  desc.space = Space::kCuda;
  desc.a = desc.b = desc.c = {4, 4, 4};
  try {
    const Plan plan(desc);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kNoDevice);
  }
}

TEST(CudaRegistry, HoldsEveryFamilyInBothTypes) {
  std::set<std::string> names;
  for (const Kernel* kernel : cuda_kernels()) names.insert(kernel->name);
  for (const char* dtype : {"f32", "f64"}) {
    const std::string type = dtype;
    EXPECT_EQ(names.count("cuda.naive." + type), 1U);
    for (const char* tile : {"t8", "t16", "t32"}) {
      EXPECT_EQ(names.count("cuda.tiled." + type + "." + tile), 1U);
    }
    EXPECT_EQ(names.count("cuda.register_tiled." + type + ".64x64x16_t4x4"), 1U);
  }
  EXPECT_EQ(names.count("cuda.register_tiled.f32.128x128x8_t8x8"), 1U);
}

TEST(CudaRegistry, IdsParseBackToThemselves) {
  for (const Kernel* kernel : cuda_kernels()) {
    const auto id = KernelId::parse(kernel->name);
    ASSERT_TRUE(id.has_value()) << kernel->name;
    EXPECT_EQ(id->to_string(), kernel->name);
    EXPECT_EQ(id->dtype, kernel->id.dtype);
    EXPECT_EQ(id->config, kernel->id.config);
  }
}

TEST(CudaRegistry, EveryShapeIsTaken) {
  for (const Kernel* kernel : cuda_kernels()) {
    for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
             {1, 1, 1}, {35, 79, 19}, {3, 3, 431}, {129, 127, 65}, {8388481, 16, 16}}) {
      Problem p = problem(m, n, k, kernel->id.dtype);
      p.align_a = p.align_b = p.align_c = kernel->alignment_bytes;
      EXPECT_FALSE(kernel->can_implement(p, h200()).has_value()) << kernel->name;
    }
  }
}

TEST(CudaEstimate, IsPositiveAndGrowsWithTheProblem) {
  for (const Kernel* kernel : cuda_kernels()) {
    const DType dtype = kernel->id.dtype;
    double last = 0;
    for (std::int64_t size : {1, 100, 1000, 10000, 100000}) {
      const double us = kernel->estimate_us(problem(size, size, size, dtype), h200());
      EXPECT_TRUE(us > last && us < 1e15) << kernel->name << " at " << size << ": " << us;
      last = us;
    }
    const double narrow = kernel->estimate_us(problem(1, 1, 64, dtype), h200());
    EXPECT_TRUE(kernel->estimate_us(problem(1, 1, 128, dtype), h200()) > narrow) << kernel->name;
  }
}

TEST(CudaEstimate, AutoTakesLargeTilesForLargeProblemsOnly) {
  const auto choice = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return registry().choose(problem(m, n, k, DType::kF32), h200()).name;
  };
  EXPECT_EQ(choice(8192, 8192, 8192).rfind("cuda.register_tiled.f32.128x128x", 0), 0U);
  EXPECT_NE(choice(256, 256, 256).rfind("cuda.register_tiled.f32.128x128x", 0), 0U);
  EXPECT_EQ(choice(256, 256, 256), choice(256, 256, 256));
}

TEST(RegisterConfig, LegalOnes) {
  for (const cuda::RegisterConfig& c :
       {cuda::RegisterConfig{128, 128, 8, 8, 8}, cuda::RegisterConfig{64, 64, 8, 8, 8},
        cuda::RegisterConfig{128, 256, 8, 16, 8}, cuda::RegisterConfig{32, 32, 32, 2, 2}}) {
    EXPECT_EQ(cuda::broken_rule(c, 4), nullptr) << c.to_string() << cuda::broken_rule(c, 4);
  }
  EXPECT_EQ((cuda::RegisterConfig{128, 64, 16, 8, 4}.to_string()), "128x64x16_t8x4");
}

TEST(RegisterConfig, IllegalOnesNameTheRule) {
  struct Case {
    cuda::RegisterConfig config;
    int element_bytes;
    const char* rule;
  };
  for (const Case& c : std::vector<Case>{
           {{0, 128, 8, 8, 8}, 4, ">= 1"},
           {{128, 128, 8, 8, 0}, 4, ">= 1"},
           {{100, 128, 8, 8, 8}, 4, "multiple of TM"},
           {{128, 100, 8, 8, 8}, 4, "multiple of TN"},
           {{16, 16, 8, 4, 4}, 4, "whole warps"},
           {{128, 128, 8, 2, 2}, 4, "at most 1024"},
           {{128, 128, 24, 8, 8}, 4, "multiple of BK"},
           {{256, 32, 8, 8, 8}, 4, "threads must be a multiple of BM"},
           {{32, 256, 8, 8, 8}, 4, "threads must be a multiple of BN"},
           {{64, 128, 2, 4, 8}, 4, "BM * BK"},
           {{128, 64, 2, 8, 4}, 4, "BN * BK"},
           {{128, 128, 64, 8, 8}, 4, "48 KiB"},
           {{256, 256, 8, 16, 16}, 4, "registers"},
           {{128, 128, 8, 8, 8}, 8, nullptr},
           {{128, 256, 8, 8, 16}, 8, "registers"},
       }) {
    const char* rule = cuda::broken_rule(c.config, c.element_bytes);
    if (c.rule == nullptr) {
      EXPECT_EQ(rule, nullptr) << c.config.to_string() << ": " << rule;
    } else {
      ASSERT_NE(rule, nullptr) << c.config.to_string();
      EXPECT_NE(std::string(rule).find(c.rule), std::string::npos) << rule;
    }
  }
}

/// The parts of a problem tile it exactly, each on a tile boundary and within the launch limits.
void expect_covers(std::int64_t rows, std::int64_t cols, std::int64_t batch, int tile_rows,
                   int tile_cols, std::size_t parts) {
  std::int64_t next_batch = 0, next_row = 0, next_col = 0;
  std::size_t count = 0;
  cuda::for_each_part(rows, cols, batch, tile_rows, tile_cols, [&](const cuda::Part& part) {
    ++count;
    EXPECT_EQ(part.batch, next_batch);
    EXPECT_EQ(part.row, next_row);
    EXPECT_EQ(part.col, next_col);
    EXPECT_LE(part.grid.x, 0x7FFFFFFFU);
    EXPECT_LE(part.grid.y, 65535U);
    EXPECT_LE(part.grid.z, 65535U);
    const auto fits = [](std::int64_t size, unsigned tiles, int tile) {
      return size > std::int64_t{tiles - 1} * tile && size <= std::int64_t{tiles} * tile;
    };
    EXPECT_TRUE(fits(part.rows, part.grid.y, tile_rows));
    EXPECT_TRUE(fits(part.cols, part.grid.x, tile_cols));
    next_col = part.col + part.cols;
    if (next_col == cols) {
      next_col = 0;
      next_row = part.row + part.rows;
    }
    if (next_row == rows) {
      next_row = 0;
      next_batch = part.batch + part.grid.z;
    }
  });
  EXPECT_EQ(next_batch, batch);
  EXPECT_EQ(next_row, 0);
  EXPECT_EQ(next_col, 0);
  EXPECT_EQ(count, parts);
}

TEST(Grid, PartsCoverTheProblemWithinTheLaunchLimits) {
  expect_covers(1, 1, 1, 16, 16, 1);
  for (int tile : {8, 16, 128}) {
    expect_covers(65535LL * tile, 5, 1, tile, tile, 1);
    expect_covers(65535LL * tile + 1, 5, 1, tile, tile, 2);
    expect_covers(3 * 65535LL * tile, 5, 1, tile, tile, 3);
    expect_covers(7, 0x7FFFFFFFLL * tile, 1, tile, tile, 1);
    expect_covers(7, 0x7FFFFFFFLL * tile + 1, 1, tile, tile, 2);
  }
  expect_covers(65535LL * 16 + 1, 0x7FFFFFFFLL * 16 + 1, 65536, 16, 16, 8);
  int calls = 0;
  cuda::for_each_part(0, 5, 1, 16, 16, [&](const cuda::Part&) { ++calls; });
  EXPECT_EQ(calls, 0) << "an empty problem has no launch";
}

}  // namespace
}  // namespace tessera
