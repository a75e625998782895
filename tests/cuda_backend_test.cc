// The CUDA backend on a GPU: devices, pointers, streams, graphs, memory.
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <thread>
#include <tuple>

#include "cuda_support.h"
#include "tessera/plan.h"
#include "tessera/solve.h"

namespace tessera {
namespace {

/// One product of odd size with its exact result.
struct Product {
  static constexpr std::int64_t m = 67, n = 45, k = 83;
  std::vector<float> a = whole_numbers<float>(m * k, 1), b = whole_numbers<float>(k * n, 2);

  std::vector<float> expected() const {
    std::vector<float> c(m * n);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t p = 0; p < k; ++p) c[i * n + j] += a[i * k + p] * b[p * n + j];
      }
    }
    return c;
  }
  static void run(const float* a, const float* b, float* c, const GemmOptions& options) {
    gemm(Op::kN, Op::kN, 1.0F, row_major(a, m, k, Space::kCuda), row_major(b, k, n, Space::kCuda),
         0.0F, row_major(c, m, n, Space::kCuda), options);
  }
};

struct DestroyStream {
  void operator()(void* stream) const { cuda::destroy_stream(stream); }
};
using Stream = std::unique_ptr<void, DestroyStream>;
Stream make_stream() { return Stream(cuda::create_stream()); }
cudaStream_t handle(const Stream& stream) { return static_cast<cudaStream_t>(stream.get()); }

const std::vector<float> kPoison(Product::m* Product::n, std::numeric_limits<float>::quiet_NaN());

// First, so that most kernels are launched for the first time while a stream is captured.
TEST(CudaGraph, ReplaysGiveTheSameBits) {
  const Product product;
  const DeviceArray<float> a(product.a), b(product.b);
  DeviceArray<float> c(kPoison);
  const Stream stream = make_stream();
  for (const std::string& kernel : cuda_kernel_names(DType::kF32)) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(handle(stream), cudaStreamCaptureModeGlobal));
    Product::run(a.data(), b.data(), c.data(), with_kernel(kernel, stream.get()));
    ASSERT_CUDA(cudaStreamEndCapture(handle(stream), &graph));
    ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int replay = 0; replay < 3; ++replay) {
      c.upload(kPoison);
      ASSERT_CUDA(cudaGraphLaunch(exec, handle(stream)));
      ASSERT_CUDA(cudaStreamSynchronize(handle(stream)));
      EXPECT_EQ(c.download(), product.expected()) << kernel << ", replay " << replay;
    }
    EXPECT_CUDA(cudaGraphExecDestroy(exec));
    EXPECT_CUDA(cudaGraphDestroy(graph));
  }
}

TEST(CudaGraph, ScalingIsCaptured) {
  DeviceArray<float> c(std::vector<float>{1, 2, 3, 4, 5, 6});
  const Stream stream = make_stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  GemmOptions options;
  options.stream = stream.get();
  const MatrixView<const float> empty_a(nullptr, 2, 0, 1, Layout::kRowMajor, Space::kCuda);
  const MatrixView<const float> empty_b(nullptr, 0, 3, 3, Layout::kRowMajor, Space::kCuda);
  ASSERT_CUDA(cudaStreamBeginCapture(handle(stream), cudaStreamCaptureModeGlobal));
  gemm(Op::kN, Op::kN, 1.0F, empty_a, empty_b, 2.0F, row_major(c.data(), 2, 3, Space::kCuda),
       options);
  ASSERT_CUDA(cudaStreamEndCapture(handle(stream), &graph));
  ASSERT_CUDA(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) ASSERT_CUDA(cudaGraphLaunch(exec, handle(stream)));
  ASSERT_CUDA(cudaStreamSynchronize(handle(stream)));
  EXPECT_EQ(c.download(), (std::vector<float>{8, 16, 24, 32, 40, 48}));
  EXPECT_CUDA(cudaGraphExecDestroy(exec));
  EXPECT_CUDA(cudaGraphDestroy(graph));
}

TEST(CudaStream, WaitsForItsOwnStreamAndNoOther) {
  const Product product;
  const DeviceArray<float> b(product.b);
  DeviceArray<float> a(product.a.size()), c(kPoison);
  float* const pinned = static_cast<float*>(cuda::allocate_pinned(a.size() * sizeof(float)));
  std::memcpy(pinned, product.a.data(), a.size() * sizeof(float));
  const Stream busy = make_stream(), idle = make_stream();
  for (const std::string& kernel : cuda_kernel_names(DType::kF32)) {
    a.upload(std::vector<float>(a.size(), 99));
    Product::run(a.data(), b.data(), c.data(), with_kernel(kernel));  // loaded before the clock
    ASSERT_CUDA(cudaDeviceSynchronize());
    c.upload(kPoison);
    // A arrives late, on the stream of the product.
    ASSERT_CUDA(cudaLaunchHostFunc(
        handle(busy), [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); },
        nullptr));
    ASSERT_CUDA(cudaMemcpyAsync(a.data(), pinned, a.size() * sizeof(float), cudaMemcpyHostToDevice,
                                handle(busy)));
    Product::run(a.data(), b.data(), c.data(), with_kernel(kernel, busy.get()));
    EXPECT_EQ(cudaStreamQuery(handle(busy)), cudaErrorNotReady)
        << kernel << " did not return early";
    cudaGetLastError();  // "not ready" counts as an error until somebody looks
    EXPECT_CUDA(cudaStreamQuery(handle(idle)));
    EXPECT_CUDA(cudaStreamQuery(nullptr));
    ASSERT_CUDA(cudaStreamSynchronize(handle(busy)));
    EXPECT_EQ(c.download(), product.expected()) << kernel;
  }
  cuda::release_pinned(pinned);
}

TEST(CudaStream, EventsOrderAndTime) {
  const Stream first = make_stream(), second = make_stream();
  void* const start = cuda::create_event();
  void* const stop = cuda::create_event();
  DeviceArray<float> x(std::vector<float>{1, 2, 3, 4});
  cuda::record(start, first.get());
  ASSERT_CUDA(cudaLaunchHostFunc(
      handle(first), [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); },
      nullptr));
  ASSERT_CUDA(cudaMemsetAsync(x.data(), 0, 16, handle(first)));
  cuda::record(stop, first.get());
  cuda::wait(second.get(), stop);
  std::vector<float> y(4, 7);
  cuda::copy_to_host(y.data(), 16, x.data(), 16, 16, 1, second.get());
  cuda::synchronise(second.get());
  cuda::synchronise_event(stop);
  EXPECT_EQ(y, std::vector<float>(4, 0));
  EXPECT_TRUE(cuda::elapsed_ms(start, stop) >= 15);
  cuda::destroy_event(start);
  cuda::destroy_event(stop);
}

TEST(CudaPlan, RunAllocatesNothing) {
  const Product product;
  const DeviceArray<float> a(product.a), b(product.b);
  DeviceArray<float> c(kPoison);
  for (const std::string& kernel : cuda_kernel_names(DType::kF32)) {
    GemmDesc desc;
    desc.space = Space::kCuda;
    desc.a = {Product::m, Product::k, Product::k};
    desc.b = {Product::k, Product::n, Product::n};
    desc.c = {Product::m, Product::n, Product::n};
    const Plan plan(desc, with_kernel(kernel));
    EXPECT_EQ(plan.kernel(), kernel);
    const std::size_t bytes = plan.workspace_bytes();
    DeviceArray<float> workspace((bytes + 3) / 4);
    const auto run = [&] { plan.run(1, a.data(), b.data(), 0, c.data(), workspace.data(), bytes); };
    run();
    ASSERT_CUDA(cudaDeviceSynchronize());
    const std::size_t before = cuda::free_bytes();
    for (int i = 0; i < 10; ++i) run();
    ASSERT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(cuda::free_bytes(), before) << kernel;
    EXPECT_EQ(c.download(), product.expected()) << kernel;
  }
}

TEST(CudaDevices, AreListedByIndex) {
  int count = 0;
  ASSERT_CUDA(cudaGetDeviceCount(&count));
  ASSERT_EQ(cuda_devices().size(), static_cast<std::size_t>(count));
  EXPECT_EQ(cuda_unavailable_reason(), "");
  for (int i = 0; i < count; ++i) {
    const DeviceInfo& device = cuda_devices()[i];
    EXPECT_EQ(device.index, i);
    EXPECT_EQ(device.space, Space::kCuda);
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.sm_count, 0);
    EXPECT_GT(device.memory_bytes, 0);
    EXPECT_GE(device.shared_bytes_per_block, 48 << 10);
    EXPECT_GE(device.max_threads_per_block, 1024);
  }
}

TEST(CudaDevices, OneThatDoesNotExistIsRefused) {
  GemmDesc d;
  d.space = Space::kCuda;
  d.device = static_cast<int>(cuda_devices().size());
  const std::string message = error_of(ErrorCode::kNoDevice, [&] { const Plan plan(d); });
  EXPECT_NE(message.find("cuda:" + std::to_string(d.device) + " does not exist"), std::string::npos)
      << message;
}

TEST(CudaPointers, DeviceAndManagedMemoryAreKnown) {
  const DeviceArray<float> x(4);
  int device = -1;
  ASSERT_CUDA(cudaGetDevice(&device));
  EXPECT_EQ(cuda::device_of(x.data(), "A"), device);
  EXPECT_EQ(cuda::device_of(x.data() + 3, "A"), device);
  void* managed = nullptr;
  ASSERT_CUDA(cudaMallocManaged(&managed, 64));
  EXPECT_GE(cuda::device_of(managed, "A"), 0);
  EXPECT_CUDA(cudaFree(managed));
}

TEST(CudaPointers, HostMemoryIsRefusedByName) {
  float host[4] = {1, 2, 3, 4};
  void* const pinned = cuda::allocate_pinned(64);
  for (const void* p : {static_cast<const void*>(host), static_cast<const void*>(pinned)}) {
    const std::string message =
        error_of(ErrorCode::kInvalidArgument, [&] { cuda::device_of(p, "operand X"); });
    EXPECT_NE(message.find("operand X"), std::string::npos) << message;
  }
  cuda::release_pinned(pinned);
  const DeviceArray<float> a(4);
  const MatrixView<const float> input = row_major<const float>(a.data(), 2, 2, Space::kCuda);
  DeviceArray<float> c(std::vector<float>(4, 7));
  const MatrixView<const float> wrong = row_major<const float>(host, 2, 2, Space::kCuda);
  const MatrixView<float> output = row_major(c.data(), 2, 2, Space::kCuda);
  for (const auto& [x, y, z] : {std::tuple(wrong, input, output), std::tuple(input, wrong, output),
                                std::tuple(input, input, row_major(host, 2, 2, Space::kCuda))}) {
    error_of(ErrorCode::kInvalidArgument,
             [&, &x = x, &y = y, &z = z] { gemm(Op::kN, Op::kN, 1.0F, x, y, 0.0F, z); });
  }
  EXPECT_EQ(host[0], 1);
  EXPECT_EQ(c.download(), std::vector<float>(4, 7));
  EXPECT_CUDA(cudaPeekAtLastError()) << "an error that was reported stays behind";
}

TEST(CudaDeviceGuard, RestoresTheCallersDevice) {
  if (cuda_devices().size() < 2) GTEST_SKIP() << "one GPU only";
  const Product product;
  ASSERT_CUDA(cudaSetDevice(1));
  const DeviceArray<float> a(product.a), b(product.b);
  DeviceArray<float> c(kPoison);
  ASSERT_CUDA(cudaSetDevice(0));
  Product::run(a.data(), b.data(), c.data(), {});
  EXPECT_EQ(cuda::current_device(), 0);
  EXPECT_EQ(cuda::device_of(c.data(), "C"), 1);
  {
    const cuda::DeviceGuard guard(1);
    EXPECT_EQ(cuda::current_device(), 1);
    EXPECT_CUDA(cudaDeviceSynchronize());
  }
  EXPECT_EQ(cuda::current_device(), 0);
  EXPECT_EQ(c.download(), product.expected());
}

TEST(CudaDeviceGuard, OnTheCurrentDeviceChangesNothing) {
  const int device = cuda::current_device();
  {
    const cuda::DeviceGuard guard(device);
    EXPECT_EQ(cuda::current_device(), device);
  }
  EXPECT_EQ(cuda::current_device(), device);
  error_of(ErrorCode::kNoDevice, [] { const cuda::DeviceGuard guard(9999); });
  EXPECT_EQ(cuda::current_device(), device);
}

TEST(CudaErrors, AnEarlierErrorOfTheCallerIsNeitherReportedNorCleared) {
  const Product product;
  const DeviceArray<float> a(product.a), b(product.b);
  DeviceArray<float> c(kPoison);
  ASSERT_EQ(cudaSetDevice(9999), cudaErrorInvalidDevice);
  Product::run(a.data(), b.data(), c.data(), {});
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(c.download(), product.expected());
}

TEST(CudaErrors, OutOfMemorySaysHowMuch) {
  const std::size_t bytes = std::size_t{1} << 50;
  const std::string message = error_of(ErrorCode::kOutOfMemory, [&] { cuda::allocate(bytes); });
  EXPECT_NE(message.find(std::to_string(bytes)), std::string::npos) << message;
  EXPECT_CUDA(cudaPeekAtLastError());
}

TEST(CudaCopies, PitchedThereAndBack) {
  constexpr std::size_t kRows = 5, kWidth = 3, kHostPitch = 7, kDevicePitch = 4;  // elements
  const std::vector<float> host = whole_numbers<float>(kRows * kHostPitch, 3);
  DeviceArray<float> x(std::vector<float>(kRows * kDevicePitch, 99));
  std::vector<float> back(host.size(), 77);
  constexpr std::size_t kSize = sizeof(float);
  cuda::copy_to_device(x.data(), kDevicePitch * kSize, host.data(), kHostPitch * kSize,
                       kWidth * kSize, kRows, nullptr);
  cuda::copy_to_host(back.data(), kHostPitch * kSize, x.data(), kDevicePitch * kSize,
                     kWidth * kSize, kRows, nullptr);
  cuda::synchronise(nullptr);
  const std::vector<float> device = x.download();
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t j = 0; j < kHostPitch; ++j) {
      EXPECT_EQ(back[i * kHostPitch + j], j < kWidth ? host[i * kHostPitch + j] : 77.0F);
    }
    EXPECT_EQ(device[i * kDevicePitch + kWidth], 99.0F);
  }
}

TEST(Solve, IsTheProductInTheOrderMKN) {
  const Product product;
  const DeviceArray<float> a(product.a), b(product.b);
  DeviceArray<float> c(kPoison);
  solve(a.data(), b.data(), c.data(), Product::m, Product::k, Product::n);
  EXPECT_EQ(c.download(), product.expected());
  solve(a.data(), b.data(), c.data(), Product::m, 0, Product::n);
  EXPECT_EQ(c.download(), std::vector<float>(Product::m * Product::n, 0));
  solve(nullptr, nullptr, nullptr, 0, 3, 0);
}

}  // namespace
}  // namespace tessera
