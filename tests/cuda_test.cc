// The CUDA part where there is no GPU: what it says, what it registers, how it cuts and predicts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

#include "core/backend.h"
#include "cuda/grid.h"
#include "cuda/register_config.h"
#include "cuda/vector_config.h"
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
  for (const char* width : {"f32.64x64x16_t4x4_v4", "f32.64x64x16_t4x4_v1", "f64.64x64x16_t4x4_v2",
                            "f64.64x64x16_t4x4_v1"}) {
    EXPECT_EQ(names.count("cuda.vectorized." + std::string(width)), 1U) << width;
  }
  for (const char* width : {"f32.128x128x16_t8x8_s2_v4", "f32.128x128x16_t8x8_s2_v1",
                            "f64.64x64x16_t4x4_s2_v2", "f64.64x64x16_t4x4_s2_v1"}) {
    EXPECT_EQ(names.count("cuda.double_buffered." + std::string(width)), 1U) << width;
  }
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
  const auto tile = [](std::int64_t size) {
    const Kernel& kernel = registry().choose(problem(size, size, size, DType::kF32), h200());
    return kernel.tile_m * kernel.tile_n;
  };
  EXPECT_GE(tile(8192), 128 * 64);
  EXPECT_LT(tile(256), 128 * 64);
}

TEST(CudaEstimate, EachRungIsFasterThanTheOneBefore) {
  const Problem p = problem(4096, 4096, 4096, DType::kF32);
  double last = std::numeric_limits<double>::infinity();
  for (const char* family : {"naive", "tiled", "register_tiled", "vectorized", "double_buffered"}) {
    const Kernel& best = registry().choose(p, h200(), std::string("cuda.") + family);
    const double us = best.estimate_us(p, h200());
    EXPECT_LT(us, last) << best.name;
    last = us;
  }
}

/// The registered kernel that has this id.
const Kernel& kernel_named(const std::string& id) {
  for (const Kernel* kernel : cuda_kernels()) {
    if (kernel->name == id) return *kernel;
  }
  throw std::runtime_error("no kernel " + id);
}

/// `kernel` refuses p; the rule and what unlocks it hold these texts.
void expect_refused(const std::string& kernel, const Problem& p, const std::string& rule,
                    const std::string& unlock) {
  const auto rejection = kernel_named(kernel).can_implement(p, h200());
  ASSERT_TRUE(rejection.has_value()) << kernel;
  EXPECT_NE(rejection->rule.find(rule), std::string::npos) << rejection->rule;
  EXPECT_EQ(rejection->unlock, unlock);
}

const std::string kVectorized = "cuda.vectorized.f32.64x64x16_t4x4_v4";
const std::string kDoubleBuffered = "cuda.double_buffered.f32.128x128x16_t8x8_s2_v4";

TEST(CudaAlignment, RefusalNamesWhatIsInTheWay) {
  Problem p = problem(100, 200, 304, DType::kF32);
  EXPECT_FALSE(kernel_named(kVectorized).can_implement(p, h200()).has_value());
  p.align_c = 4;  // C is stored by element where it has to be
  EXPECT_FALSE(kernel_named(kVectorized).can_implement(p, h200()).has_value());

  p.align_a = 4;
  p.lda = 1001;
  expect_refused(kVectorized, p, "lda must be a multiple of 4; it is 1001",
                 "an lda that is a multiple of 4");
  p.m = 1;  // no second row: lda is not used, so it is the address
  expect_refused(kVectorized, p, "A must start at a multiple of 16 bytes; it is aligned to 4",
                 "an address of A that is a multiple of 16");
  p.align_a = 16;
  EXPECT_FALSE(kernel_named(kVectorized).can_implement(p, h200()).has_value());

  p = problem(100, 200, 304, DType::kF32);
  p.align_b = 8;
  expect_refused(kVectorized, p, "B must start at", "an address of B that is a multiple of 16");
  p.batch = 2;
  p.stride_b = 304 * 200 + 2;
  expect_refused(kVectorized, p, "batch stride of B must be a multiple of 4; it is 60802",
                 "a batch stride of B that is a multiple of 4");

  p = problem(100, 200, 304, DType::kF64);
  p.align_b = 8;
  p.ldb = 201;
  expect_refused("cuda.vectorized.f64.64x64x16_t4x4_v2", p, "ldb must be a multiple of 2",
                 "an ldb that is a multiple of 2");
}

TEST(CudaAlignment, AsynchronousCopiesNeedItOnlyOfLinesThatAreContiguous) {
  Problem p = problem(100, 200, 304, DType::kF32);
  p.align_a = 4;
  p.lda = 305;
  EXPECT_FALSE(kernel_named(kDoubleBuffered).can_implement(p, h200()).has_value()) << "NN";
  p.trans_a = true;
  p.lda = 101;
  expect_refused(kDoubleBuffered, p, "lda must be", "an lda that is a multiple of 4");
  p.trans_a = false;
  p.align_b = 4;
  p.ldb = 201;
  expect_refused(kDoubleBuffered, p, "ldb must be", "an ldb that is a multiple of 4");
  p.trans_b = true;
  p.ldb = 305;
  EXPECT_FALSE(kernel_named(kDoubleBuffered).can_implement(p, h200()).has_value()) << "NT";
}

TEST(CudaAlignment, AsynchronousCopiesNeedTheirGeneration) {
  DeviceInfo old = h200();
  old.compute_major = 7;
  old.compute_minor = 5;
  const Problem p = problem(100, 200, 304, DType::kF32);
  for (const Kernel* kernel : cuda_kernels()) {
    if (kernel->id.family != "double_buffered" || kernel->id.dtype != DType::kF32) continue;
    const auto rejection = kernel->can_implement(p, old);
    ASSERT_TRUE(rejection.has_value()) << kernel->name;
    EXPECT_NE(rejection->rule.find("8.0; the device has 7.5"), std::string::npos);
    EXPECT_EQ(rejection->unlock, "");
  }
}

TEST(CudaAlignment, AutoFallsBackAndSaysWhatWouldBeFaster) {
  Problem p = problem(4096, 4096, 4095, DType::kF32);
  p.align_a = p.align_b = 4;
  p.ldb = 4097;
  for (const std::string request : {"cuda.vectorized", "cuda.double_buffered"}) {
    const Explanation e = registry().explain(p, h200(), request);
    EXPECT_EQ(e.chosen.substr(e.chosen.size() - 3), "_v1");
    bool found = false;
    for (const std::string& unlock : e.unlocks) {
      found |= unlock.find("a multiple of 4 would unlock " + request) != std::string::npos;
    }
    EXPECT_TRUE(found) << e.to_string();
  }
}

TEST(VectorConfig, LegalOnes) {
  struct Case {
    cuda::VectorConfig config;
    int element_bytes;
    const char* text;
  };
  for (const Case& c : {Case{{128, 128, 8, 8, 8, 1, 4}, 4, "128x128x8_t8x8_v4"},
                        Case{{128, 128, 8, 8, 8, 1, 1}, 4, "128x128x8_t8x8_v1"},
                        Case{{128, 64, 16, 8, 8, 2, 4}, 4, "128x64x16_t8x8_s2_v4"},
                        Case{{64, 64, 16, 4, 4, 3, 4}, 4, "64x64x16_t4x4_s3_v4"},
                        Case{{128, 64, 8, 8, 4, 3, 2}, 8, "128x64x8_t8x4_s3_v2"}}) {
    const char* rule = cuda::broken_rule(c.config, c.element_bytes);
    EXPECT_EQ(rule, nullptr) << c.text << ": " << rule;
    EXPECT_EQ(c.config.to_string(), c.text);
  }
  EXPECT_EQ(cuda::shared_bytes(cuda::VectorConfig{128, 128, 16, 8, 8, 2, 4}, 4), 33792);
  EXPECT_EQ(cuda::blocks_per_sm(cuda::VectorConfig{128, 128, 16, 8, 8, 2, 4}, 4), 2);
}

TEST(VectorConfig, IllegalOnesNameTheRule) {
  struct Case {
    cuda::VectorConfig config;
    int element_bytes;
    const char* rule;
  };
  for (const Case& c : std::vector<Case>{
           {{128, 128, 8, 8, 8, 0, 4}, 4, ">= 1"},
           {{128, 0, 8, 8, 8, 1, 4}, 4, ">= 1"},
           {{128, 128, 8, 8, 8, 1, 2}, 4, "one element or 16 bytes"},
           {{128, 128, 8, 8, 8, 1, 4}, 8, "one element or 16 bytes"},
           {{128, 128, 8, 2, 8, 1, 4}, 4, "multiples of 16 bytes"},
           {{100, 128, 8, 8, 8, 1, 4}, 4, "multiple of TM"},
           {{128, 100, 8, 8, 8, 1, 4}, 4, "multiple of TN"},
           {{128, 32, 8, 8, 8, 1, 4}, 4, "4 x 8"},
           {{256, 256, 8, 4, 4, 1, 4}, 4, "at most 1024"},
           {{128, 128, 12, 8, 8, 1, 4}, 4, "multiple of 8"},
           {{48, 64, 8, 4, 4, 1, 4}, 4, "128 bytes"},
           {{256, 64, 8, 8, 8, 1, 1}, 4, nullptr},
           {{64, 256, 8, 8, 8, 1, 1}, 4, nullptr},
           {{512, 64, 8, 8, 8, 1, 1}, 4, nullptr},
           {{64, 64, 8, 4, 4, 1, 4}, 4, "whole passes"},
           {{256, 64, 8, 16, 8, 1, 4}, 4, "whole rows"},
           {{128, 128, 64, 8, 8, 1, 4}, 4, "48 KiB"},
           {{128, 128, 16, 8, 8, 3, 4}, 4, "48 KiB"},
           {{128, 128, 8, 16, 16, 1, 4}, 8, "one element or 16 bytes"},
           {{128, 128, 8, 16, 8, 1, 2}, 8, "registers"},
       }) {
    const char* rule = cuda::broken_rule(c.config, c.element_bytes);
    if (c.rule == nullptr) {
      EXPECT_EQ(rule, nullptr) << c.config.to_string() << ": " << rule;
    } else {
      ASSERT_NE(rule, nullptr) << c.config.to_string() << ": " << c.rule;
      EXPECT_NE(std::string(rule).find(c.rule), std::string::npos)
          << c.config.to_string() << ": " << rule;
    }
  }
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
