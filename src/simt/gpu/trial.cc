#include "simt/gpu/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "bench/child_process.h"
#include "core/backend.h"
#include "simt/gemm/reference.h"
#include "simt/gpu/work.h"
#include "simt/report/cubin.h"
#include "simt/run/elements.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

constexpr double kDescribeLimit_s = 60, kTimeLimit_s = 180;
// Beyond, the FP64 reference takes long, and the timed product is verified anyway.
constexpr double kMostJudged = 1 << 30;

Product product_of(const DriveSizes& d, const DrivenProduct& x, const std::vector<char>& c) {
  Product p;
  p.m = d.m, p.n = d.n, p.k = d.k;
  p.a = read_elements(d.element, x.a.data(), d.m * d.k);
  p.b = read_elements(d.element, x.b.data(), d.k * d.n);
  p.c = read_elements(d.element_c, c.data(), d.m * d.n);
  if (d.c_is_read) p.c_before = read_elements(d.element_c, x.c_before.data(), d.m * d.n);
  p.alpha = d.alpha, p.beta = d.beta;
  p.element = d.element_c;
  if (d.has_d) p.name_c = "D";
  p.kernel = d.kernel;
  p.place = d.place;
  return p;
}

/// Elements of the GPU's C that still are the poison were never stored to.
std::vector<bool> written_elements(const DriveSizes& d, const std::vector<char>& c) {
  const std::size_t bytes = element_bytes(d.element_c);
  const std::vector<char> poison(bytes, '\xFF');
  std::vector<bool> written(c.size() / bytes, true);
  if (d.c_is_read && !d.has_d) return written;
  for (std::size_t i = 0; i < written.size(); ++i) {
    written[i] = std::memcmp(c.data() + i * bytes, poison.data(), bytes) != 0;
  }
  return written;
}

Finding input_written(const DriveSizes& d, const char* name) {
  Finding f;
  f.rule = rule::kInputWritten;
  f.kernel = d.kernel;
  f.place = d.place;
  f.array = name;
  f.message = fmt::format("on the GPU the kernel changes its input {}", name);
  f.remedy = "write the output only";
  return f;
}

/// Elements that lie farther apart than two right results can.
std::int64_t differing(const Product& gpu, const Product& executor) {
  const Sums sums = exact_sums(gpu);
  const Tolerance tolerance(gpu, false);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < gpu.c.size(); ++i) {
    const double c0 = gpu.c_before.empty() ? 0 : gpu.c_before[i];
    const double bound =
        tolerance.bound(gpu.alpha * sums.sum[i] + gpu.beta * c0,
                        std::abs(gpu.alpha) * sums.magnitude[i] + std::abs(gpu.beta * c0));
    const bool same = std::abs(gpu.c[i] - executor.c[i]) <= 2 * bound ||
                      (std::isnan(gpu.c[i]) && std::isnan(executor.c[i]));
    if (!same) ++count;
  }
  return count;
}

GpuProduct compare(const DriveSizes& d, const GpuWork& work, const ExecutorRun& run) {
  GpuProduct out;
  out.m = d.m, out.n = d.n, out.k = d.k;
  out.executor_clean = run.findings.empty();
  DrivenProduct before, after;
  try {
    before = read_product(work.file);
    out.executor_ran = !before.c.empty() || d.m * d.n == 0;
    // Its third matrix is the C that the GPU left.
    after = read_product(work.result);
  } catch (const Error&) {
    return out;
  }
  out.ran = true;
  if (after.a != before.a) out.findings.push_back(input_written(d, "A"));
  if (after.b != before.b) out.findings.push_back(input_written(d, "B"));
  Product gpu = product_of(d, before, after.c_before);
  gpu.written = written_elements(d, after.c_before);
  for (const Finding& f : judge(gpu)) out.findings.push_back(f);
  if (!out.executor_ran) return out;
  const Product executor = product_of(d, before, before.c);
  out.executor_right = judge(executor).empty();
  out.differing = differing(gpu, executor);
  return out;
}

bool is_small(const Sizes& s) {
  return static_cast<double>(s[0]) * static_cast<double>(s[1]) * static_cast<double>(s[2]) <=
         kMostJudged;
}

}  // namespace

GpuDevice find_gpu() {
  const bench::ChildResult found = bench::in_child_process(kDescribeLimit_s, describe_gpu);
  if (!found.ok) throw Error(ErrorCode::kNoDevice, "check: --gpu: " + found.text);
  const Json json = Json::parse(found.text);
  return {json.at("name"), json.at("architecture")};
}

bool GpuReport::failed() const {
  return std::any_of(products.begin(), products.end(),
                     [](const GpuProduct& p) { return !p.right(); });
}

GpuTrial::GpuTrial() : device_(find_gpu()) {
  const char* image = std::getenv("TESSERA_CHECK_GPU_IMAGE");
  if (image != nullptr) image_ = image;
  if (!image_.empty()) return;
  nvcc_ = find_nvcc();
  if (nvcc_.empty()) {
    throw Error(ErrorCode::kUnsupported,
                "check: --gpu: no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda to compile the "
                "kernel for the GPU");
  }
}

GpuReport GpuTrial::run(const CheckedProgram& program, const std::vector<ExecutorRun>& runs,
                        const Sizes& timed) const {
  const ImageSource source = image_source(program);
  std::string image = image_;
  if (image.empty()) {
    image = program.folder() + "/image.so";
    build_image(nvcc_, source, device_.architecture, program.folder(), image);
  }
  GpuReport report;
  report.device = device_;

  std::vector<GpuWork> work;
  std::vector<ExecutorRun> judged;
  for (const ExecutorRun& run : runs) {
    const std::string file = program.product_file(run.sizes);
    if (!std::filesystem::exists(file) || !is_small(run.sizes)) {
      report.notes.push_back(fmt::format("{}x{}x{} was not compared element by element",
                                         run.sizes[0], run.sizes[1], run.sizes[2]));
      continue;
    }
    work.push_back({program.drive(run.sizes), file, file + "_gpu"});
    judged.push_back(run);
  }
  const bench::ChildResult done =
      bench::in_child_process(program.options().time_limit_s, [&]() -> std::string {
        multiply_on_gpu(image, source, work);
        return "";
      });
  for (std::size_t i = 0; i < work.size(); ++i) {
    report.products.push_back(compare(work[i].drive, work[i], judged[i]));
    // Behind an error nothing runs any more.
    if (!report.products.back().ran) {
      report.products.back().fault = done.ok ? "it left no result" : done.text;
      break;
    }
  }

  const DriveSizes drive = program.drive(timed);
  report.m = drive.m, report.n = drive.n, report.k = drive.k;
  if (report.failed()) {
    report.notes.push_back("a kernel that is wrong is not timed");
    return report;
  }
  const bool is_plain = drive.element == "float" || drive.element == "double";
  if (!is_plain || drive.element_c != drive.element || drive.has_d) {
    report.notes.push_back(
        "it was not timed: the rungs to compare with take float or double throughout, and no D");
    return report;
  }
  const std::string name = std::filesystem::path(source.path).filename().string();
  const bench::ChildResult measured = bench::in_child_process(
      kTimeLimit_s, [&] { return time_on_gpu(image, source, drive, name); });
  if (!measured.ok) {
    report.notes.push_back("it was not timed: " + measured.text);
    return report;
  }
  const Json json = Json::parse(measured.text);
  double cublas_s = 0;
  for (const Json& row : json.at("rows")) {
    if (row.at("name") == "cublas") cublas_s = row.at("seconds");
  }
  for (const Json& row : json.at("rows")) {
    GpuTime t{row.at("name"),
              row.at("kernel"),
              row.at("disposition"),
              row.at("detail"),
              row.at("seconds"),
              row.at("tflops"),
              0,
              row.at("noise"),
              row.at("timer")};
    if (t.seconds > 0) t.of_cublas = cublas_s / t.seconds;
    report.times.push_back(t);
  }
  for (const Json& note : json.at("notes")) report.notes.push_back(note);
  return report;
}

}  // namespace tessera::simt
