// Every registered kernel against FP64: a new kernel is tested by being registered.
//
// Classes A, B, C, E and J1 of the case list (tests/README.md) run here for each kernel. CUDA
// kernels are skipped where there is no GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>

#include "support/compare.h"
#include "support/device_matrix.h"
#include "tessera/gemm.h"
#include "tessera/kernel.h"
#include "tessera/plan.h"

namespace tessera::test {
namespace {

/// One product to try; everything but the kernel.
struct Case {
  std::int64_t m = 1, n = 1, k = 1;
  Op op_a = Op::kN, op_b = Op::kN;
  Layout layout_a = Layout::kRowMajor, layout_b = Layout::kRowMajor, layout_c = Layout::kRowMajor;
  std::int64_t pad_a = 0, pad_b = 0, pad_c = 0;        // ld beyond the smallest
  std::int64_t shift_a = 0, shift_b = 0, shift_c = 0;  // elements off the natural alignment
  double alpha = 1, beta = 0;
  std::int64_t batch = 1;
  bool share_b = false;  // stride_b = 0
  bool integers = false;
  std::uint64_t seed = 1;

  std::string text() const {
    const auto op = [](Op o) { return o == Op::kN ? 'N' : 'T'; };
    const auto layout = [](Layout l) { return l == Layout::kRowMajor ? 'r' : 'c'; };
    return fmt::format(
        "m={} n={} k={} {}{} layouts {}{}{} pads {},{},{} shifts {},{},{} alpha={} "
        "beta={} batch={} share_b={} integers={} seed={}",
        m, n, k, op(op_a), op(op_b), layout(layout_a), layout(layout_b), layout(layout_c), pad_a,
        pad_b, pad_c, shift_a, shift_b, shift_c, alpha, beta, batch, share_b, integers, seed);
  }
};

/// Of A and B, and of C.
template <class In_, class T_>
struct Elements {
  using In = In_;
  using T = T_;
};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

constexpr Op kOps[] = {Op::kN, Op::kT};

class KernelTest : public testing::TestWithParam<const Kernel*> {
 protected:
  const Kernel& kernel() const { return *GetParam(); }
  bool on_gpu() const { return kernel().id.backend == "cuda"; }

  void SetUp() override {
    if (on_gpu() && cuda_devices().empty()) GTEST_SKIP() << cuda_unavailable_reason();
  }

  GemmOptions options() const {
    GemmOptions o;
    o.kernel = kernel().name;
    return o;
  }

  /// Calls f with the kernel's element types.
  template <class F>
  void with_types(F f) const {
    switch (kernel().id.dtype) {
      case DType::kF64:
        return f(Elements<double, double>{});
      case DType::kBF16:
        return f(Elements<BFloat16, float>{});
      case DType::kF16:
        return f(Elements<Float16, float>{});
      default:
        return f(Elements<float, float>{});
    }
  }

  /// Elements that the kernel wants every run of an operand to start at a multiple of.
  template <class T>
  std::int64_t run_width() const {
    return std::max<std::int64_t>(1, kernel().alignment_bytes / std::int64_t{sizeof(T)});
  }

  template <class T>
  bool meets_alignment(const TestMatrix<T>& x) const {
    return x.offset() % run_width<T>() == 0 && x.ld() % run_width<T>() == 0;
  }

  /// The same elements in rows that the kernel can take: its edges are tested all the same.
  template <class T>
  TestMatrix<T> aligned(const TestMatrix<T>& x) const {
    const std::int64_t run = x.layout() == Layout::kRowMajor ? x.cols() : x.rows();
    const std::int64_t vectors =
        std::max<std::int64_t>(1, (run + run_width<T>() - 1) / run_width<T>());
    TestMatrix<T> out(x.rows(), x.cols(), x.layout(), vectors * run_width<T>() - run, 0, x.batch());
    for (std::int64_t b = 0; b < x.batch(); ++b) {
      for (std::int64_t i = 0; i < x.rows(); ++i) {
        for (std::int64_t j = 0; j < x.cols(); ++j) out.at(i, j, b) = x.at(i, j, b);
      }
    }
    return out;
  }

  /// c = alpha op(a) op(b) + beta c through the public API, wherever the kernel lives.
  template <class In, class T>
  void multiply(const Case& x, TestMatrix<In>& a, TestMatrix<In>& b, TestMatrix<T>& c) const {
    const auto call = [&](MatrixView<const In> va, MatrixView<const In> vb, MatrixView<T> vc) {
      if (x.batch == 1) {
        gemm(x.op_a, x.op_b, static_cast<T>(x.alpha), va, vb, static_cast<T>(x.beta), vc,
             options());
      } else {
        gemm_strided_batched(x.op_a, x.op_b, static_cast<T>(x.alpha), va, a.batch_stride(), vb,
                             x.share_b ? 0 : b.batch_stride(), static_cast<T>(x.beta), vc,
                             c.batch_stride(), x.batch, options());
      }
    };
    if (on_gpu() && !(meets_alignment(a) && meets_alignment(b))) {
      TestMatrix<In> aligned_a = aligned(a), aligned_b = aligned(b);
      const TestMatrix<In> before_a = aligned_a, before_b = aligned_b;
      multiply(x, aligned_a, aligned_b, c);
      EXPECT_TRUE(same_bits(aligned_a.buffer(), before_a.buffer())) << x.text() << ": wrote A";
      EXPECT_TRUE(same_bits(aligned_b.buffer(), before_b.buffer())) << x.text() << ": wrote B";
    } else if (on_gpu()) {
      DeviceCopy<In> da(a), db(b);
      DeviceCopy<T> dc(c);
      call(da.view(), db.view(), dc.view());
      da.download();
      db.download();
      dc.download();
    } else {
      call(a.view(), b.view(), c.view());
    }
  }

  template <class In, class T>
  struct Matrices {
    TestMatrix<In> a, b;
    TestMatrix<T> c;
  };

  template <class In, class T>
  static Matrices<In, T> make(const Case& x) {
    const bool ta = x.op_a == Op::kT, tb = x.op_b == Op::kT;
    return {TestMatrix<In>(ta ? x.k : x.m, ta ? x.m : x.k, x.layout_a, x.pad_a, x.shift_a, x.batch),
            TestMatrix<In>(tb ? x.n : x.k, tb ? x.k : x.n, x.layout_b, x.pad_b, x.shift_b, x.batch),
            TestMatrix<T>(x.m, x.n, x.layout_c, x.pad_c, x.shift_c, x.batch)};
  }

  /// Runs one case and checks the product, the inputs and everything around the outputs.
  void check(const Case& x) const {
    with_types([&](auto types) {
      using In = typename decltype(types)::In;
      using T = typename decltype(types)::T;
      Matrices<In, T> s = make<In, T>(x);
      for (auto* matrix : {&s.a, &s.b}) {
        const std::uint64_t seed = x.seed * 3 + (matrix == &s.b);
        x.integers ? matrix->fill_integers(seed) : matrix->fill_normal(seed);
      }
      if (x.beta != 0) {
        x.integers ? s.c.fill_integers(x.seed * 3 + 2) : s.c.fill_normal(x.seed * 3 + 2);
      }  // otherwise C stays poisoned
      const Matrices<In, T> before = s;
      multiply(x, s.a, s.b, s.c);
      for (std::int64_t i = 0; i < x.batch; ++i) {
        const Reference r = reference_gemm(
            x.op_a, x.op_b, static_cast<double>(static_cast<T>(x.alpha)), before.a, before.b,
            static_cast<double>(static_cast<T>(x.beta)), before.c, i, i, x.share_b ? 0 : i);
        const Comparison result = x.integers ? compare_exact(r, s.c, i) : compare(r, s.c, i);
        ASSERT_TRUE(result) << x.text() << ", batch member " << i << ": " << result.message;
      }
      ASSERT_TRUE(s.c.surroundings_intact()) << x.text() << ": wrote outside C";
      ASSERT_TRUE(same_bits(s.a.buffer(), before.a.buffer())) << x.text() << ": wrote A";
      ASSERT_TRUE(same_bits(s.b.buffer(), before.b.buffer())) << x.text() << ": wrote B";
    });
  }

  void check_all_ops(Case x) const {
    for (Op op_a : kOps) {
      for (Op op_b : kOps) {
        x.op_a = op_a;
        x.op_b = op_b;
        check(x);
        if (HasFatalFailure()) return;
      }
    }
  }
};

Case shape(std::int64_t m, std::int64_t n, std::int64_t k) {
  Case x;
  x.m = m;
  x.n = n;
  x.k = k;
  return x;
}

TEST_P(KernelTest, A1_OddSizesInAllOps) {
  check_all_ops(shape(35, 79, 19));
  check_all_ops(shape(3, 3, 431));
}

TEST_P(KernelTest, A2_LastPartialRowBlockIsWritten) {
  check_all_ops(shape(100, 100, 100));
  check_all_ops(shape(129, 127, 65));
  check(shape(30000, 64, 64));
}

TEST_P(KernelTest, A3_OneDimensionPastTheTile) {
  check_all_ops(shape(33, 32, 32));
  check_all_ops(shape(32, 33, 32));
  check_all_ops(shape(32, 32, 33));
}

TEST_P(KernelTest, A3_ShapesAroundTheKernelsOwnTile) {
  const auto around = [](std::int64_t tile) {
    std::vector<std::int64_t> sizes = {1, tile, tile + 1};
    if (tile > 2) sizes.push_back(tile - 1);
    return sizes;
  };
  const Kernel& kern = kernel();
  std::vector<std::int64_t> depths = around(kern.tile_k);
  depths.push_back(2 * kern.tile_k + 1);
  Case x;
  x.integers = true;  // exact, so that one dropped or doubled step of k cannot hide
  for (std::int64_t m : around(kern.tile_m)) {
    for (std::int64_t n : around(kern.tile_n)) {
      for (std::int64_t k : depths) {
        x.m = m;
        x.n = n;
        x.k = k;
        ++x.seed;
        check_all_ops(x);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(KernelTest, A5_DepthSmallerThanTheTile) {
  with_types([&](auto types) {
    using In = typename decltype(types)::In;
    using T = typename decltype(types)::T;
    TestMatrix<In> a(8, 128), b(8, 128);
    TestMatrix<T> c(128, 128);
    a.fill_constant(In(1));
    b.fill_constant(In(1));
    Case x = shape(128, 128, 8);
    x.op_a = Op::kT;
    multiply(x, a, b, c);
    for (std::int64_t i = 0; i < 128; ++i) {
      for (std::int64_t j = 0; j < 128; ++j) ASSERT_EQ(c.at(i, j), T{8}) << i << ", " << j;
    }
  });
}

TEST_P(KernelTest, A6_DepthWithATail) {
  for (std::int64_t k : {24, 40}) check_all_ops(shape(64, 64, k));
  check_all_ops(shape(256, 256, 192));
}

TEST_P(KernelTest, A7_NoTwoSizesEqual) {
  check_all_ops(shape(256, 128, 192));
  check_all_ops(shape(128, 256, 96));
  check_all_ops(shape(1, 257, 3));
  check_all_ops(shape(257, 1, 3));
}

TEST_P(KernelTest, A9_SizesUnderAnyVectorWidth) {
  for (std::int64_t m = 1; m <= 4; ++m) {
    for (std::int64_t n = 1; n <= 4; ++n) {
      for (std::int64_t k = 1; k <= 4; ++k) check_all_ops(shape(m, n, k));
    }
  }
}

TEST_P(KernelTest, B1_BetaZeroNeverReadsC) {
  with_types([&](auto types) {
    using In = typename decltype(types)::In;
    using T = typename decltype(types)::T;
    for (T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
      for (double beta : {0.0, -0.0}) {
        TestMatrix<In> a(3, 3), b(3, 3);
        TestMatrix<T> c(3, 3);
        a.fill_constant(In(1));
        b.fill_constant(In(1));
        c.fill_constant(bad);
        Case x = shape(3, 3, 3);
        x.beta = beta;
        multiply(x, a, b, c);
        for (int i = 0; i < 9; ++i) EXPECT_EQ(c.at(i / 3, i % 3), T{3});
      }
    }
  });
}

TEST_P(KernelTest, B2_AlphaZeroReadsNeitherAnorB) {
  with_types([&](auto types) {
    using In = typename decltype(types)::In;
    using T = typename decltype(types)::T;
    for (double beta : {1.0, 0.5, 0.0}) {
      TestMatrix<In> a(4, 5), b(5, 6);
      TestMatrix<T> c(4, 6);
      a.fill_constant(static_cast<In>(kNaN));
      b.fill_constant(static_cast<In>(kInf));
      c.fill_constant(beta == 0 ? std::numeric_limits<T>::quiet_NaN() : T{7});
      Case x = shape(4, 6, 5);
      x.alpha = 0;
      x.beta = beta;
      multiply(x, a, b, c);
      for (int i = 0; i < 24; ++i) EXPECT_EQ(c.at(i / 6, i % 6), static_cast<T>(7 * beta));
    }
  });
}

TEST_P(KernelTest, B3_EmptyDimensions) {
  with_types([&](auto types) {
    using In = typename decltype(types)::In;
    using T = typename decltype(types)::T;
    {
      TestMatrix<In> a(3, 0), b(0, 3);
      TestMatrix<T> c(3, 3);
      Case x = shape(3, 3, 0);
      x.alpha = std::numeric_limits<double>::quiet_NaN();  // k == 0: alpha is not used
      multiply(x, a, b, c);
      for (int i = 0; i < 9; ++i) EXPECT_EQ(c.at(i / 3, i % 3), T{0});
      c.fill_constant(4);
      x.beta = 0.25;
      multiply(x, a, b, c);
      for (int i = 0; i < 9; ++i) EXPECT_EQ(c.at(i / 3, i % 3), T{1});
    }
    for (auto [m, n] : {std::pair<std::int64_t, std::int64_t>{0, 3}, {3, 0}, {0, 0}}) {
      TestMatrix<In> a(m, 2), b(2, n);
      TestMatrix<T> c(m, n);
      const TestMatrix<T> before = c;
      multiply(shape(m, n, 2), a, b, c);
      EXPECT_TRUE(same_bits(c.buffer(), before.buffer()));
    }
  });
}

TEST_P(KernelTest, B4_ZeroTimesInfinityIsNaN) {
  with_types([&](auto types) {
    using In = typename decltype(types)::In;
    using T = typename decltype(types)::T;
    TestMatrix<In> a(2, 2), b(2, 2);
    TestMatrix<T> c(2, 2);
    a.fill_constant(In(0));
    b.fill_constant(In(1));
    b.at(0, 0) = static_cast<In>(kInf);
    multiply(shape(2, 2, 2), a, b, c);
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(std::isnan(c.at(i, 0)));
      EXPECT_EQ(c.at(i, 1), T{0});
    }
  });
}

TEST_P(KernelTest, B5_ScalarsAreAppliedOnce) {
  for (double alpha : {1.0, -1.0, 0.5, 3.0}) {
    for (double beta : {0.0, 1.0, -1.0, 3.0}) {
      // Deep enough for every kernel to take several steps along k.
      Case x = shape(37, 41, std::max<std::int64_t>(300, 2 * kernel().tile_k + 3));
      x.alpha = alpha;
      x.beta = beta;
      check(x);
      x.integers = true;
      check(x);
    }
  }
}

TEST_P(KernelTest, NaNStaysInItsRowAndColumn) {
  with_types([&](auto types) {
    using In = typename decltype(types)::In;
    using T = typename decltype(types)::T;
    for (Op op_a : kOps) {
      for (Op op_b : kOps) {
        Case x = shape(kernel().tile_m + 3, kernel().tile_n + 5, 21);
        x.op_a = op_a;
        x.op_b = op_b;
        Matrices<In, T> s = make<In, T>(x);
        s.a.fill_normal(1);
        s.b.fill_normal(2);
        (op_a == Op::kN ? s.a.at(2, 20) : s.a.at(20, 2)) = static_cast<In>(kNaN);
        (op_b == Op::kN ? s.b.at(0, 3) : s.b.at(3, 0)) = static_cast<In>(kNaN);
        multiply(x, s.a, s.b, s.c);
        for (std::int64_t i = 0; i < x.m; ++i) {
          for (std::int64_t j = 0; j < x.n; ++j) {
            ASSERT_EQ(std::isnan(s.c.at(i, j)), i == 2 || j == 3) << i << ", " << j;
          }
        }
      }
    }
  });
}

TEST_P(KernelTest, C1_PaddedLeadingDimensions) {
  Case x = shape(33, 47, 29);
  x.pad_a = 5;
  x.pad_b = 1;
  x.pad_c = 7;
  x.alpha = 1.5;
  x.beta = 0.5;
  check_all_ops(x);
}

TEST_P(KernelTest, C_EveryLayout) {
  for (Layout layout_a : {Layout::kRowMajor, Layout::kColMajor}) {
    for (Layout layout_b : {Layout::kRowMajor, Layout::kColMajor}) {
      for (Layout layout_c : {Layout::kRowMajor, Layout::kColMajor}) {
        Case x = shape(19, 31, 23);
        x.layout_a = layout_a;
        x.layout_b = layout_b;
        x.layout_c = layout_c;
        x.pad_c = 2;
        x.alpha = -0.75;
        x.beta = 2;
        check_all_ops(x);
      }
    }
  }
}

TEST_P(KernelTest, C2_BlockOfALargerMatrix) {
  // Three column blocks of one 20 x 33 matrix: C = op(A) op(B) + C beside its own inputs.
  with_types([&](auto types) {
    using In = typename decltype(types)::In;
    using T = typename decltype(types)::T;
    if constexpr (!std::is_same_v<In, T>) return;  // cpu_half_test has blocks of both types
    if (on_gpu()) return;  // the same code path as with separate buffers; aliases are host logic
    TestMatrix<T> whole(20, 60);
    whole.fill_normal(5);
    const TestMatrix<T> before = whole;
    MatrixView<T> a = whole.view(), b = whole.view(), c = whole.view();
    a.cols = 20;
    b.cols = 15;
    b.data += 20;
    c.cols = 15;
    c.data += 40;
    gemm(Op::kN, Op::kN, T{1}, a, b, T{1}, c, options());
    for (std::int64_t i = 0; i < 20; ++i) {
      for (std::int64_t j = 0; j < 60; ++j) {
        if (j < 40 || j >= 55) {
          ASSERT_EQ(whole.at(i, j), before.at(i, j)) << i << ", " << j;
          continue;
        }
        double expected = static_cast<double>(before.at(i, j)), magnitude = std::fabs(expected);
        for (std::int64_t p = 0; p < 20; ++p) {
          const double term =
              static_cast<double>(before.at(i, p)) * static_cast<double>(before.at(p, 20 + j - 40));
          expected += term;
          magnitude += std::fabs(term);
        }
        const double error = std::fabs(static_cast<double>(whole.at(i, j)) - expected);
        ASSERT_LE(error, 25 * static_cast<double>(std::numeric_limits<T>::epsilon()) * magnitude);
      }
    }
  });
}

TEST_P(KernelTest, C2_EverySecondColumnOfC) {
  // No view has two strides; the columns are a batch that interleaves within the rows of C.
  with_types([&](auto types) {
    using In = typename decltype(types)::In;
    using T = typename decltype(types)::T;
    TestMatrix<In> a(3, 5), b(5, 6);
    TestMatrix<T> c(3, 12);
    a.fill_integers(1);
    b.fill_integers(2);
    c.fill_integers(3);
    const TestMatrix<T> before = c;
    const auto columns = [](auto view) {
      view.cols = 1;
      return view;
    };
    const auto call = [&](MatrixView<const In> va, MatrixView<const In> vb, MatrixView<T> vc) {
      gemm_strided_batched(Op::kN, Op::kN, T{2}, va, 0, columns(vb), 1, T{1}, columns(vc), 2, 6,
                           options());
    };
    if (on_gpu()) {
      DeviceCopy<In> da(a), db(b);
      DeviceCopy<T> dc(c);
      if (kernel().alignment_bytes > static_cast<int>(sizeof(T))) {
        // Rows of five elements, columns one element apart: refused, and C is as it was.
        EXPECT_THROW(call(da.view(), db.view(), dc.view()), Error);
        dc.download();
        EXPECT_TRUE(same_bits(c.buffer(), before.buffer()));
        return;
      }
      call(da.view(), db.view(), dc.view());
      dc.download();
    } else {
      call(a.view(), b.view(), c.view());
    }
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t j = 0; j < 12; ++j) {
        T expected = before.at(i, j);
        for (std::int64_t p = 0; j % 2 == 0 && p < 5; ++p) {
          expected += 2 * a.at(i, p) * b.at(p, j / 2);
        }
        ASSERT_EQ(c.at(i, j), expected) << i << ", " << j;
      }
    }
    EXPECT_TRUE(c.surroundings_intact());
  });
}

TEST_P(KernelTest, E1_MisalignedPointersAndOddLeadingDimensions) {
  for (std::int64_t shift = 0; shift < 4; ++shift) {
    Case x = shape(37, 45, 53);
    x.shift_a = shift;
    x.shift_b = (shift + 1) % 4;
    x.shift_c = (shift + 2) % 4;
    x.pad_a = 1;
    x.pad_b = shift;
    x.pad_c = 3;
    x.beta = 1;
    check_all_ops(x);
  }
}

TEST_P(KernelTest, J1_NoReducedPrecision) {
  with_types([&](auto types) {
    using In = typename decltype(types)::In;
    using T = typename decltype(types)::T;
    TestMatrix<In> a(1, 1), b(1, 1);
    TestMatrix<T> c(1, 1);
    const auto value = static_cast<In>(1024.5);
    a.fill_constant(value);
    b.fill_constant(In(1));
    multiply(shape(1, 1, 1), a, b, c);
    EXPECT_EQ(c.at(0, 0), static_cast<T>(value));

    Case x = shape(256, 256, 512);
    Matrices<In, T> s = make<In, T>(x);
    s.a.fill_normal(1);
    s.b.fill_normal(2);
    multiply(x, s.a, s.b, s.c);
    const Reference r = reference_gemm(Op::kN, Op::kN, 1.0, s.a, s.b, 0.0, s.c);
    double error2 = 0, norm2 = 0;
    for (std::int64_t i = 0; i < x.m; ++i) {
      for (std::int64_t j = 0; j < x.n; ++j) {
        const double expected = r.value[static_cast<std::size_t>(i * x.n + j)];
        error2 += std::pow(static_cast<double>(s.c.at(i, j)) - expected, 2);
        norm2 += expected * expected;
      }
    }
    // TF32 would be near 3e-4; FP32 is under 1e-6 whatever the order of the sum.
    EXPECT_LE(std::sqrt(error2 / norm2), 2e-6);
  });
}

TEST_P(KernelTest, StridedBatches) {
  Case x = shape(17, 23, 31);
  x.batch = 5;
  x.pad_c = 1;
  x.alpha = 2;
  x.beta = -0.5;
  check_all_ops(x);
  x.share_b = true;
  check_all_ops(x);
}

TEST_P(KernelTest, SameBitsRunAfterRun) {
  with_types([&](auto types) {
    using In = typename decltype(types)::In;
    using T = typename decltype(types)::T;
    Case x = shape(130, 70, 600);
    Matrices<In, T> s = make<In, T>(x);
    s.a.fill_normal(1);
    s.b.fill_normal(2);
    multiply(x, s.a, s.b, s.c);
    const TestMatrix<T> first = s.c;
    for (int repeat = 0; repeat < 3; ++repeat) {
      s.c.fill_constant(poison<T>());
      multiply(x, s.a, s.b, s.c);
      ASSERT_TRUE(same_bits(s.c.buffer(), first.buffer()));
    }
  });
}

TEST_P(KernelTest, RandomProblems) {
  std::mt19937_64 engine(20260101);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
  };
  const auto size = [&] { return pick(0, 3) == 0 ? pick(1, 8) : pick(1, 150); };
  constexpr double kScalars[] = {0, 1, -1, 0.5, 2.75};
  for (int i = 0; i < 150; ++i) {
    Case x = shape(size(), size(), pick(0, 9) == 0 ? pick(300, 1200) : size());
    x.op_a = kOps[pick(0, 1)];
    x.op_b = kOps[pick(0, 1)];
    for (Layout* layout : {&x.layout_a, &x.layout_b, &x.layout_c}) {
      *layout = pick(0, 1) ? Layout::kRowMajor : Layout::kColMajor;
    }
    for (std::int64_t* pad : {&x.pad_a, &x.pad_b, &x.pad_c}) *pad = pick(0, 2) ? 0 : pick(1, 40);
    for (std::int64_t* shift : {&x.shift_a, &x.shift_b, &x.shift_c}) *shift = pick(0, 3);
    x.alpha = kScalars[pick(0, 4)];
    x.beta = kScalars[pick(0, 4)];
    x.batch = pick(0, 4) ? 1 : pick(2, 4);
    x.share_b = pick(0, 1) == 1;
    // Integer data is exact only while every scalar and sum is representable.
    x.integers = pick(0, 1) == 1;
    x.seed = static_cast<std::uint64_t>(i) + 100;
    check(x);
    if (HasFatalFailure()) return;
  }
}

/// Can the kernel run on this machine's device at all? That a device refuses a kernel has its own
/// tests; without a GPU the CUDA kernels are listed and skipped.
bool runs_here(const Kernel& kernel) {
  if (kernel.id.backend != "cuda" || cuda_devices().empty()) return true;
  Problem p;
  p.dtype = kernel.id.dtype;
  p.space = Space::kCuda;
  p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 1;
  return !kernel.can_implement(p, cuda_devices().front()).has_value();
}

std::vector<const Kernel*> kernels_of(const std::string& backend) {
  std::vector<const Kernel*> out;
  for (const Kernel& k : registry().kernels()) {
    if (k.id.backend == backend && runs_here(k)) out.push_back(&k);
  }
  return out;
}

std::string test_name(const testing::TestParamInfo<const Kernel*>& info) {
  std::string name = info.param->name;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KernelTest);
INSTANTIATE_TEST_SUITE_P(Cpu, KernelTest, testing::ValuesIn(kernels_of("cpu")), test_name);
INSTANTIATE_TEST_SUITE_P(Cuda, KernelTest, testing::ValuesIn(kernels_of("cuda")), test_name);

}  // namespace
}  // namespace tessera::test
