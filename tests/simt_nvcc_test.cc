// What nvcc makes of a kernel. Skipped, visibly, where there is no nvcc.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "simt/report/cubin.h"
#include "support/errors.h"

namespace tessera::simt::test {
namespace {

using tessera::test::error_of;

class NeedsNvcc : public testing::Environment {
  void SetUp() override {
    if (!find_nvcc().empty()) return;
    std::printf("skipped: no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda\n");
    std::exit(77);
  }
};
const auto* const kNeedsNvcc = testing::AddGlobalTestEnvironment(new NeedsNvcc);

constexpr char kSource[] = R"cu(#include "half.h"
template <int T>
__global__ void tiled(const float* A, const float* B, float* C, int n) {
  __shared__ float As[T][T], Bs[T][T];
  float acc = 0;
  for (int t = 0; t < n; t += T) {
    As[threadIdx.y][threadIdx.x] = A[(blockIdx.y * T + threadIdx.y) * n + t + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + blockIdx.x * T + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < T; ++k) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[(blockIdx.y * T + threadIdx.y) * n + blockIdx.x * T + threadIdx.x] = acc * SCALE * HALF;
}
template __global__ void tiled<16>(const float*, const float*, float*, int);
template __global__ void tiled<32>(const float*, const float*, float*, int);
__global__ void copy(const float4* from, float4* to) {
  to[threadIdx.x] = from[threadIdx.x];
}
)cu";

class Nvcc : public testing::Test {
 protected:
  Nvcc() {
    std::string pattern = (std::filesystem::temp_directory_path() / "simt_nvcc_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(folder_ + "/include");
    std::ofstream(folder_ + "/include/half.h") << "#define HALF 0.5f\n";
  }
  ~Nvcc() override { std::filesystem::remove_all(folder_); }

  Cubin compile(const std::string& source, const std::string& architecture) {
    const std::string path = folder_ + "/a kernel.cu";
    std::ofstream(path) << source;
    return compile_cubin(find_nvcc(), path,
                         {"-I", folder_ + "/include", "-DSCALE=2.0f", "-lcublas", "-Wall"},
                         architecture, folder_);
  }
  std::string folder_;
};

TEST_F(Nvcc, ReadsWhatItCompiles) {
  for (const std::string architecture : {"sm_80", "sm_90"}) {
    const Cubin c = compile(kSource, architecture);
    ASSERT_EQ(c.kernels.size(), 3u);
    for (const auto& expected : {std::pair<std::string, int>{"tiled<16>", 2 * 16 * 16 * 4},
                                 {"tiled<32>", 2 * 32 * 32 * 4},
                                 {"copy", 0}}) {
      const std::string& name = expected.first;
      const auto k = std::find_if(c.kernels.begin(), c.kernels.end(),
                                  [&](const Compiled& x) { return x.kernel == name; });
      ASSERT_NE(k, c.kernels.end()) << name;
      EXPECT_EQ(k->architecture, architecture);
      EXPECT_EQ(k->static_shared_bytes, expected.second);
      EXPECT_GE(k->registers, 8);
      EXPECT_LE(k->registers, 255);
      EXPECT_EQ(k->spill_bytes, 0);
    }
    const auto bytes = [&](int line, bool is_shared, bool is_write) {
      for (const CompiledWidths& w : c.widths)
        if (w.file == "a kernel.cu" && w.line == line && w.is_shared == is_shared &&
            w.is_write == is_write)
          return w.bytes;
      return 0;
    };
    EXPECT_EQ(bytes(7, false, false), 4);
    EXPECT_EQ(bytes(7, true, true), 4);
    EXPECT_EQ(bytes(10, true, false), 16) << "loads of a row of As are fused";
    EXPECT_EQ(bytes(13, false, true), 4);
    EXPECT_EQ(bytes(18, false, false), 16);
    EXPECT_EQ(bytes(18, false, true), 16);
    EXPECT_EQ(bytes(9, true, false), 0);
  }
}

TEST_F(Nvcc, SaysWhatDoesNotCompile) {
  const std::string message = error_of(ErrorCode::kBadFile, [&] {
    compile("__global__ void k() {\n  undeclared = 1;\n}\n", "sm_90");
  });
  EXPECT_SAYS(message, "(2): error");
  EXPECT_SAYS(message, "undeclared");
  error_of(ErrorCode::kInvalidArgument, [&] { compile("", "sm_90 --run"); });
}

}  // namespace
}  // namespace tessera::simt::test
