// `tessera bench --checker`: how long `tessera check` takes, on kernels of this file.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <vector>

#include "bench_session.h"
#include "quantities.h"
#include "simt/check.h"
#include "simt/source/compile.h"

namespace tessera::cli {
namespace {

constexpr const char* kTiled = R"(
#define TILE 16
__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
  float sum = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    As[ty][tx] = row < M && t * TILE + tx < K ? A[row * K + t * TILE + tx] : 0.0f;
    Bs[ty][tx] = t * TILE + ty < K && col < N ? B[(t * TILE + ty) * N + col] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}
)";

constexpr const char* kRegisterTiled = R"(
constexpr int BM = 128, BN = 128, BK = 8, TM = 8, TN = 8;
__global__ void __launch_bounds__(256)
    register_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float s_a[BK][BM + 4];
  __shared__ float s_b[BK][BN];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = threadIdx.x; i < BM * BK; i += 256) {
      const int row = blockIdx.y * BM + i / BK, k = k0 + i % BK;
      s_a[i % BK][i / BK] = row < M && k < K ? A[row * K + k] : 0.0f;
    }
    for (int i = threadIdx.x; i < BK * BN; i += 256) {
      const int k = k0 + i / BN, col = blockIdx.x * BN + i % BN;
      s_b[i / BN][i % BN] = k < K && col < N ? B[k * N + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
      for (int i = 0; i < TM; ++i) a[i] = s_a[k][ty + 16 * i];
      for (int j = 0; j < TN; ++j) b[j] = s_b[k][tx + 16 * j];
      for (int i = 0; i < TM; ++i)
        for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      const int row = blockIdx.y * BM + ty + 16 * i, col = blockIdx.x * BN + tx + 16 * j;
      if (row < M && col < N) C[row * N + col] = sum[i][j];
    }
}
)";

struct Task {
  const char* name;
  const char* source;
  std::int64_t size;
  const char* block;
  const char* grid;
  bool nvcc, count, check_rate;
  double goal;
};

// The goals: seconds from source to report, and watched accesses a second of one core.
constexpr Task kTasks[] = {
    {"tiled, source to report", kTiled, 64, "16,16", "ceil(N/16),ceil(M/16)", false, true, false,
     1},
    {"tiled, with nvcc's widths", kTiled, 64, "16,16", "ceil(N/16),ceil(M/16)", true, true, false,
     0},
    {"register-tiled, source to report", kRegisterTiled, 256, "256", "ceil(N/128),ceil(M/128)",
     false, true, false, 10},
    {"accesses checked a second", kTiled, 512, "16,16", "ceil(N/16),ceil(M/16)", false, false, true,
     50e6},
    {"accesses counted a second", kTiled, 512, "16,16", "ceil(N/16),ceil(M/16)", false, true, true,
     0},
};

simt::Report run_task(const Task& task, const std::string& path) {
  simt::CheckOptions options;
  options.path = path;
  options.driver.m = options.driver.n = options.driver.k = task.size;
  options.driver.block = task.block;
  options.driver.grid = task.grid;
  options.as_lone_kernel = true;
  options.use_nvcc = task.nvcc;
  options.count = task.count;
  options.workers = task.check_rate ? 1 : 0;
  options.output = simt::RunOptions::Output::kNowhere;
  return simt::check(options);
}

double value_of(const Task& task, const simt::Report& report) {
  if (!task.check_rate) return report.elapsed_s;
  const simt::RunResult& run = task.count ? report.count : report.check;
  double accesses = 0, seconds = 0;
  for (const simt::Launch& launch : run.launches) {
    accesses += static_cast<double>(launch.accesses);
    seconds += launch.elapsed_s;
  }
  return seconds > 0 ? accesses / seconds : 0;
}

}  // namespace

Json checker_json() {
  constexpr int kTimes = 5;
  const simt::TemporaryFolder folder;
  Json json;
  json["schema"] = "tessera-checker-speed-1";
  json["date"] = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  json["provenance"] = provenance();
  json["cpu"] = cpu_device().name;
  json["cores"] = cpu_device().cores;
  json["tasks"] = Json::array();
  for (const Task& task : kTasks) {
    const std::string path = folder.path() + "/kernel.cu";
    std::ofstream(path) << task.source;
    std::vector<double> values;
    for (int i = 0; i < kTimes; ++i) values.push_back(value_of(task, run_task(task, path)));
    std::sort(values.begin(), values.end());
    json["tasks"].push_back({{"name", task.name},
                             {"size", task.size},
                             {"unit", task.check_rate ? "accesses/s" : "s"},
                             {"median", values[kTimes / 2]},
                             {"least", values.front()},
                             {"most", values.back()},
                             {"goal", task.goal == 0 ? Json(nullptr) : Json(task.goal)}});
  }
  return json;
}

void print_checker(const Json& json) {
  fmt::print("{:<36}{:>6}  {:>12}  {:>12}\n", "tessera check", "size", "median", "goal");
  for (const Json& task : json.at("tasks")) {
    const bool is_rate = task.at("unit") == "accesses/s";
    const auto text = [&](const Json& value) {
      if (value.is_null()) return std::string("-");
      return is_rate ? fmt::format("{:.1f} M/s", value.get<double>() / 1e6)
                     : fmt::format("{:.2f} s", value.get<double>());
    };
    fmt::print("{:<36}{:>6}  {:>12}  {:>12}\n", task.at("name").get<std::string>(),
               task.at("size").get<int>(), text(task.at("median")), text(task.at("goal")));
  }
}

}  // namespace tessera::cli
