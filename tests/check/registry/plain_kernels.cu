// A program that runs one of Tessera's own plain kernels over the shapes that its tile makes
// interesting: in all ops, with padded rows, scalars and a batch, in every configuration.
//
//   tessera check tests/check/registry/plain_kernels.cu -- -I src -I include -DKERNEL=k02_tiled
//
// With -DSQUARE=256 -DCONFIG=t16 that FP32 configuration multiplies one square matrix instead, for
// counting.
// Exits with 1 when a product is wrong.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#define NAME_OF(x) #x
#define TEXT_OF(x) NAME_OF(x)
#define FILE_OF(x) NAME_OF(kernels/cuda/x.cu)
#include FILE_OF(KERNEL)

#include "tessera/error.h"

#define JOINED(a, b) a##b
#define REGISTER_OF(x) JOINED(register_, x)

namespace tessera {

// What the library has besides; here the kernel is alone.
void tessera::detail::refuse_dtype(DType) { std::abort(); }
std::string KernelId::to_string() const { return family + " " + config; }
void Registry::add(Kernel kernel) {
  kernel.name = kernel.id.to_string();
  kernels_.push_back(std::move(kernel));
}
namespace cuda {
void fail(cudaError_t error, const char* call) {
  throw Error(ErrorCode::kDeviceFailure, std::string(call) + ": " + cudaGetErrorString(error));
}
}  // namespace cuda

namespace {

struct Case {
  std::int64_t m, n, k;
  bool trans_a = false, trans_b = false;
  int padding = 0;  // elements at the end of each row
  double alpha = 1, beta = 0;
  std::int64_t batch = 1;
};

int alignment_of(std::int64_t bytes) {
  int alignment = 256;
  while (bytes % alignment != 0) alignment /= 2;
  return alignment;
}

template <class T>
class Buffer {
 public:
  explicit Buffer(std::vector<T> host) : host_(std::move(host)) {
    cuda::check(cudaMalloc(&device_, bytes()), "cudaMalloc");
    cuda::check(cudaMemcpy(device_, host_.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~Buffer() { cudaFree(device_); }
  T* device() { return device_; }
  const std::vector<T>& host() const { return host_; }
  std::vector<T> back() {
    std::vector<T> values(host_.size());
    cuda::check(cudaMemcpy(values.data(), device_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

 private:
  std::size_t bytes() const { return host_.size() * sizeof(T); }
  std::vector<T> host_;
  T* device_ = nullptr;
};

template <class T>
std::vector<T> random_values(std::int64_t count, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<T> values(count);
  for (T& x : values) x = static_cast<T>(normal(random));
  return values;
}

/// False when the kernel refuses it.
template <class T>
bool multiply(const Kernel& kernel, const Case& c, bool compare) {
  std::mt19937 random(7);
  Problem p;
  p.dtype = kernel.id.dtype;
  p.space = Space::kCuda;
  p.m = c.m, p.n = c.n, p.k = c.k;
  p.trans_a = c.trans_a, p.trans_b = c.trans_b;
  p.lda = (c.trans_a ? c.m : c.k) + c.padding;
  p.ldb = (c.trans_b ? c.k : c.n) + c.padding;
  p.ldc = c.n + c.padding;
  p.batch = c.batch;
  p.stride_a = p.lda * (c.trans_a ? c.k : c.m);
  p.stride_b = p.ldb * (c.trans_b ? c.n : c.k);
  p.stride_c = p.ldc * c.m;
  const auto alignment = [](std::int64_t ld, std::int64_t stride) {
    return std::min(alignment_of(ld * static_cast<std::int64_t>(sizeof(T))),
                    alignment_of(stride * static_cast<std::int64_t>(sizeof(T))));
  };
  p.align_a = alignment(p.lda, p.stride_a);
  p.align_b = alignment(p.ldb, p.stride_b);
  p.align_c = alignment(p.ldc, p.stride_c);
  DeviceInfo device;
  device.space = Space::kCuda;
  device.compute_major = 9;
  device.sm_count = compare ? 6 : 132;  // few, so that small problems are cut along k as well
  device.max_threads_per_block = 1024;
  device.shared_bytes_per_block = 227 * 1024;
  if (kernel.can_implement(p, device)) return false;

  Buffer<T> a(random_values<T>(p.stride_a * p.batch, random));
  Buffer<T> b(random_values<T>(p.stride_b * p.batch, random));
  Buffer<T> c_buffer(random_values<T>(p.stride_c * p.batch, random));
  LaunchContext context{device};
  if (kernel.workspace_bytes) context.workspace_bytes = kernel.workspace_bytes(p, device, 1);
  if (context.workspace_bytes != 0) {
    cuda::check(cudaMalloc(&context.workspace, context.workspace_bytes), "cudaMalloc");
  }
  kernel.launch(p, {c.alpha, c.beta, a.device(), b.device(), c_buffer.device()}, context);
  cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const std::vector<T> result = c_buffer.back();
  cudaFree(context.workspace);
  if (!compare) return true;

  const double unit = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  for (std::int64_t batch = 0; batch < p.batch; ++batch) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.ldc; ++j) {
        const std::int64_t at = batch * p.stride_c + i * p.ldc + j;
        const double before = c_buffer.host()[at];
        double want = 0, size = 0;
        for (std::int64_t q = 0; q < p.k && j < p.n; ++q) {
          const double x = a.host()[batch * p.stride_a + (p.trans_a ? q * p.lda + i : i * p.lda + q)];
          const double y = b.host()[batch * p.stride_b + (p.trans_b ? j * p.ldb + q : q * p.ldb + j)];
          want += x * y;
          size += std::fabs(x * y);
        }
        want = j < p.n ? c.alpha * want + c.beta * before : before;
        size = std::fabs(c.alpha) * size + std::fabs(c.beta * before);
        const bool ok = std::fabs(result[at] - want) <= (j < p.n ? 2 * (p.k + 4) * unit * size : 0);
        if (!ok) {
          std::printf("%s: m=%d n=%d k=%d: C[%d][%d] is %g and should be %g\n", kernel.name.c_str(),
                      static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k),
                      static_cast<int>(i), static_cast<int>(j), static_cast<double>(result[at]), want);
          std::exit(1);
        }
      }
    }
  }
  return true;
}

std::vector<Case> cases_of(const Kernel& kernel) {
  const std::int64_t tm = kernel.tile_m, tn = kernel.tile_n, tk = kernel.tile_k;
  return {
      {1, 1, 1},                                           // less than a tile
      {tm, tn, tk},                                        // exactly one
      {tm + 1, tn + 3, tk + 1, true, false, 0, 1.5, 0.5},  // one more everywhere
      {tm - 1, 7, 2 * tk + 3, false, true, 3},             // padded rows, two steps and a tail
      {5, tn + 4, 3 * tk, true, true, 0, -1, 0, 2},        // a batch
      {tm, 4, 8 * tk, false, false, 4},                    // long and thin: cut along k
  };
}

}  // namespace
}  // namespace tessera

int main() {
  using namespace tessera;
  Registry registry;
  REGISTER_OF(KERNEL)(registry);
  int products = 0;
  for (const Kernel& kernel : registry.kernels()) {
#ifdef SQUARE
    if (kernel.id.dtype != DType::kF32 || kernel.id.config != TEXT_OF(CONFIG)) continue;
    products += multiply<float>(kernel, {SQUARE, SQUARE, SQUARE}, false);
#else
    for (const Case& c : cases_of(kernel)) {
      products += kernel.id.dtype == DType::kF32 ? multiply<float>(kernel, c, true)
                                                 : multiply<double>(kernel, c, true);
    }
#endif
  }
  std::printf("%d products\n", products);
  return products != 0 ? 0 : 1;
}
