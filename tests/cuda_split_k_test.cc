// Tiles cut along k: the sum of the pieces, its scalars, its bits, its scratch memory.
#include <cmath>

#include "cuda_support.h"
#include "tessera/plan.h"

namespace tessera {
namespace {

// Few tiles and a long k, so that every configuration cuts on any GPU; nothing divides anything.
constexpr std::int64_t kM = 130, kN = 203, kK = 9001;

std::vector<std::string> cutting_kernels() {
  std::vector<std::string> out;
  for (const Kernel& kernel : registry().kernels()) {
    const bool cuts = kernel.stem == "k06_warp_tiled" || kernel.stem == "k07_packed";
    // Older devices cannot run every kernel; that they refuse is tested elsewhere.
    Problem p;
    p.space = Space::kCuda;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 1;
    if (cuts && !kernel.can_implement(p, cuda_devices().front())) out.push_back(kernel.name);
  }
  return out;
}

/// One product, its inputs and its expected result on the device.
struct Product {
  Op op_a, op_b;
  float alpha, beta;
  DeviceArray<float> a, b, c, expected;
  std::vector<float> c_before;

  Product(Op op_a_, Op op_b_, float alpha_, float beta_, std::uint64_t seed)
      : op_a(op_a_),
        op_b(op_b_),
        alpha(alpha_),
        beta(beta_),
        a(whole_numbers<float>(kM * kK, seed)),
        b(whole_numbers<float>(kK * kN, seed + 1)),
        c(kM * kN),
        expected(kM * kN),
        c_before(whole_numbers<float>(kM * kN, seed + 2)) {
    if (beta == 0) c_before.assign(c_before.size(), std::nanf(""));
    run("k01_naive", expected);
    run("k01_naive", c);
  }

  MatrixView<const float> view_a() const {
    return op_a == Op::kN ? row_major<const float>(a.data(), kM, kK, Space::kCuda)
                          : row_major<const float>(a.data(), kK, kM, Space::kCuda);
  }
  MatrixView<const float> view_b() const {
    return op_b == Op::kN ? row_major<const float>(b.data(), kK, kN, Space::kCuda)
                          : row_major<const float>(b.data(), kN, kK, Space::kCuda);
  }
  void enqueue(const std::string& kernel, DeviceArray<float>& out, void* stream = nullptr) const {
    gemm(op_a, op_b, alpha, view_a(), view_b(), beta, row_major(out.data(), kM, kN, Space::kCuda),
         with_kernel(kernel, stream));
  }
  void run(const std::string& kernel, DeviceArray<float>& out) {
    out.upload(c_before);
    enqueue(kernel, out);
  }

  GemmDesc description() const {
    GemmDesc desc;
    desc.space = Space::kCuda;
    desc.op_a = op_a;
    desc.op_b = op_b;
    desc.a = {view_a().rows, view_a().cols, view_a().ld, Layout::kRowMajor, 0, 4};
    desc.b = {view_b().rows, view_b().cols, view_b().ld, Layout::kRowMajor, 0, 4};
    desc.c = {kM, kN, kN, Layout::kRowMajor, 0, 4};
    return desc;
  }
};

TEST(SplitK, B5_ScalarsAreAppliedOnce) {
  for (const std::string& kernel : cutting_kernels()) {
    for (Op op_a : {Op::kN, Op::kT}) {
      for (Op op_b : {Op::kN, Op::kT}) {
        for (auto [alpha, beta] : {std::pair{0.5F, 3.0F}, {-2.0F, 0.0F}, {1.0F, 1.0F}}) {
          Product x(op_a, op_b, alpha, beta, 11);
          ASSERT_GT(Plan(x.description(), with_kernel(kernel)).workspace_bytes(), 0U) << kernel;
          x.run(kernel, x.c);
          EXPECT_EQ(x.c.download(), x.expected.download()) << kernel;
        }
      }
    }
  }
}

TEST(SplitK, WorkspaceThatIsTooSmallIsRefused) {
  Product x(Op::kN, Op::kN, 1, 0, 5);
  for (const std::string& kernel : cutting_kernels()) {
    const Plan plan(x.description(), with_kernel(kernel));
    const DeviceArray<char> scratch(plan.workspace_bytes());
    const std::vector<float> before = x.c.download();
    error_of(ErrorCode::kInvalidArgument, [&] {
      plan.run(1, x.a.data(), x.b.data(), 0, x.c.data(), scratch.data(),
               plan.workspace_bytes() - 1);
    });
    EXPECT_EQ(x.c.download(), before);
  }
}

class Stream {
 public:
  Stream() : stream_(cuda::create_stream()) {}
  ~Stream() { cuda::destroy_stream(stream_); }
  cudaStream_t get() const { return static_cast<cudaStream_t>(stream_); }

 private:
  void* stream_;
};

/// Captures what `enqueue` does and replays it three times, after `before` each time.
template <class Enqueue, class Before, class After>
void replay(cudaStream_t stream, Enqueue enqueue, Before before, After after) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  enqueue();
  ASSERT_CUDA(cudaStreamEndCapture(stream, &graph));
  ASSERT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 3; ++i) {
    before();
    // The stream does not wait for the default one, and copies from pageable memory may lag behind.
    ASSERT_CUDA(cudaDeviceSynchronize());
    ASSERT_CUDA(cudaGraphLaunch(executable, stream));
    ASSERT_CUDA(cudaStreamSynchronize(stream));
    after();
  }
  EXPECT_CUDA(cudaGraphExecDestroy(executable));
  EXPECT_CUDA(cudaGraphDestroy(graph));
}

TEST(SplitK, F8_GraphReplaysGiveTheSameBits) {
  const Stream stream;
  for (const std::string& kernel : cutting_kernels()) {
    Product x(Op::kN, Op::kT, 0.5F, 3, 21);
    const Plan plan(x.description(), with_kernel(kernel));
    const DeviceArray<char> scratch(plan.workspace_bytes());
    replay(
        stream.get(),
        [&] {
          plan.run(x.alpha, x.a.data(), x.b.data(), x.beta, x.c.data(), scratch.data(),
                   plan.workspace_bytes(), stream.get());
        },
        [&] {
          x.c.upload(x.c_before);
          ASSERT_CUDA(cudaMemset(scratch.data(), 0xFF, scratch.size()));
        },
        [&] { EXPECT_EQ(x.c.download(), x.expected.download()) << kernel; });
  }
}

TEST(SplitK, TheOneCallFormCanBeCaptured) {
  const Stream stream;
  for (const std::string& kernel : cutting_kernels()) {
    Product x(Op::kT, Op::kN, 2, -1, 31);
    replay(
        stream.get(), [&] { x.enqueue(kernel, x.c, stream.get()); },
        [&] { x.c.upload(x.c_before); },
        [&] { EXPECT_EQ(x.c.download(), x.expected.download()) << kernel; });
  }
}

TEST(SplitK, CallsOnTwoStreamsDoNotShareScratchMemory) {
  const Stream one, two;
  for (const std::string& kernel : cutting_kernels()) {
    Product x(Op::kN, Op::kN, 1, 0, 41), y(Op::kN, Op::kN, 1, 0, 51);
    ASSERT_CUDA(cudaDeviceSynchronize());  // neither stream waits for the default one
    for (int i = 0; i < 20; ++i) {
      x.enqueue(kernel, x.c, one.get());
      y.enqueue(kernel, y.c, two.get());
    }
    ASSERT_CUDA(cudaDeviceSynchronize());
    EXPECT_EQ(x.c.download(), x.expected.download()) << kernel;
    EXPECT_EQ(y.c.download(), y.expected.download()) << kernel;
  }
}

}  // namespace
}  // namespace tessera
