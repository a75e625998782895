// `tessera info`: what this program and this machine are.
#include <fmt/format.h>

#include <set>

#include "bench/gpu.h"
#include "cli.h"
#include "core/backend.h"
#include "core/threads.h"
#include "cpu/peak.h"
#include "cpu/simd_targets.h"
#include "quantities.h"
#include "tessera/kernel.h"

namespace tessera::cli {
namespace {

struct Peak {
  int threads = 1;
  double f32_gflops = 0, f64_gflops = 0, read_gbps = 0;
};

std::vector<Peak> measure_peaks() {
  std::vector<Peak> peaks;
  for (const int threads : std::set<int>{1, resolve_threads(0)}) {
    peaks.push_back({threads, measure_fma_gflops(DType::kF32, threads),
                     measure_fma_gflops(DType::kF64, threads), measure_read_gbps(threads)});
  }
  return peaks;
}

Json cpu_json() {
  const DeviceInfo& cpu = cpu_device();
  return {{"name", cpu.name},
          {"cores", cpu.cores},
          {"threads", resolve_threads(0)},
          {"simd", cpu.simd},
          {"simd_available", simd_target_names()},
          {"l1_bytes", cpu.l1_bytes},
          {"l2_bytes", cpu.l2_bytes},
          {"l3_bytes", cpu.l3_bytes},
          {"memory_bytes", cpu.memory_bytes}};
}

Json cuda_json() {
  Json array = Json::array();
  for (const DeviceInfo& d : cuda_devices()) {
    array.push_back({{"index", d.index},
                     {"name", d.name},
                     {"compute_capability", fmt::format("{}.{}", d.compute_major, d.compute_minor)},
                     {"sm_count", d.sm_count},
                     {"memory_bytes", d.memory_bytes},
                     {"l2_cache_bytes", d.l2_cache_bytes},
                     {"shared_bytes_per_block", d.shared_bytes_per_block},
                     {"max_threads_per_block", d.max_threads_per_block}});
  }
  return array;
}

struct GpuPeak {
  int index = 0;
  bench::gpu::Peaks peaks;
  bench::gpu::Latencies latencies;
};

std::vector<GpuPeak> measure_gpu_peaks() {
  std::vector<GpuPeak> found;
  for (const DeviceInfo& d : cuda_devices()) {
    const cuda::DeviceGuard guard(d.index);
    found.push_back({d.index, bench::gpu::measure_peaks(), bench::gpu::measure_latencies()});
  }
  return found;
}

Json gpu_peak_json(const GpuPeak& p) {
  return {{"index", p.index},
          {"fma_f32_gflops", p.peaks.fma_gflops},
          {"fma_f64_gflops", p.peaks.fma_f64_gflops},
          {"outer_product_f32_gflops", p.peaks.outer_product_gflops},
          {"shared_gbps", p.peaks.shared_gbps},
          {"l2_read_gbps", p.peaks.l2_read_gbps},
          {"memory_copy_gbps", p.peaks.memory_gbps},
          {"shared_latency_cycles", p.latencies.shared_cycles},
          {"l2_latency_cycles", p.latencies.l2_cycles},
          {"memory_latency_cycles", p.latencies.memory_cycles}};
}

void print_gpu_peak(const GpuPeak& p) {
  fmt::print(
      "peak      cuda:{}: FMA {:.1f} TFLOP/s f32, {:.1f} f64; {:.1f} fed from shared memory\n",
      p.index, p.peaks.fma_gflops / 1e3, p.peaks.fma_f64_gflops / 1e3,
      p.peaks.outer_product_gflops / 1e3);
  fmt::print("          shared memory {:.1f} TB/s, L2 read {:.2f} TB/s, memory copy {:.2f} TB/s\n",
             p.peaks.shared_gbps / 1e3, p.peaks.l2_read_gbps / 1e3, p.peaks.memory_gbps / 1e3);
  fmt::print("          one load: shared memory {:.0f} cycles, L2 {:.0f}, memory {:.0f}\n",
             p.latencies.shared_cycles, p.latencies.l2_cycles, p.latencies.memory_cycles);
}

void print_info_json(const std::vector<Peak>& peaks, const std::vector<GpuPeak>& gpu_peaks) {
  Json json = provenance();
  json["cpu"] = cpu_json();
  json["cuda_devices"] = cuda_json();
  const std::string reason = cuda_unavailable_reason();
  json["cuda_unavailable_reason"] = reason.empty() ? Json(nullptr) : Json(reason);
  if (!peaks.empty()) json["peaks"] = Json::array();
  for (const Peak& p : peaks) {
    json["peaks"].push_back({{"threads", p.threads},
                             {"fma_f32_gflops", p.f32_gflops},
                             {"fma_f64_gflops", p.f64_gflops},
                             {"read_gbps", p.read_gbps}});
  }
  if (!gpu_peaks.empty()) json["cuda_peaks"] = Json::array();
  for (const GpuPeak& p : gpu_peaks) json["cuda_peaks"].push_back(gpu_peak_json(p));
  print_json(json);
}

void print_info_text(const std::vector<Peak>& peaks, const std::vector<GpuPeak>& gpu_peaks) {
  const DeviceInfo& cpu = cpu_device();
  const std::string cuda_build = cuda_build_text();
  fmt::print("version   {}\n", version_line());
  fmt::print("build     {}; CUDA: {}\n", compiler_text(), cuda_build.empty() ? "no" : cuda_build);
  if (!slow_build_reason().empty()) {
    fmt::print("          {}: times mean little\n", slow_build_reason());
  }
  fmt::print("CPU       {}, {} core{}\n", cpu.name, cpu.cores, cpu.cores == 1 ? "" : "s");
  fmt::print("caches    L1 {}, L2 {} per core; L3 {}\n", format_binary(cpu.l1_bytes),
             format_binary(cpu.l2_bytes), cpu.l3_bytes > 0 ? format_binary(cpu.l3_bytes) : "none");
  fmt::print("SIMD      {} (available: {})\n", cpu.simd, fmt::join(simd_target_names(), ", "));
  fmt::print("threads   {} by default\n", resolve_threads(0));
  fmt::print("memory    {}\n", format_binary(cpu.memory_bytes));
  for (const DeviceInfo& d : cuda_devices()) {
    fmt::print("cuda:{}    {}, compute capability {}.{}, {} multiprocessors, {}\n", d.index, d.name,
               d.compute_major, d.compute_minor, d.sm_count, format_binary(d.memory_bytes));
  }
  const std::string reason = cuda_unavailable_reason();
  if (!reason.empty()) fmt::print("CUDA      none: {}\n", reason);
  for (const Peak& p : peaks) {
    fmt::print("peak      {} thread{}: FMA {:.1f} GFLOP/s f32, {:.1f} f64; read {:.1f} GB/s\n",
               p.threads, p.threads == 1 ? "" : "s", p.f32_gflops, p.f64_gflops, p.read_gbps);
  }
  for (const GpuPeak& p : gpu_peaks) print_gpu_peak(p);
}

}  // namespace

Verb add_info(CLI::App& root) {
  CLI::App* app = root.add_subcommand("info", "describe this build, CPU and GPUs");
  struct Args {
    bool peaks = false, json = false;
  };
  const auto args = std::make_shared<Args>();
  app->add_flag("--peaks", args->peaks,
                "measure the FMA peak and the read bandwidth, on one thread and on all; on a GPU "
                "also shared memory, L2 and latencies");
  app->add_flag("--json", args->json, "as one JSON object");
  app->footer(
      "Examples:\n"
      "  tessera info\n"
      "  tessera info --peaks --json\n");
  return {app, [args]() -> int {
            const std::vector<Peak> peaks = args->peaks ? measure_peaks() : std::vector<Peak>();
            const std::vector<GpuPeak> gpu_peaks =
                args->peaks ? measure_gpu_peaks() : std::vector<GpuPeak>();
            if (args->json) {
              print_info_json(peaks, gpu_peaks);
            } else {
              print_info_text(peaks, gpu_peaks);
            }
            return kOk;
          }};
}

}  // namespace tessera::cli
