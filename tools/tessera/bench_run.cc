// Measuring: prove, time, prove again.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "bench.h"
#include "core/backend.h"
#include "tessera/verify.h"

namespace tessera::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kFewestSamples = 5;
constexpr double kShortestSample_s = 2e-3;  // far above the clock's resolution

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using HostBuffer = std::unique_ptr<void, Free>;

HostBuffer host_buffer(std::size_t bytes) {
  HostBuffer buffer(std::aligned_alloc(256, (bytes + 256) / 256 * 256));
  if (!buffer) throw std::bad_alloc();
  return buffer;
}

/// Sees every change of a byte that matters here, at memory speed.
std::size_t fingerprint(const void* data, std::size_t bytes) {
  return std::hash<std::string_view>()(std::string_view(static_cast<const char*>(data), bytes));
}

struct ReleaseDevice {
  void operator()(void* p) const { cuda::release(p); }
};
using DeviceBuffer = std::unique_ptr<void, ReleaseDevice>;

/// In rows: a pitch of the whole matrix could pass the 2 GiB that a pitched copy allows.
void upload(void* device, const void* host, std::size_t bytes, std::int64_t rows) {
  const std::size_t width = bytes / static_cast<std::size_t>(rows);
  cuda::copy_to_device(device, width, host, width, width, static_cast<std::size_t>(rows), nullptr);
  cuda::synchronise(nullptr);
}

void download(void* host, const void* device, std::size_t bytes, std::int64_t rows) {
  const std::size_t width = bytes / static_cast<std::size_t>(rows);
  cuda::copy_to_host(host, width, device, width, width, static_cast<std::size_t>(rows), nullptr);
  cuda::synchronise(nullptr);
}

/// A, B and their fingerprints, shared by the kernels of one shape.
struct Data {
  BenchShape shape;
  BenchSettings settings;
  std::size_t a_bytes = 0, b_bytes = 0, c_bytes = 0;
  HostBuffer a, b;
  std::size_t a_print = 0, b_print = 0;
  DeviceBuffer device_a, device_b;

  Data(const BenchShape& shape_, const BenchSettings& settings_)
      : shape(shape_), settings(settings_) {
    const std::size_t size = size_of(settings.dtype);
    a_bytes = static_cast<std::size_t>(shape.m * shape.k) * size;
    b_bytes = static_cast<std::size_t>(shape.k * shape.n) * size;
    c_bytes = static_cast<std::size_t>(shape.m * shape.n) * size;
    a = host_buffer(a_bytes);
    b = host_buffer(b_bytes);
    fill_normal(settings.dtype, a.get(), shape.m * shape.k, 1);
    fill_normal(settings.dtype, b.get(), shape.k * shape.n, 2);
    a_print = fingerprint(a.get(), a_bytes);
    b_print = fingerprint(b.get(), b_bytes);
    if (settings.space != Space::kCuda) return;
    device_a.reset(cuda::allocate(a_bytes));
    device_b.reset(cuda::allocate(b_bytes));
    upload(device_a.get(), a.get(), a_bytes, shape.m);
    upload(device_b.get(), b.get(), b_bytes, shape.k);
  }

  GemmDesc desc() const {
    GemmDesc d;
    d.dtype = settings.dtype;
    d.space = settings.space;
    d.device = settings.device;
    d.op_a = settings.op_a;
    d.op_b = settings.op_b;
    const bool ta = d.op_a == Op::kT, tb = d.op_b == Op::kT;
    const auto dense = [](std::int64_t rows, std::int64_t cols) {
      return OperandDesc{rows, cols, cols, Layout::kRowMajor, 0, 256};
    };
    d.a = ta ? dense(shape.k, shape.m) : dense(shape.m, shape.k);
    d.b = tb ? dense(shape.n, shape.k) : dense(shape.k, shape.n);
    d.c = dense(shape.m, shape.n);
    return d;
  }
};

/// Checks host C against host A and B.
template <class T>
VerifyReport check_as(const Data& data, const void* c) {
  const GemmDesc d = data.desc();
  const auto source = [](const void* p, const OperandDesc& x) {
    return source_of(MatrixView<const T>(static_cast<const T*>(p), x.rows, x.cols, x.ld));
  };
  VerifyProblem problem;
  problem.op_a = d.op_a;
  problem.op_b = d.op_b;
  problem.a = source(data.a.get(), d.a);
  problem.b = source(data.b.get(), d.b);
  problem.c = source(c, d.c);
  problem.precision = d.dtype == DType::kF32 ? Precision::kFp32 : Precision::kFp64;
  problem.c_dtype = d.dtype;
  return verify(problem);
}

std::string fault_of(const Data& data, const void* c) {
  const VerifyReport report =
      data.settings.dtype == DType::kF32 ? check_as<float>(data, c) : check_as<double>(data, c);
  return report.passed ? "" : report.to_string();
}

BenchProduct host_product(const std::shared_ptr<Data>& data, const std::shared_ptr<Plan>& plan) {
  const std::shared_ptr<void> c = host_buffer(data->c_bytes);
  const std::shared_ptr<void> workspace = host_buffer(plan->workspace_bytes());
  BenchProduct product;
  product.run = [=] {
    plan->run(1, data->a.get(), data->b.get(), 0, c.get(), workspace.get(),
              plan->workspace_bytes());
  };
  product.time_s = [run = product.run](int products) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < products; ++i) run();
    return seconds_since(start);
  };
  product.poison = [=] { fill_nan(data->settings.dtype, c.get(), data->shape.m * data->shape.n); };
  product.fault = [=]() -> std::string {
    if (fingerprint(data->a.get(), data->a_bytes) != data->a_print) return "A was changed";
    if (fingerprint(data->b.get(), data->b_bytes) != data->b_print) return "B was changed";
    return fault_of(*data, c.get());
  };
  return product;
}

BenchProduct cuda_product(const std::shared_ptr<Data>& data, const std::shared_ptr<Plan>& plan) {
  const std::shared_ptr<void> c(DeviceBuffer(cuda::allocate(data->c_bytes)));
  const std::shared_ptr<void> workspace(
      DeviceBuffer(cuda::allocate(std::max<std::size_t>(1, plan->workspace_bytes()))));
  const std::shared_ptr<void> begin(cuda::create_event(), cuda::destroy_event);
  const std::shared_ptr<void> end(cuda::create_event(), cuda::destroy_event);
  const auto enqueue = [=] {
    plan->run(1, data->device_a.get(), data->device_b.get(), 0, c.get(), workspace.get(),
              plan->workspace_bytes());
  };
  BenchProduct product;
  product.run = [=] {
    enqueue();
    cuda::synchronise(nullptr);
  };
  product.time_s = [=](int products) {
    cuda::record(begin.get(), nullptr);
    for (int i = 0; i < products; ++i) enqueue();
    cuda::record(end.get(), nullptr);
    cuda::synchronise_event(end.get());
    return static_cast<double>(cuda::elapsed_ms(begin.get(), end.get())) / 1e3;
  };
  product.poison = [=] {
    const HostBuffer nan = host_buffer(data->c_bytes);
    fill_nan(data->settings.dtype, nan.get(), data->shape.m * data->shape.n);
    upload(c.get(), nan.get(), data->c_bytes, data->shape.m);
  };
  product.fault = [=]() -> std::string {
    const HostBuffer back = host_buffer(std::max({data->a_bytes, data->b_bytes, data->c_bytes}));
    download(back.get(), data->device_a.get(), data->a_bytes, data->shape.m);
    if (fingerprint(back.get(), data->a_bytes) != data->a_print) return "A was changed";
    download(back.get(), data->device_b.get(), data->b_bytes, data->shape.k);
    if (fingerprint(back.get(), data->b_bytes) != data->b_print) return "B was changed";
    download(back.get(), c.get(), data->c_bytes, data->shape.m);
    return fault_of(*data, back.get());
  };
  return product;
}

void settle(BenchRow& row, Disposition disposition, std::string detail) {
  row.disposition = disposition;
  row.detail = std::move(detail);
  row.seconds.clear();
}

/// Runs a step of one kernel; false when the row is decided against it.
template <class Step>
bool attempt(BenchRow& row, Step step) {
  try {
    step();
    return true;
  } catch (const std::exception& e) {
    settle(row, Disposition::kFailed, e.what());
    return false;
  }
}

/// Judges what stands in C; settles the row when it is wrong.
bool proved(const BenchProduct& product, BenchRow& row, const char* when) {
  const std::string fault = product.fault();
  if (fault.empty()) return true;
  settle(row, Disposition::kIncorrect, fmt::format("{} the timed loop: {}", when, fault));
  return false;
}

/// Products per sample, so that a sample is long enough for the clock.
int calibrate(const BenchProduct& product) {
  product.time_s(1);
  const double one_s = std::max(product.time_s(1), 1e-9);
  return static_cast<int>(std::clamp(kShortestSample_s / one_s + 1, 1.0, 1e6));
}

}  // namespace

std::string_view to_string(Disposition disposition) {
  switch (disposition) {
    case Disposition::kPassed:
      return "passed";
    case Disposition::kIncorrect:
      return "incorrect";
    case Disposition::kNotSupported:
      return "not supported";
    case Disposition::kFailed:
      break;
  }
  return "failed";
}

double flops_of(const BenchShape& s) {
  return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k);
}

double BenchRow::min_s() const { return *std::min_element(seconds.begin(), seconds.end()); }
double BenchRow::max_s() const { return *std::max_element(seconds.begin(), seconds.end()); }
double BenchRow::median_s() const {
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

void measure(std::vector<BenchProduct>& products, double seconds, std::vector<BenchRow>& rows) {
  std::vector<std::size_t> alive;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const BenchProduct& product = products[i];
    const bool ready = attempt(rows[i], [&] {
      product.poison();
      product.run();
    });
    if (!ready || !proved(product, rows[i], "before")) continue;
    if (attempt(rows[i], [&] {
          rows[i].products_per_sample = calibrate(product);
          product.poison();
        })) {
      alive.push_back(i);
    }
  }
  // Round after round over all kernels, so that a change of clock meets each of them.
  std::vector<double> spent(products.size(), 0);
  for (bool more = true; more;) {
    more = false;
    for (const std::size_t i : alive) {
      BenchRow& row = rows[i];
      const int samples = static_cast<int>(row.seconds.size());
      if (!row.detail.empty() || (samples >= kFewestSamples && spent[i] >= seconds)) continue;
      more = attempt(row,
                     [&] {
                       const double sample_s = products[i].time_s(row.products_per_sample);
                       spent[i] += sample_s;
                       row.seconds.push_back(sample_s / row.products_per_sample);
                     }) ||
             more;
    }
  }
  for (const std::size_t i : alive) {
    if (rows[i].detail.empty() && proved(products[i], rows[i], "after")) {
      rows[i].disposition = Disposition::kPassed;
    }
  }
}

std::vector<BenchRow> bench_shape(const BenchShape& shape, const std::vector<std::string>& kernels,
                                  const BenchSettings& settings) {
  std::unique_ptr<cuda::DeviceGuard> guard;
  if (settings.space == Space::kCuda) guard = std::make_unique<cuda::DeviceGuard>(settings.device);
  const auto data = std::make_shared<Data>(shape, settings);
  std::vector<BenchRow> rows, refused;
  std::vector<BenchProduct> products;
  for (const std::string& requested : kernels) {
    BenchRow row;
    row.shape = shape;
    row.requested = requested;
    try {
      GemmOptions options;
      options.kernel = requested;
      options.threads = settings.threads;
      const auto plan = std::make_shared<Plan>(data->desc(), options);
      row.kernel = plan->kernel();
      products.push_back(settings.space == Space::kCuda ? cuda_product(data, plan)
                                                        : host_product(data, plan));
      rows.push_back(row);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kUnsupported) throw;
      settle(row, Disposition::kNotSupported, e.what());
      refused.push_back(row);
    }
  }
  measure(products, settings.seconds, rows);
  rows.insert(rows.end(), refused.begin(), refused.end());
  return rows;
}

}  // namespace tessera::cli
