// Illegal arguments through the BLAS names: this program has the handlers xerbla_ and cblas_xerbla
// and the variables of the reference CBLAS, and the library must call and set these.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdarg>
#include <cstdio>

#include "blas_support.h"

namespace {
std::vector<std::string> g_reports;
}

extern "C" {
int RowMajorStrg = 0;
int CBLAS_CallFromC = 0;

void xerbla_(const char* routine, const int* number, std::size_t length) {
  g_reports.push_back(fmt::format("xerbla '{}' {} row={} c={}", std::string(routine, length),
                                  *number, RowMajorStrg, CBLAS_CallFromC));
}

void cblas_xerbla(int number, const char* routine, const char* format, ...) {
  char text[200];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  g_reports.push_back(fmt::format("cblas_xerbla '{}' {} row={} c={} {}", routine, number,
                                  RowMajorStrg, CBLAS_CallFromC, text));
}
}

namespace tessera {
namespace {

using namespace test;  // NOLINT

TYPED_TEST_SUITE(BlasTest, BlasTypes);

/// The arguments of gemm; what a test does not change is legal.
template <class T>
struct Arguments {
  int layout = kColMajor, transa = kNoTrans, transb = kNoTrans;
  char letter_a = 'N', letter_b = 'N';
  int m = 2, n = 3, k = 4, lda = 5, ldb = 5, ldc = 5;
};

template <class T>
class Caller {
 public:
  /// What was reported; C must be untouched when something was.
  template <class F>
  std::string run(F call) {
    g_reports.clear();
    std::fill(c_.begin(), c_.end(), T(7));
    call(a_.data(), b_.data(), c_.data());
    if (!g_reports.empty()) {
      EXPECT_EQ(c_, std::vector<T>(c_.size(), T(7))) << g_reports[0];
    } else {
      EXPECT_NE(c_, std::vector<T>(c_.size(), T(7)));
    }
    EXPECT_LE(g_reports.size(), 1u);
    EXPECT_EQ(RowMajorStrg, 0);
    EXPECT_EQ(CBLAS_CallFromC, 0);
    return g_reports.empty() ? "" : g_reports[0];
  }
  std::string fortran(const Arguments<T>& x) {
    const T one = 1;
    return run([&](const T* a, const T* b, T* c) {
      Blas<T>::gemm(&x.letter_a, &x.letter_b, &x.m, &x.n, &x.k, &one, a, &x.lda, b, &x.ldb, &one, c,
                    &x.ldc);
    });
  }
  template <class F>
  std::string cblas(const Arguments<T>& x, F function) {
    return run([&](const T* a, const T* b, T* c) {
      function(x.layout, x.transa, x.transb, x.m, x.n, x.k, T(1), a, x.lda, b, x.ldb, T(1), c,
               x.ldc);
    });
  }
  std::string cblas(const Arguments<T>& x) { return cblas(x, Blas<T>::cblas_gemm); }

 private:
  std::vector<T> a_ = std::vector<T>(25, T(1)), b_ = a_, c_ = a_;
};

TYPED_TEST(BlasTest, FortranNumbers) {
  using A = Arguments<TypeParam>;
  Caller<TypeParam> caller;
  const auto expect = [&](int number, auto change) {
    A x;
    change(x);
    EXPECT_EQ(caller.fortran(x), number == 0 ? ""
                                             : fmt::format("xerbla '{}' {} row=0 c=0",
                                                           Blas<TypeParam>::kFortran, number));
  };
  expect(0, [](A&) {});
  for (const char letter : {'n', 'N', 't', 'T', 'c', 'C'}) {
    expect(0, [&](A& x) { x.letter_a = x.letter_b = letter; });
  }
  for (const char letter : {'X', '\0', 'R', ' '}) {
    expect(1, [&](A& x) { x.letter_a = letter; });
    expect(2, [&](A& x) { x.letter_b = letter; });
  }
  expect(3, [](A& x) { x.m = -1; });
  expect(4, [](A& x) { x.n = -1; });
  expect(5, [](A& x) { x.k = -1; });
  expect(8, [](A& x) { x.lda = 1; });
  expect(8, [](A& x) { x.letter_a = 'T', x.lda = 3; });
  expect(8, [](A& x) { x.m = 0, x.lda = 0; });  // before the quick return
  expect(10, [](A& x) { x.ldb = 3; });
  expect(10, [](A& x) { x.letter_b = 'C', x.ldb = 2; });
  expect(10, [](A& x) { x.k = 0, x.ldb = 0; });
  expect(13, [](A& x) { x.ldc = 1; });
  expect(13, [](A& x) { x.ldc = INT32_MIN; });
  // The first one counts.
  expect(1, [](A& x) { x.letter_a = x.letter_b = '?', x.m = x.n = -1; });
  expect(3, [](A& x) { x.m = x.n = x.k = -1, x.lda = x.ldb = x.ldc = 0; });
  expect(8, [](A& x) { x.lda = x.ldb = x.ldc = 0; });
}

TYPED_TEST(BlasTest, CblasNumbersInBothOrders) {
  using A = Arguments<TypeParam>;
  Caller<TypeParam> caller;
  const std::string name = Blas<TypeParam>::kCblas;
  const auto own = [&](int number, bool row, const std::string& text) {
    return fmt::format("cblas_xerbla '{}' {} row={} c=1 {}\n", name, number, int{row}, text);
  };
  const auto inner = [&](int number, bool row) {
    return fmt::format("xerbla '{}' {} row={} c=1", Blas<TypeParam>::kFortran, number, int{row});
  };
  const auto call = [&](int layout, auto change) {
    A x;
    x.layout = layout;
    change(x);
    return caller.cblas(x);
  };
  for (const int layout : {0, 100, 103, -1}) {
    EXPECT_EQ(call(layout, [](A&) {}),
              own(1, false, fmt::format("Illegal layout setting, {}", layout)));
  }
  for (const int layout : {kRowMajor, kColMajor}) {
    const bool row = layout == kRowMajor;
    for (const int op : {kNoTrans, kTrans, kConjTrans}) {
      EXPECT_EQ(call(layout, [&](A& x) { x.transa = x.transb = op; }), "");
    }
    for (const int op : {0, 110, 114, 78}) {
      EXPECT_EQ(call(layout, [&](A& x) { x.transa = x.transb = op, x.m = -1; }),
                own(2, row, fmt::format("Illegal TransA setting, {}", op)));
      EXPECT_EQ(call(layout, [&](A& x) { x.transb = op; }),
                own(row ? 2 : 3, row, fmt::format("Illegal TransB setting, {}", op)));
    }
    EXPECT_EQ(call(layout, [](A& x) { x.m = -1; }), inner(row ? 4 : 3, row));
    EXPECT_EQ(call(layout, [](A& x) { x.n = -1; }), inner(row ? 3 : 4, row));
    EXPECT_EQ(call(layout, [](A& x) { x.m = x.n = -1; }), inner(3, row));
    EXPECT_EQ(call(layout, [](A& x) { x.k = -1; }), inner(5, row));
    // A is 2 x 4, B 4 x 3, C 2 x 3: one less than the smallest leading dimension.
    EXPECT_EQ(call(layout, [&](A& x) { x.lda = row ? 3 : 1; }), inner(row ? 10 : 8, row));
    EXPECT_EQ(call(layout, [&](A& x) { x.lda = row ? 4 : 2; }), "");
    EXPECT_EQ(call(layout, [&](A& x) { x.transa = kTrans, x.lda = row ? 1 : 3; }),
              inner(row ? 10 : 8, row));
    EXPECT_EQ(call(layout, [&](A& x) { x.ldb = row ? 2 : 3; }), inner(row ? 8 : 10, row));
    EXPECT_EQ(call(layout, [&](A& x) { x.transb = kConjTrans, x.ldb = row ? 3 : 2; }),
              inner(row ? 8 : 10, row));
    EXPECT_EQ(call(layout, [&](A& x) { x.ldc = row ? 2 : 1; }), inner(13, row));
    EXPECT_EQ(call(layout, [](A& x) { x.m = x.n = x.k = 0, x.ldc = 0; }), inner(13, row));
  }
}

/// Two groups of two products each, and what a test changes of the second.
template <class T>
struct BatchCall {
  int layout = kColMajor, count = 2;
  std::vector<int> transa{kNoTrans, kNoTrans}, transb = transa, m{2, 2}, n{3, 3}, k{4, 4},
                                               lda{5, 5}, ldb = lda, ldc = lda, size{2, 2};
  std::vector<T> alpha{1, 1}, beta = alpha;
  std::vector<const T*> a, b;
  std::vector<T*> c;
  std::vector<T> input = std::vector<T>(25, T(1)), output = std::vector<T>(100, T(7));
  bool with_arrays[16] = {};  // by parameter number, from 1

  BatchCall() {
    std::fill_n(with_arrays, 16, true);
    for (int i = 0; i < 4; ++i) {
      a.push_back(input.data());
      b.push_back(input.data());
      c.push_back(output.data() + 25 * i);
    }
  }
  std::string run() {
    g_reports.clear();
    const auto given = [&](int number, auto* data) {
      return with_arrays[number - 1] ? data : nullptr;
    };
    Blas<T>::cblas_gemm_batch(
        layout, given(2, transa.data()), given(3, transb.data()), given(4, m.data()),
        given(5, n.data()), given(6, k.data()), given(7, alpha.data()), given(8, a.data()),
        given(9, lda.data()), given(10, b.data()), given(11, ldb.data()), given(12, beta.data()),
        given(13, c.data()), given(14, ldc.data()), count, given(16, size.data()));
    if (!g_reports.empty()) {
      EXPECT_EQ(output, std::vector<T>(100, T(7))) << g_reports[0];
    }
    EXPECT_LE(g_reports.size(), 1u);
    return g_reports.empty() ? "" : g_reports[0];
  }
};

TYPED_TEST(BlasTest, BatchNumbersInBothOrders) {
  using B = BatchCall<TypeParam>;
  const auto message = [&](int number, const std::string& text) {
    return fmt::format("cblas_xerbla '{}_batch' {} row=0 c=1 {}\n", Blas<TypeParam>::kCblas, number,
                       text);
  };
  const auto call = [&](int layout, auto change) {
    B x;
    x.layout = layout;
    change(x);
    return x.run();
  };
  EXPECT_EQ(call(0, [](B&) {}), message(1, "Illegal layout setting, 0"));
  for (const int layout : {kRowMajor, kColMajor}) {
    const bool row = layout == kRowMajor;
    const auto expect = [&](int number, const std::string& text, auto change) {
      EXPECT_EQ(call(layout, change), message(number, text));
    };
    EXPECT_EQ(call(layout, [](B&) {}), "");
    expect(2, "Group 1: illegal transa, 0", [](B& x) { x.transa[1] = 0; });
    expect(3, "Group 1: illegal transb, 114", [](B& x) { x.transb[1] = 114; });
    expect(4, "Group 1: illegal m, -1", [](B& x) { x.m[1] = -1; });
    expect(5, "Group 1: illegal n, -2", [](B& x) { x.n[1] = -2; });
    expect(6, "Group 1: illegal k, -3", [](B& x) { x.k[1] = -3; });
    expect(9, fmt::format("Group 1: illegal lda, {}", row ? 3 : 1),
           [&](B& x) { x.lda[1] = row ? 3 : 1; });
    expect(11, fmt::format("Group 1: illegal ldb, {}", row ? 2 : 3),
           [&](B& x) { x.ldb[1] = row ? 2 : 3; });
    expect(14, fmt::format("Group 1: illegal ldc, {}", row ? 2 : 1),
           [&](B& x) { x.ldc[1] = row ? 2 : 1; });
    expect(15, "Illegal group_count, -1", [](B& x) { x.count = -1; });
    expect(16, "Group 1: illegal group_size, -1", [](B& x) { x.size[1] = -1; });
    expect(8, "Group 1: matrix 1 is null", [](B& x) { x.a[3] = nullptr; });
    expect(10, "Group 0: matrix 1 is null", [](B& x) { x.b[1] = nullptr; });
    expect(13, "Group 1: matrix 0 is null", [](B& x) { x.c[2] = nullptr; });
    for (const int number : {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16}) {
      expect(number, "The array is null", [&](B& x) { x.with_arrays[number - 1] = false; });
    }
    // What is not read may be missing.
    EXPECT_EQ(call(layout,
                   [](B& x) {
                     x.count = 0;
                     std::fill_n(x.with_arrays, 16, false);
                   }),
              "");
    EXPECT_EQ(call(layout,
                   [](B& x) {
                     x.alpha = {0, 0};
                     x.with_arrays[7] = x.with_arrays[9] = false;
                   }),
              "");
    EXPECT_EQ(call(layout,
                   [](B& x) {
                     x.size = {0, 0};
                     x.with_arrays[7] = x.with_arrays[9] = x.with_arrays[12] = false;
                   }),
              "");
  }
}

// An entry of its own: skipped where the system's BLAS is not the reference.
TEST(BlasReference, ReportsTheSameErrors) {
  void* const reference = dlopen("libblas.so.3", RTLD_NOW | RTLD_LOCAL);
  if (reference == nullptr || dlsym(reference, "RowMajorStrg") == nullptr) {
    GTEST_SKIP() << "libblas.so.3 is not the reference BLAS (Debian: libblas3)";
  }
  const auto theirs = reinterpret_cast<decltype(&cblas_sgemm)>(dlsym(reference, "cblas_sgemm"));
  ASSERT_NE(theirs, nullptr);
  ASSERT_NE(theirs, &cblas_sgemm);
  Caller<float> caller;
  int reports = 0;
  const int values[] = {-1, 0, 1, 2, 3, 4, 5};
  for (const int layout : {kRowMajor, kColMajor, 7}) {
    for (const int transa : {kNoTrans, kTrans, kConjTrans, 114}) {
      for (const int transb : {kNoTrans, kTrans, 0}) {
        for (int changed = 0; changed < 36; ++changed) {
          for (const int first : values) {
            for (const int second : values) {
              Arguments<float> x;
              x.layout = layout;
              x.transa = transa;
              x.transb = transb;
              int* const fields[] = {&x.m, &x.n, &x.k, &x.lda, &x.ldb, &x.ldc};
              *fields[changed / 6] = first;
              *fields[changed % 6] = second;
              const auto quiet = [&](auto f) {  // products are compared elsewhere
                g_reports.clear();
                std::vector<float> a(25), b(25), c(25);
                f(x.layout, x.transa, x.transb, x.m, x.n, x.k, 1.0f, a.data(), x.lda, b.data(),
                  x.ldb, 1.0f, c.data(), x.ldc);
                return g_reports;
              };
              const auto expected = quiet(theirs);
              ASSERT_EQ(quiet(&cblas_sgemm), expected)
                  << layout << ' ' << transa << ' ' << transb << ' ' << x.m << ' ' << x.n << ' '
                  << x.k << ' ' << x.lda << ' ' << x.ldb << ' ' << x.ldc;
              reports += static_cast<int>(expected.size());
            }
          }
        }
      }
    }
  }
  EXPECT_GT(reports, 10000);
}

}  // namespace
}  // namespace tessera
