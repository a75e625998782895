// Products through the BLAS names: right, with the reference's semantics, and harmless to the
// process. Errors are in blas_error_test.cc, the reference's own tests in blas_reference_test.sh.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <thread>

#include "blas/plain_loops.h"
#include "blas_support.h"
#include "support/compare.h"
#include "support/matrix.h"
#include "support/reference.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT

TYPED_TEST_SUITE(BlasTest, BlasTypes);

int int_of(std::int64_t x) { return static_cast<int>(x); }

/// A random product.
template <class T>
struct Case {
  Layout layout;
  Op op_a, op_b;
  T alpha, beta;
  TestMatrix<T> a, b, c;

  static Case random(std::mt19937& engine, int most) {
    const auto pick = [&](int n) { return static_cast<int>(engine() % static_cast<unsigned>(n)); };
    const Layout layout = pick(2) ? Layout::kColMajor : Layout::kRowMajor;
    return of(engine, layout, pick(2) ? Op::kT : Op::kN, pick(2) ? Op::kT : Op::kN, 1 + pick(most),
              1 + pick(most), 1 + pick(most), pick(3));
  }
  static Case of(std::mt19937& engine, Layout layout, Op op_a, Op op_b, int m, int n, int k,
                 int pad) {
    const bool ta = op_a == Op::kT, tb = op_b == Op::kT;
    Case x{layout,
           op_a,
           op_b,
           T(1.25),
           T(-0.5),
           TestMatrix<T>(ta ? k : m, ta ? m : k, layout, pad),
           TestMatrix<T>(tb ? n : k, tb ? k : n, layout, pad),
           TestMatrix<T>(m, n, layout, pad)};
    x.a.fill_normal(engine());
    x.b.fill_normal(engine());
    x.c.fill_normal(engine());
    return x;
  }
  int m() const { return int_of(c.rows()); }
  int n() const { return int_of(c.cols()); }
  int k() const { return int_of(op_a == Op::kN ? a.cols() : a.rows()); }
  Reference reference() const { return reference_gemm(op_a, op_b, alpha, a, b, beta, c); }
  static int cblas_op(Op op) { return op == Op::kN ? kNoTrans : kTrans; }
  int cblas_layout() const { return layout == Layout::kRowMajor ? kRowMajor : kColMajor; }
  const T* a_data() const { return a.view().data; }
  const T* b_data() const { return b.view().data; }

  void run_cblas() {
    Blas<T>::cblas_gemm(cblas_layout(), cblas_op(op_a), cblas_op(op_b), m(), n(), k(), alpha,
                        a_data(), int_of(a.ld()), b_data(), int_of(b.ld()), beta, c.view().data,
                        int_of(c.ld()));
  }
  /// Column-major only.
  void run_fortran() {
    const char letters[] = {op_a == Op::kN ? 'N' : 'T', op_b == Op::kN ? 'n' : 'c'};
    const int sizes[] = {m(), n(), k(), int_of(a.ld()), int_of(b.ld()), int_of(c.ld())};
    Blas<T>::gemm(letters, letters + 1, sizes, sizes + 1, sizes + 2, &alpha, a_data(), sizes + 3,
                  b_data(), sizes + 4, &beta, c.view().data, sizes + 5);
  }
};

template <class T>
void expect_right(const Reference& expected, const TestMatrix<T>& c) {
  const Comparison same = compare(expected, c);
  EXPECT_TRUE(same) << same.message;
  EXPECT_TRUE(c.surroundings_intact());
}

TYPED_TEST(BlasTest, RandomProducts) {
  std::mt19937 engine(1);
  for (int round = 0; round < 200; ++round) {
    auto x = Case<TypeParam>::random(engine, round % 10 == 0 ? 150 : 40);
    auto y = x;
    const Reference expected = x.reference();
    x.run_cblas();
    expect_right(expected, x.c);
    if (y.layout == Layout::kColMajor) {
      y.run_fortran();
      EXPECT_TRUE(same_bits(x.c.buffer(), y.c.buffer()));
    }
  }
}

TYPED_TEST(BlasTest, WhatScalarsMakeUnreadIsNotRead) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const int one = 1, two = 2, zero = 0;
  const T alpha = 2, nought = 0, minus_nought = T(-0.0), unit = 1;
  const T a[4] = {1, 2, 3, 4};
  const auto run = [&](const int* m, const int* k, const T* alpha_, const T* a_, const T* beta,
                       T* c) {
    Blas<T>::gemm("N", "N", m, &two, k, alpha_, a_, &two, a_, &two, beta, c, &two);
  };
  for (const T* beta : {&nought, &minus_nought}) {
    T c[4] = {nan, nan, nan, nan};
    run(&two, &two, &alpha, a, beta, c);  // NaN in C does not survive
    EXPECT_EQ(c[0], T(2 * (1 * 1 + 3 * 2)));
    std::fill_n(c, 4, nan);
    run(&two, &two, &nought, nullptr, beta, c);
    for (const T x : c) EXPECT_EQ(x, T(0));
  }
  T c[4] = {1, 2, 3, 4};
  run(&two, &two, &nought, nullptr, &alpha, c);
  EXPECT_EQ(c[3], T(8));
  run(&two, &zero, &alpha, nullptr, &alpha, c);
  EXPECT_EQ(c[3], T(16));
  run(&one, &zero, &alpha, nullptr, &alpha, c);  // one row of two
  EXPECT_EQ(c[0], T(8));
  EXPECT_EQ(c[1], T(8));
  // Quick returns: not even C.
  run(&zero, &two, &alpha, nullptr, &alpha, nullptr);
  run(&two, &two, &nought, nullptr, &unit, nullptr);
  run(&two, &zero, &alpha, nullptr, &unit, nullptr);
  // NaN and infinity propagate; no zero is skipped.
  const T infinite[4] = {std::numeric_limits<T>::infinity(), 1, 1, 1}, zeros[4] = {};
  Blas<T>::gemm("N", "N", &two, &two, &two, &unit, infinite, &two, zeros, &two, &nought, c, &two);
  EXPECT_TRUE(std::isnan(c[0]));
}

// A legal program may lay A between the columns of C; what tessera::gemm refuses is computed.
TYPED_TEST(BlasTest, InputsThatOverlapCAreReadFirst) {
  using T = TypeParam;
  std::vector<T> both(12);
  for (int i = 0; i < 12; ++i) both[static_cast<std::size_t>(i)] = T(i + 1);
  // C: 2 x 2 with ldc 6 at 0 and 6; A: 2 x 2 with lda 3 at 2 and 5: no common element.
  const T b[4] = {1, 0, 2, 1};
  const std::vector<T> before = both;
  Blas<T>::cblas_gemm(kColMajor, kNoTrans, kNoTrans, 2, 2, 2, T(1), both.data() + 2, 3, b, 2, T(0),
                      both.data(), 6);
  const T *a0 = before.data() + 2, *a1 = before.data() + 5;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(both[static_cast<std::size_t>(i)], a0[i]);
    EXPECT_EQ(both[static_cast<std::size_t>(6 + i)], 2 * a0[i] + a1[i]);
  }
  // C over both inputs, which no program may: as if they had been copied.
  std::vector<T> x{1, 2, 3, 4};
  Blas<T>::cblas_gemm(kRowMajor, kNoTrans, kTrans, 2, 2, 2, T(1), x.data(), 2, x.data(), 2, T(1),
                      x.data(), 2);
  EXPECT_EQ(x, (std::vector<T>{1 + 5, 2 + 11, 3 + 11, 4 + 25}));
}

TYPED_TEST(BlasTest, PointersNeedNoAlignment) {
  using T = TypeParam;
  const T a[4] = {1, 2, 3, 4}, expected[4] = {7, 10, 15, 22};
  unsigned char bytes[2][4 * sizeof(T) + 1];
  std::memcpy(bytes[0] + 1, a, sizeof a);
  const T* const odd_a = reinterpret_cast<const T*>(bytes[0] + 1);
  T* const odd_c = reinterpret_cast<T*>(bytes[1] + 1);
  Blas<T>::cblas_gemm(kRowMajor, kNoTrans, kNoTrans, 2, 2, 2, T(1), odd_a, 2, odd_a, 2, T(0), odd_c,
                      2);
  EXPECT_EQ(std::memcmp(odd_c, expected, sizeof expected), 0);
}

// B = P B, where P exchanges the rows, wherever B begins.
TYPED_TEST(BlasTest, InputsThatOverlapCAreReadFirstWithoutAlignment) {
  using T = TypeParam;
  const T exchange[4] = {0, 1, 1, 0}, b[4] = {1, 2, 3, 4}, expected[4] = {3, 4, 1, 2};
  unsigned char bytes[5 * sizeof(T)];
  for (std::size_t offset = 0; offset < sizeof(T); ++offset) {
    std::memcpy(bytes + offset, b, sizeof b);
    T* const data = reinterpret_cast<T*>(bytes + offset);
    Blas<T>::cblas_gemm(kRowMajor, kNoTrans, kNoTrans, 2, 2, 2, T(1), exchange, 2, data, 2, T(0),
                        data, 2);
    EXPECT_EQ(std::memcmp(bytes + offset, expected, sizeof expected), 0) << offset;
  }
}

// What is left when memory runs out.
TYPED_TEST(BlasTest, PlainLoops) {
  using T = TypeParam;
  std::mt19937 engine(5);
  for (int round = 0; round < 100; ++round) {
    auto x = Case<T>::random(engine, 12);
    if (x.layout == Layout::kRowMajor) continue;
    if (round % 4 == 0) {  // C holds NaN
      x.beta = 0;
      x.c.fill_constant(std::numeric_limits<T>::quiet_NaN());
    }
    if (round % 6 == 0) x.alpha = 0;
    const Reference expected = x.reference();
    const bool read = x.alpha != T(0);
    blas::plain_loops<T>({x.op_a, x.op_b, x.m(), x.n(), x.k(), x.alpha, read ? x.a_data() : nullptr,
                          int_of(x.a.ld()), read ? x.b_data() : nullptr, int_of(x.b.ld()), x.beta,
                          x.c.view().data, int_of(x.c.ld())});
    expect_right(expected, x.c);
  }
}

/// Groups of random products of one layout.
TYPED_TEST(BlasTest, Batches) {
  using T = TypeParam;
  std::mt19937 engine(2);
  for (int round = 0; round < 40; ++round) {
    const Layout layout = round % 2 ? Layout::kRowMajor : Layout::kColMajor;
    std::vector<Case<T>> cases;
    std::vector<int> transa, transb, m, n, k, lda, ldb, ldc, size;
    std::vector<T> alpha, beta;
    for (int g = 0; g < 1 + round % 4; ++g) {
      Case<T> first = Case<T>::random(engine, 30);
      const bool empty = engine() % 5 == 0;
      if (engine() % 4 == 0) first.beta = 0;
      transa.push_back(Case<T>::cblas_op(first.op_a));
      transb.push_back(Case<T>::cblas_op(first.op_b));
      m.push_back(first.m());
      n.push_back(first.n());
      k.push_back(first.k());
      alpha.push_back(first.alpha);
      beta.push_back(first.beta);
      size.push_back(empty ? 0 : 1 + static_cast<int>(engine() % 20));
      for (int i = 0; i < std::max(1, size.back()); ++i) {
        Case<T> member =
            Case<T>::of(engine, layout, first.op_a, first.op_b, first.m(), first.n(), first.k(), g);
        member.beta = first.beta;
        if (i == 0) {
          lda.push_back(int_of(member.a.ld()));
          ldb.push_back(int_of(member.b.ld()));
          ldc.push_back(int_of(member.c.ld()));
        }
        if (!empty) cases.push_back(member);
      }
    }
    std::vector<const T*> a, b;
    std::vector<T*> c;
    std::vector<Reference> expected;
    for (auto& x : cases) {
      a.push_back(x.a_data());
      b.push_back(x.b_data());
      c.push_back(x.c.view().data);
      expected.push_back(x.reference());
    }
    Blas<T>::cblas_gemm_batch(layout == Layout::kRowMajor ? kRowMajor : kColMajor, transa.data(),
                              transb.data(), m.data(), n.data(), k.data(), alpha.data(), a.data(),
                              lda.data(), b.data(), ldb.data(), beta.data(), c.data(), ldc.data(),
                              int_of(static_cast<std::int64_t>(size.size())), size.data());
    for (std::size_t i = 0; i < cases.size(); ++i) expect_right(expected[i], cases[i].c);
  }
}

// tessera::gemm_pointer_batched refuses it; here one follows the other.
TYPED_TEST(BlasTest, BatchMembersThatShareCAddUp) {
  using T = TypeParam;
  const T one = 1, two = 2;
  const T* a[] = {&two, &two, &two};
  const T* b[] = {&one, &two, &two};
  T c = 5;
  T* cs[] = {&c, &c, &c};
  const int op = kNoTrans, unit = 1, size = 3;
  Blas<T>::cblas_gemm_batch(kColMajor, &op, &op, &unit, &unit, &unit, &one, a, &unit, b, &unit,
                            &one, cs, &unit, 1, &size);
  EXPECT_EQ(c, T(5 + 2 + 4 + 4));
}

TYPED_TEST(BlasTest, AfterForkAndFromManyThreads) {
  std::mt19937 engine(4);
  auto x = Case<TypeParam>::of(engine, Layout::kColMajor, Op::kN, Op::kT, 200, 190, 180, 1);
  const auto start = x.c;
  x.run_cblas();  // the pool has threads now
  const auto right = x.c.buffer();
  const pid_t child = fork();
  if (child == 0) {
    x.c = start;
    x.run_cblas();
    _exit(same_bits(x.c.buffer(), right) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  std::vector<std::thread> threads;
  std::vector<Case<TypeParam>> copies(6, x);
  for (auto& copy : copies) {
    threads.emplace_back([&] {
      copy.c = start;
      copy.run_cblas();
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& copy : copies) EXPECT_TRUE(same_bits(copy.c.buffer(), right));
}

}  // namespace
}  // namespace tessera
