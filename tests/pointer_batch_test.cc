// Batches by arrays of pointers: every member right, the same bits for any number of threads, and
// what is refused.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/pointer_batch.h"
#include "support/compare.h"
#include "support/errors.h"
#include "support/matrix.h"
#include "support/reference.h"
#include "tessera/gemm.h"

namespace tessera {
namespace {

using test::TestMatrix;

/// Operands of a batch, each matrix in a guarded buffer of its own.
template <class T>
struct Batch {
  Op op_a, op_b;
  std::vector<TestMatrix<T>> a, b, c;

  std::vector<const T*> a_members() const { return inputs(a); }
  std::vector<const T*> b_members() const { return inputs(b); }
  static std::vector<const T*> inputs(const std::vector<TestMatrix<T>>& x) {
    std::vector<const T*> out;
    for (const auto& matrix : x) out.push_back(matrix.view().data);
    return out;
  }
  std::vector<T*> c_members() {
    std::vector<T*> out;
    for (auto& matrix : c) out.push_back(matrix.view().data);
    return out;
  }
  void run(T alpha, T beta, const GemmOptions& options = {}) {
    MatrixView<const T> a_view = std::as_const(a[0]).view(), b_view = std::as_const(b[0]).view();
    MatrixView<T> c_view = c[0].view();
    a_view.data = b_view.data = c_view.data = nullptr;  // not looked at
    gemm_pointer_batched(op_a, op_b, alpha, a_view, a_members().data(), b_view, b_members().data(),
                         beta, c_view, c_members().data(), static_cast<std::int64_t>(c.size()),
                         options);
  }
};

struct Shape {
  std::int64_t m, n, k;
};

template <class T>
Batch<T> random_batch(std::mt19937& random, Shape s, std::int64_t batch) {
  const auto pick = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most + 1));
  };
  const auto layout = [&] { return pick(1) ? Layout::kColMajor : Layout::kRowMajor; };
  Batch<T> out{pick(1) ? Op::kT : Op::kN, pick(1) ? Op::kT : Op::kN, {}, {}, {}};
  const bool ta = out.op_a == Op::kT, tb = out.op_b == Op::kT;
  const Layout la = layout(), lb = layout(), lc = layout();
  const int pads[] = {pick(3), pick(3), pick(3)};
  for (std::int64_t i = 0; i < batch; ++i) {
    out.a.emplace_back(ta ? s.k : s.m, ta ? s.m : s.k, la, pads[0], pick(3));
    out.b.emplace_back(tb ? s.n : s.k, tb ? s.k : s.n, lb, pads[1], pick(3));
    out.c.emplace_back(s.m, s.n, lc, pads[2], pick(3));
    out.a.back().fill_normal(random());
    out.b.back().fill_normal(random());
    out.c.back().fill_normal(random());
  }
  return out;
}

template <class T>
class PointerBatchTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(PointerBatchTest, Types);

TYPED_TEST(PointerBatchTest, RandomBatchesAreRightAndLeaveTheRestAlone) {
  using T = TypeParam;
  std::mt19937 random(7);
  const auto size = [&](unsigned most) { return static_cast<std::int64_t>(1 + random() % most); };
  for (int round = 0; round < 150; ++round) {
    const Shape s{size(40), size(40), size(40)};
    Batch<T> x = random_batch<T>(random, s, size(12));
    const auto before = x.c;
    const T alpha = round % 7 == 0 ? T(0) : T(1.5), beta = round % 3 == 0 ? T(0) : T(-0.5);
    GemmOptions options;
    options.threads = static_cast<int>(size(4));
    x.run(alpha, beta, options);
    for (std::size_t i = 0; i < x.c.size(); ++i) {
      const auto expected =
          test::reference_gemm(x.op_a, x.op_b, alpha, x.a[i], x.b[i], beta, before[i]);
      const auto same = test::compare(expected, x.c[i]);
      ASSERT_TRUE(same) << "round " << round << ", member " << i << ": " << same.message;
      ASSERT_TRUE(x.c[i].surroundings_intact());
    }
  }
}

// Small ones are spread; of large ones some are spread and the rest has threads inside.
TYPED_TEST(PointerBatchTest, EachMemberHasTheBitsOfASingleCallWithOneThread) {
  using T = TypeParam;
  std::mt19937 random(11);
  for (const auto& [shape, batch] : {std::pair{Shape{9, 17, 5}, 700},
                                     {Shape{170, 160, 190}, 7},
                                     {Shape{1, 1, 1}, 2000},
                                     {Shape{64, 1, 300}, 33}}) {
    const Batch<T> x = random_batch<T>(random, shape, batch);
    std::vector<TestMatrix<T>> single = x.c;
    GemmOptions options;
    options.threads = 1;
    for (std::size_t i = 0; i < single.size(); ++i) {
      gemm(x.op_a, x.op_b, T(1.25), x.a[i].view(), x.b[i].view(), T(0.75), single[i].view(),
           options);
    }
    for (int threads = 1; threads <= 5; ++threads) {
      Batch<T> y = x;
      options.threads = threads;
      y.run(T(1.25), T(0.75), options);
      for (std::size_t i = 0; i < single.size(); ++i) {
        ASSERT_TRUE(test::same_bits(single[i].buffer(), y.c[i].buffer()))
            << threads << " threads, member " << i;
      }
    }
  }
}

TYPED_TEST(PointerBatchTest, WhatIsNotReadMayBeNull) {
  using T = TypeParam;
  std::mt19937 random(3);
  Batch<T> x = random_batch<T>(random, {3, 4, 5}, 3);
  const MatrixView<const T> a = std::as_const(x.a[0]).view(), b = std::as_const(x.b[0]).view();
  const auto before = x.c;
  gemm_pointer_batched(x.op_a, x.op_b, T(0), a, nullptr, b, nullptr, T(2), x.c[0].view(),
                       x.c_members().data(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::int64_t r = 0; r < 3; ++r) {
      for (std::int64_t s = 0; s < 4; ++s) EXPECT_EQ(x.c[i].at(r, s), 2 * before[i].at(r, s));
    }
  }
  gemm_pointer_batched(x.op_a, x.op_b, T(1), a, nullptr, b, nullptr, T(0),
                       MatrixView<T>(nullptr, 3, 4, 4), nullptr, 0);
  // k = 0: A and B have no elements.
  gemm_pointer_batched(Op::kN, Op::kN, T(1), MatrixView<const T>(nullptr, 3, 0, 1), nullptr,
                       MatrixView<const T>(nullptr, 0, 4, 4), nullptr, T(0), x.c[0].view(),
                       x.c_members().data(), 3);
  for (const auto& c : x.c) {
    EXPECT_EQ(c.at(2, 3), T(0));
    EXPECT_TRUE(c.surroundings_intact());
  }
}

// Every tile of C from tiles of the same large matrix, as tiled factorisations do.
TYPED_TEST(PointerBatchTest, TilesOfOneMatrix) {
  using T = TypeParam;
  constexpr std::int64_t kTile = 5, kAcross = 60, kLd = kTile * kAcross;
  std::vector<T> whole(3 * kTile * kLd);
  for (std::size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<T>(i % 17) - T(8);
  const auto tile = [&](std::int64_t row, std::int64_t col) {
    return whole.data() + (row * kLd + col) * kTile;
  };
  std::vector<const T*> a, b;
  std::vector<T*> c;
  for (std::int64_t j = kAcross; j-- > 0;) {  // not in the order of addresses
    a.push_back(tile(0, j));
    b.push_back(tile(1, j / 2));  // used twice
    c.push_back(tile(2, j));
  }
  const std::vector<T> before = whole;
  const MatrixView<T> view(nullptr, kTile, kTile, kLd);
  gemm_pointer_batched(Op::kN, Op::kN, T(1), MatrixView<const T>(view), a.data(),
                       MatrixView<const T>(view), b.data(), T(1), view, c.data(), kAcross);
  const auto old = [&](std::int64_t row, std::int64_t col, std::int64_t i, std::int64_t j) {
    return before[static_cast<std::size_t>((row * kTile + i) * kLd + col * kTile + j)];
  };
  for (std::int64_t t = 0; t < kAcross; ++t) {
    for (std::int64_t i = 0; i < kTile; ++i) {
      for (std::int64_t j = 0; j < kTile; ++j) {
        T sum = old(2, t, i, j);
        for (std::int64_t p = 0; p < kTile; ++p) sum += old(0, t, i, p) * old(1, t / 2, p, j);
        ASSERT_EQ(tile(2, t)[i * kLd + j], sum) << t << ' ' << i << ' ' << j;
      }
    }
  }
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 2 * kTile * kLd, whole.begin()));
}

TYPED_TEST(PointerBatchTest, BadMembersAreNamedAndNoCIsTouched) {
  using T = TypeParam;
  std::mt19937 random(5);
  Batch<T> x = random_batch<T>(random, {4, 4, 4}, 6);
  const auto before = x.c;
  const MatrixView<const T> a = std::as_const(x.a[0]).view(), b = std::as_const(x.b[0]).view();
  const auto refused = [&](auto change) {
    auto as = x.a_members(), bs = x.b_members();
    auto cs = x.c_members();
    change(as, bs, cs);
    return test::error_of(ErrorCode::kInvalidArgument, [&] {
      gemm_pointer_batched(x.op_a, x.op_b, T(1), a, as.data(), b, bs.data(), T(1), x.c[0].view(),
                           cs.data(), 6);
    });
  };
  EXPECT_SAYS(refused([](auto& as, auto&, auto&) { as[3] = nullptr; }), "A[3] is null");
  EXPECT_SAYS(refused([](auto&, auto& bs, auto&) { bs[0] = nullptr; }), "B[0] is null");
  EXPECT_SAYS(refused([](auto&, auto&, auto& cs) { cs[5] = nullptr; }), "C[5] is null");
  EXPECT_SAYS(refused([](auto& as, auto&, auto&) {
                as[2] = reinterpret_cast<const T*>(reinterpret_cast<const char*>(as[2]) + 1);
              }),
              "A[2] is at address");
  EXPECT_SAYS(refused([](auto&, auto& bs, auto&) {
                bs[2] = reinterpret_cast<const T*>(std::numeric_limits<std::intptr_t>::max() - 15);
              }),
              "B[2] at address");
  EXPECT_SAYS(refused([](auto&, auto&, auto& cs) { cs[4] = cs[1]; }),
              "C[1] shares memory with C[4]");
  EXPECT_SAYS(refused([](auto&, auto&, auto& cs) { cs[4] = cs[1] + 2; }),
              "C[1] shares memory with C[4]");
  EXPECT_SAYS(refused([](auto& as, auto&, auto& cs) { as[0] = cs[5] + 1; }),
              "C[5] shares memory with A[0]");
  EXPECT_SAYS(refused([](auto&, auto& bs, auto& cs) { bs[5] = cs[5]; }),
              "C[5] shares memory with B[5]");
  const auto call = [&](std::int64_t batch, const T* const* as, T* const* cs) {
    gemm_pointer_batched(x.op_a, x.op_b, T(1), a, as, b, x.b_members().data(), T(1), x.c[0].view(),
                         cs, batch);
  };
  const auto message = [&](auto f) { return test::error_of(ErrorCode::kInvalidArgument, f); };
  EXPECT_SAYS(message([&] { call(-1, x.a_members().data(), x.c_members().data()); }), "batch = -1");
  EXPECT_SAYS(message([&] { call(INT64_MAX, x.a_members().data(), x.c_members().data()); }),
              "batch = 9223372036854775807");
  EXPECT_SAYS(message([&] { call(6, nullptr, x.c_members().data()); }),
              "the array of pointers to A is null, but batch = 6");
  EXPECT_SAYS(message([&] { call(6, x.a_members().data(), nullptr); }),
              "the array of pointers to C is null");
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(test::same_bits(before[i].buffer(), x.c[i].buffer()));
  }
}

TYPED_TEST(PointerBatchTest, ShapesAreCheckedEvenOfNoMembersAndCudaIsRefused) {
  using T = TypeParam;
  const MatrixView<const T> a(nullptr, 2, 3, 3), b(nullptr, 4, 2, 2);
  const MatrixView<T> c(nullptr, 2, 2, 2);
  EXPECT_SAYS(test::error_of(ErrorCode::kInvalidArgument,
                             [&] {
                               gemm_pointer_batched(Op::kN, Op::kN, T(1), a, nullptr, b, nullptr,
                                                    T(0), c, nullptr, 0);
                             }),
              "inner sizes must be equal");
  MatrixView<T> on_gpu = c;
  on_gpu.space = Space::kCuda;
  EXPECT_SAYS(test::error_of(ErrorCode::kUnsupported,
                             [&] {
                               gemm_pointer_batched(Op::kN, Op::kN, T(1), a, nullptr, a, nullptr,
                                                    T(0), on_gpu, nullptr, 0);
                             }),
              "gemm_strided_batched");
}

/// Elements of the blocks at `offsets` in one array.
std::multiset<std::int64_t> elements(const OperandDesc& x, const std::vector<std::int64_t>& at) {
  std::multiset<std::int64_t> out;
  for (std::int64_t offset : at) {
    for (std::int64_t i = 0; i < x.rows; ++i) {
      for (std::int64_t j = 0; j < x.cols; ++j) out.insert(offset + i * x.ld + j);
    }
  }
  return out;
}

// Blocks of one matrix at random places, against a list of their elements.
TEST(PointerBatchOverlap, IsExactForBlocksOfOneMatrix) {
  std::mt19937 random(23);
  const auto size = [&](unsigned most) { return static_cast<std::int64_t>(random() % most); };
  int refused = 0, accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::int64_t ld = 6 + size(60);
    const auto operand = [&](std::int64_t rows, std::int64_t cols) {
      return OperandDesc{rows, cols, ld, Layout::kRowMajor, 0, 1};
    };
    const std::int64_t m = 1 + size(4), n = 1 + size(6), k = 1 + size(std::min(m, n));
    GemmDesc desc;
    desc.a = operand(m, k);
    desc.b = operand(k, n);
    desc.c = operand(m, n);
    const std::int64_t batch = 1 + size(14);
    std::vector<float> memory(static_cast<std::size_t>(40 * ld + 100));
    std::vector<std::int64_t> at[3];
    std::vector<const float*> a, b;
    std::vector<float*> c;
    for (std::int64_t i = 0; i < batch; ++i) {
      // Rarely on each other: C in the first columns or anywhere, inputs below.
      const std::int64_t far = round % 3 == 0 ? 0 : 20 * ld;
      at[0].push_back(far + size(14 * static_cast<unsigned>(ld)));
      at[1].push_back(far + size(14 * static_cast<unsigned>(ld)));
      at[2].push_back(round % 2 ? i * n % std::max<std::int64_t>(1, ld - n) + i / 5 * m * ld
                                : size(16 * static_cast<unsigned>(ld)));
      a.push_back(memory.data() + at[0].back());
      b.push_back(memory.data() + at[1].back());
      c.push_back(memory.data() + at[2].back());
    }
    const auto of_c = elements(desc.c, at[2]);
    bool expected = std::set<std::int64_t>(of_c.begin(), of_c.end()).size() != of_c.size();
    for (const std::int64_t e : elements(desc.a, at[0])) expected |= of_c.count(e) > 0;
    for (const std::int64_t e : elements(desc.b, at[1])) expected |= of_c.count(e) > 0;
    std::vector<std::byte> scratch(pointer_check_bytes(batch));
    bool found = false;
    try {
      check_pointer_batch<float>({desc, a.data(), b.data(), c.data(), batch}, true, scratch.data());
    } catch (const Error&) {
      found = true;
    }
    ASSERT_EQ(found, expected) << "round " << round;
    ++(expected ? refused : accepted);
  }
  EXPECT_GT(refused, 400);
  EXPECT_GT(accepted, 400);
}

}  // namespace
}  // namespace tessera
