// Measuring on a GPU: graphs and what they say of their kernels, cuBLAS as a peer, peaks, clocks.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/clocks.h"
#include "bench/gpu.h"
#include "bench/gpu_handles.h"
#include "bench/peer_cublas.h"
#include "support/compare.h"
#include "support/device_matrix.h"
#include "support/errors.h"

namespace tessera::bench {
namespace {

using gpu::Stream;
using test::DeviceCopy;
using test::TestMatrix;

class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes)
      : p_(bytes == 0 ? nullptr : cuda::allocate(bytes)), bytes_(bytes) {}
  ~DeviceBytes() { cuda::release(p_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  void* get() const { return p_; }
  std::size_t size() const { return bytes_; }

 private:
  void* p_;
  std::size_t bytes_;
};

/// One product with whole numbers, small enough to be checked exactly, and operands on the GPU.
template <class T>
struct Product {
  Case what;
  std::int64_t batch;
  TestMatrix<T> a, b, c, c0;
  std::unique_ptr<DeviceCopy<T>> on_a, on_b, on_c;

  /// Layouts of A, B, C; `pad` elements after each run of every operand.
  Product(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k,
          const std::vector<Layout>& layouts, std::int64_t pad, double alpha, double beta,
          std::int64_t batch_ = 1)
      : batch(batch_),
        a(op_a == Op::kT ? k : m, op_a == Op::kT ? m : k, layouts[0], pad, 0, batch_),
        b(op_b == Op::kT ? n : k, op_b == Op::kT ? k : n, layouts[1], pad, 0, batch_),
        c(m, n, layouts[2], pad, 0, batch_),
        c0(c) {
    a.fill_integers(1);
    b.fill_integers(2);
    c.fill_integers(3);
    c0 = c;
    if (beta == 0) c.fill_constant(test::poison<T>());
    what = dense_case(op_a, op_b, m, n, k, sizeof(T) == 4 ? DType::kF32 : DType::kF64);
    what.desc.space = Space::kCuda;
    what.desc.batch = batch;
    what.alpha = alpha;
    what.beta = beta;
    describe(what.desc.a, a);
    describe(what.desc.b, b);
    describe(what.desc.c, c);
    on_a = std::make_unique<DeviceCopy<T>>(a);
    on_b = std::make_unique<DeviceCopy<T>>(b);
    on_c = std::make_unique<DeviceCopy<T>>(c);
  }

  Pointers pointers() const { return {on_a->view().data, on_b->view().data, on_c->view().data}; }
  void expect_exact(const std::string& text) {
    on_c->download();
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto reference =
          test::reference_gemm(what.desc.op_a, what.desc.op_b, what.alpha, a, b, what.beta, c0, i);
      const auto found = test::compare_exact(reference, c, i);
      EXPECT_TRUE(found) << text << ": " << found.message;
    }
    EXPECT_TRUE(c.surroundings_intact()) << text;
  }

 private:
  static void describe(OperandDesc& desc, const TestMatrix<T>& x) {
    desc = {x.rows(), x.cols(), x.ld(), x.layout(), x.batch_stride(), sizeof(T)};
  }
};

const std::vector<Layout> kRows(3, Layout::kRowMajor);

/// A plan's run on a stream, with its workspace.
struct Planned {
  Plan plan;
  DeviceBytes workspace;
  Planned(const Case& what, const std::string& kernel)
      : plan(what.desc, options(kernel)), workspace(plan.workspace_bytes()) {}
  static GemmOptions options(const std::string& kernel) {
    GemmOptions options;
    options.kernel = kernel;
    return options;
  }
  template <class T>
  void run(const Product<T>& product, void* stream) const {
    const Pointers x = product.pointers();
    plan.run(product.what.alpha, x.a, x.b, product.what.beta, x.c, workspace.get(),
             workspace.size(), stream);
  }
};

void expect_plausible(const gpu::Launch& launch) {
  EXPECT_GT(launch.registers, 0);
  EXPECT_LE(launch.registers, 255);
  EXPECT_GE(launch.local_bytes, 0);
  EXPECT_GE(launch.blocks_per_sm, 1) << launch.function;
  EXPECT_GT(launch.occupancy, 0) << launch.function;
  EXPECT_LE(launch.occupancy, 1) << launch.function;
}

TEST(BenchGraph, ReplaysAProductAndNamesItsKernel) {
  const Stream stream;
  Product<float> product(Op::kN, Op::kT, 67, 45, 83, kRows, 3, 2, 0);
  const Planned planned(product.what, "k01_naive");
  gpu::Graph graph(stream.get(), [&] { planned.run(product, stream.get()); });
  for (int replay = 0; replay < 3; ++replay) {
    gpu::fill(product.pointers().c, 0xff, sizeof(float), stream.get());
    graph.launch(stream.get());
  }
  cuda::synchronise(stream.get());
  product.expect_exact("graph");

  const std::vector<gpu::Launch> launches = graph.launches();
  ASSERT_EQ(launches.size(), 1U);
  EXPECT_SAYS(launches[0].function, "naive<float>");
  EXPECT_TRUE(std::equal(launches[0].grid, launches[0].grid + 3, std::vector{3, 5, 1}.begin()));
  EXPECT_TRUE(std::equal(launches[0].block, launches[0].block + 3, std::vector{16, 16, 1}.begin()));
  EXPECT_EQ(launches[0].shared_bytes, 0);
  EXPECT_EQ(launches[0].local_bytes, 0);
  expect_plausible(launches[0]);
}

TEST(BenchGraph, LaunchesComeInTheOrderOfCapture) {
  const Stream stream;
  Product<float> product(Op::kN, Op::kN, 64, 64, 8192, kRows, 0, 1, 0);
  const Planned planned(product.what, "cuda.warp_tiled.f32.64x128x16_t8x8");
  ASSERT_GT(planned.workspace.size(), 0U) << "not cut along k";
  gpu::Graph graph(stream.get(), [&] { planned.run(product, stream.get()); });
  const std::vector<gpu::Launch> launches = graph.launches();
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_SAYS(launches[0].function, "warp_tiled");
  EXPECT_SAYS(launches[1].function, "reduce_pieces");
  EXPECT_EQ(launches[0].shared_bytes, 2 * 16 * (64 + 128 + 4) * 4);
  for (const gpu::Launch& launch : launches) expect_plausible(launch);
  graph.launch(stream.get());
  cuda::synchronise(stream.get());
  product.expect_exact("cut");
}

TEST(BenchGraph, AfterAFailedCaptureTheStreamCanBeUsed) {
  const Stream stream;
  Product<float> product(Op::kN, Op::kN, 33, 34, 35, kRows, 0, 1, 0);
  const Planned planned(product.what, "auto");
  EXPECT_SAYS(test::error_of(ErrorCode::kUnsupported,
                             [&] {
                               gpu::Graph(stream.get(), [&] {
                                 planned.run(product, stream.get());
                                 throw Error(ErrorCode::kUnsupported, "made up");
                               });
                             }),
              "made up");
  // Waiting is what a capture forbids.
  test::error_of(ErrorCode::kDeviceFailure,
                 [&] { gpu::Graph(stream.get(), [&] { cuda::synchronise(stream.get()); }); });
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  planned.run(product, stream.get());
  cuda::synchronise(stream.get());
  product.expect_exact("after failures");
}

TEST(BenchGraph, MayBeEmpty) {
  const Stream stream;
  gpu::Graph graph(stream.get(), [] {});
  EXPECT_TRUE(graph.launches().empty());
  graph.launch(stream.get());
  cuda::synchronise(stream.get());
}

/// Skips, saying why, where there is no cuBLAS.
class Cublas : public testing::Test {
 protected:
  void SetUp() override {
    std::string why_not;
    peer_ = open_cublas(&why_not);
    if (peer_ == nullptr) GTEST_SKIP() << why_not;
  }
  template <class T>
  void check(Product<T>& product, const std::string& text) {
    const RunProduct run = peer_->prepare(product.what, 1, stream_.get());
    run(product.pointers());
    cuda::synchronise(stream_.get());
    product.expect_exact(text);
  }
  template <class T>
  void check_all() {
    const Layout layouts[] = {Layout::kRowMajor, Layout::kColMajor};
    for (int bits = 0; bits < 32; ++bits) {
      const std::vector<Layout> of = {layouts[bits & 1], layouts[bits >> 1 & 1],
                                      layouts[bits >> 2 & 1]};
      const Op op_a = (bits & 8) != 0 ? Op::kT : Op::kN, op_b = (bits & 16) != 0 ? Op::kT : Op::kN;
      for (const double beta : {0.0, 2.0}) {
        Product<T> single(op_a, op_b, 37, 29, 23, of, 5, -3, beta);
        check(single, case_text(single.what));
        Product<T> batched(op_a, op_b, 13, 11, 7, of, 2, -3, beta, 3);
        check(batched, case_text(batched.what));
      }
    }
  }

  Stream stream_;
  std::shared_ptr<Peer> peer_;
};

TEST_F(Cublas, EveryOpAndLayoutOfFloats) { check_all<float>(); }
TEST_F(Cublas, EveryOpAndLayoutOfDoubles) { check_all<double>(); }

TEST_F(Cublas, SaysWhatItIs) {
  EXPECT_EQ(peer_->info().name, "cublas");
  EXPECT_EQ(std::count(peer_->info().version.begin(), peer_->info().version.end(), '.'), 2);
  EXPECT_SAYS(peer_->info().library, "libcublas");
}

TEST_F(Cublas, IsStrictOnRandomData) {
  Product<float> product(Op::kN, Op::kN, 300, 200, 500, kRows, 0, 1, 0);
  product.a.fill_normal(1);
  product.b.fill_normal(2);
  product.on_a = std::make_unique<DeviceCopy<float>>(product.a);
  product.on_b = std::make_unique<DeviceCopy<float>>(product.b);
  peer_->prepare(product.what, 1, stream_.get())(product.pointers());
  cuda::synchronise(stream_.get());
  product.on_c->download();
  const auto reference =
      test::reference_gemm(Op::kN, Op::kN, 1, product.a, product.b, 0, product.c0);
  const auto found = test::compare(reference, product.c);
  EXPECT_TRUE(found) << found.message;
}

TEST_F(Cublas, CanBeCapturedAndItsKernelsNamed) {
  Product<float> product(Op::kN, Op::kN, 256, 256, 4096, kRows, 0, 1, 0);
  const RunProduct run = peer_->prepare(product.what, 1, stream_.get());
  run(product.pointers());  // a product is verified before it is captured to be timed
  gpu::Graph graph(stream_.get(), [&] { run(product.pointers()); });
  const std::vector<gpu::Launch> launches = graph.launches();
  ASSERT_FALSE(launches.empty());
  for (const gpu::Launch& launch : launches) {
    EXPECT_FALSE(launch.function.empty());
    expect_plausible(launch);
  }
  graph.launch(stream_.get());
  graph.launch(stream_.get());
  cuda::synchronise(stream_.get());
  product.expect_exact("graph of cuBLAS");
}

TEST_F(Cublas, RefusesWhatItCannotTake) {
  Case on_host = dense_case(Op::kN, Op::kN, 4, 4, 4, DType::kF32);
  EXPECT_SAYS(
      test::error_of(ErrorCode::kUnsupported, [&] { peer_->prepare(on_host, 1, stream_.get()); }),
      "must lie on a GPU");
}

TEST(BenchGpu, PeaksAreInTheirOrder) {
  const gpu::Peaks peaks = gpu::measure_peaks();
  EXPECT_GT(peaks.fma_gflops, 1000);
  EXPECT_GT(peaks.fma_f64_gflops, 0.005 * peaks.fma_gflops);
  EXPECT_LT(peaks.fma_f64_gflops, 1.05 * peaks.fma_gflops);
  EXPECT_GT(peaks.outer_product_gflops, 0.5 * peaks.fma_gflops);
  EXPECT_LT(peaks.outer_product_gflops, 1.02 * peaks.fma_gflops);
  EXPECT_GT(peaks.memory_gbps, 50);
  EXPECT_GT(peaks.l2_read_gbps, peaks.memory_gbps);
  EXPECT_GT(peaks.shared_gbps, peaks.l2_read_gbps);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(BenchGpu, ClocksAndVersions) {
  ClockWatch watch(cuda::current_device());
  ASSERT_EQ(watch.unavailable(), "");
  const ClockSample sample = watch.sample();
  EXPECT_GT(sample.sm_mhz, 0);
  EXPECT_GT(sample.memory_mhz, 0);
  EXPECT_GE(sample.max_sm_mhz, sample.sm_mhz);
  EXPECT_GT(sample.temperature_c, 0);
  EXPECT_GT(sample.power_w, 0);

  const gpu::Versions versions = gpu::versions();
  EXPECT_EQ(versions.driver, watch.driver_version());
  EXPECT_FALSE(versions.driver.empty());
  EXPECT_SAYS(versions.cuda_driver, ".");
  EXPECT_SAYS(versions.cuda_runtime, ".");
}

TEST(BenchGpu, AnIndexThatIsNoDeviceHasNoClocks) {
  ClockWatch watch(4096);
  EXPECT_FALSE(watch.unavailable().empty());
  EXPECT_EQ(watch.sample().sm_mhz, 0);
}

}  // namespace
}  // namespace tessera::bench
