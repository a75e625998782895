// `tessera bench --cost`: what it costs to have Tessera: size, build, first product.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "bench_session.h"
#include "core/backend.h"
#include "quantities.h"
#include "tessera/error.h"

namespace tessera::cli {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double file_bytes(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? static_cast<double>(info.st_size) : 0;
}

/// Seconds of every job of the last build of each output, from Ninja's log. Empty without one.
std::map<std::string, double> job_seconds(const std::string& build_dir) {
  std::ifstream log(build_dir + "/.ninja_log");
  std::map<std::string, double> jobs;
  for (std::string line; std::getline(log, line);) {
    std::istringstream fields(line);
    double start_ms = 0, end_ms = 0;
    std::string time_stamp, output;
    if (fields >> start_ms >> end_ms >> time_stamp >> output) {
      jobs[output] = (end_ms - start_ms) / 1e3;
    }
  }
  return jobs;
}

Json build_json() {
  double library_s = 0, cuda_s = 0;
  for (const auto& [output, seconds] : job_seconds(TESSERA_BUILD_DIR)) {
    if (output.find("CMakeFiles/tessera.dir/") != 0) continue;
    library_s += seconds;
    if (output.find(".cu.o") != std::string::npos) cuda_s += seconds;
  }
  Json json = Json::object();
  if (library_s > 0) json["library_job_seconds"] = library_s;
  if (cuda_s > 0) json["cuda_job_seconds"] = cuda_s;
  return json;
}

/// The first product of this process, on the CPU or a CUDA device; in parts, from `start` on.
Json first_product_json(const DeviceChoice& choice, Clock::time_point start) {
  constexpr std::int64_t kN = 1024;
  const bench::Case c = [&] {
    bench::Case plain = bench::dense_case(Op::kN, Op::kN, kN, kN, kN, DType::kF32);
    plain.desc.space = choice.space;
    plain.desc.device = choice.space == Space::kCuda ? choice.index : -1;
    return plain;
  }();
  constexpr std::int64_t bytes = kN * kN * std::int64_t{sizeof(float)};
  Json json;
  std::vector<HostBuffer> host;
  float* p[3] = {};
  if (choice.space == Space::kHost) {
    for (float*& q : p) {
      q = static_cast<float*>(host.emplace_back("bench", bytes).data());
      std::fill_n(q, kN * kN, 0.5F);
    }
  }
  std::unique_ptr<cuda::DeviceGuard> guard;
  if (choice.space == Space::kCuda) {
    guard = std::make_unique<cuda::DeviceGuard>(choice.index);
    for (float*& q : p)
      q = static_cast<float*>(
          cuda::allocate(static_cast<std::size_t>(bytes)));  // never released: the end
    json["driver_and_context_ms"] = milliseconds_since(start);
  }
  const auto multiply = [&] {
    const Plan plan(c.desc);
    const std::size_t size = plan.workspace_bytes();
    if (choice.space == Space::kCuda) {
      void* const workspace = size > 0 ? cuda::allocate_on(nullptr, size) : nullptr;
      plan.run(1, p[0], p[1], 0, p[2], workspace, size, nullptr);
      if (workspace != nullptr) cuda::release_on(nullptr, workspace);
      cuda::synchronise(nullptr);
    } else {
      const HostBuffer workspace("bench", static_cast<std::int64_t>(size));
      plan.run(1, p[0], p[1], 0, p[2], workspace.data(), size);
    }
  };
  start = Clock::now();
  multiply();
  json["first_product_ms"] = milliseconds_since(start);
  start = Clock::now();
  multiply();
  json["second_product_ms"] = milliseconds_since(start);
  return json;
}

}  // namespace

Json cost_json(const std::string& device) {
  // First of all: nothing may have been loaded before it, and asking for devices loads the driver.
  const Clock::time_point start = Clock::now();
  const DeviceChoice choice = choose_device(device, "auto", DType::kF32);
  const Json first_product = first_product_json(choice, start);
  Json json;
  json["schema"] = "tessera-cost-1";
  json["device"] = choice.info().name;
  json["provenance"] = provenance();
  json["first_product"] = first_product;
  json["build"] = build_json();
  const double library = file_bytes(TESSERA_LIBRARY_FILE), program = file_bytes("/proc/self/exe");
  if (library > 0) json["library_bytes"] = library;
  json["program_bytes"] = program;
  return json;
}

void print_cost(const Json& json) {
  fmt::print("{}; {}\n", version_line(), json["device"].get<std::string>());
  const Json& first = json["first_product"];
  if (first.contains("driver_and_context_ms")) {
    fmt::print("driver, context and memory    {:>8.1f} ms\n",
               first["driver_and_context_ms"].get<double>());
  }
  fmt::print("first product, 1024 cubed     {:>8.1f} ms\n",
             first["first_product_ms"].get<double>());
  fmt::print("second product                {:>8.1f} ms\n",
             first["second_product_ms"].get<double>());
  if (json.contains("library_bytes")) {
    fmt::print("library with all kernels      {:>11}\n",
               format_bytes(json["library_bytes"].get<double>()));
  }
  fmt::print("this program                  {:>11}\n",
             format_bytes(json["program_bytes"].get<double>()));
  const Json& build = json["build"];
  if (build.contains("library_job_seconds")) {
    fmt::print("compiling the library         {:>8.0f} s of one core, as it was last built\n",
               build["library_job_seconds"].get<double>());
  }
  if (build.contains("cuda_job_seconds")) {
    fmt::print("  of that CUDA                {:>8.0f} s\n",
               build["cuda_job_seconds"].get<double>());
  }
}

}  // namespace tessera::cli
