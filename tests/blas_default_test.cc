// A program without handlers of its own and without another BLAS; and one that runs out of memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>

#include "blas_support.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
constexpr bool kAddressSanitizer = true;  // maps terabytes
#else
constexpr bool kAddressSanitizer = false;
#endif

struct Ended {
  int status = -1;  ///< exit status; -1 when it ended otherwise
  std::string output, error;
};

std::string read_all(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = 0; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

/// What f prints and how it ends, in a process of its own; 99 when it returns.
Ended in_child(const std::function<void()>& f) {
  std::FILE* const out = std::tmpfile();
  std::FILE* const err = std::tmpfile();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(out), 1);
    dup2(fileno(err), 2);
    f();
    std::fflush(nullptr);
    _exit(99);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_all(out), read_all(err)};
}

TYPED_TEST_SUITE(BlasTest, BlasTypes);

TYPED_TEST(BlasTest, XerblaPrintsTheStandardLineAndEndsTheProgram) {
  using T = TypeParam;
  const Ended ended = in_child([] {
    const int two = 2, one = 1;
    const T unit = 1, a[4] = {};
    T c[4] = {};
    Blas<T>::gemm("N", "N", &two, &two, &two, &unit, a, &one, a, &two, &unit, c, &two);
  });
  EXPECT_EQ(ended.output, " ** On entry to " + std::string(Blas<T>::kFortran) +
                              " parameter number  8 had an illegal value\n");
  EXPECT_EQ(ended.error, "");
  EXPECT_EQ(ended.status, 1);
}

TYPED_TEST(BlasTest, CblasXerblaPrintsTheReferencesLinesAndEndsTheProgram) {
  using T = TypeParam;
  const auto lines = [](int layout, int transa, int lda, int ldb) {
    const Ended ended = in_child([&] {
      const T a[4] = {};
      T c[4] = {};
      Blas<T>::cblas_gemm(layout, transa, kNoTrans, 2, 2, 2, T(1), a, lda, a, ldb, T(1), c, 2);
    });
    EXPECT_EQ(ended.status, 255);
    EXPECT_EQ(ended.output, "");
    return ended.error;
  };
  const std::string name = Blas<T>::kCblas;
  EXPECT_EQ(lines(5, kNoTrans, 2, 2),
            "Parameter 1 to routine " + name + " was incorrect\nIllegal layout setting, 5\n");
  EXPECT_EQ(lines(kRowMajor, 5, 2, 2),
            "Parameter 2 to routine " + name + " was incorrect\nIllegal TransA setting, 5\n");
  // The blank is the reference's. lda is the caller's ninth parameter in both orders.
  for (const int layout : {kRowMajor, kColMajor}) {
    EXPECT_EQ(lines(layout, kNoTrans, 1, 2),
              "Parameter 9 to routine " + name + "  was incorrect\n");
    EXPECT_EQ(lines(layout, kNoTrans, 2, 1),
              "Parameter 11 to routine " + name + "  was incorrect\n");
  }
}

/// Pages of address space in use.
rlim_t mapped_bytes() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

TYPED_TEST(BlasTest, WithoutMemoryPlainLoopsComputeItAndSaySoAndErrnoStays) {
  using T = TypeParam;
  if (kAddressSanitizer) GTEST_SKIP() << "AddressSanitizer maps more than any limit";
  constexpr int kSize = 400;
  const auto product = [&](std::vector<T>& a, std::vector<T>& c) {
    // Transposed, it is packed whatever the caches.
    Blas<T>::cblas_gemm(kColMajor, kTrans, kNoTrans, kSize, kSize, kSize, T(1), a.data(), kSize,
                        a.data(), kSize, T(0), c.data(), kSize);
  };
  const Ended ended = in_child([&] {
    std::vector<T> a(kSize * kSize), c(kSize * kSize), small(1, T(2));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(i % 3) - T(1);
    // What is set up once in a process is not the point.
    Blas<T>::cblas_gemm(kColMajor, kNoTrans, kNoTrans, 1, 1, 1, T(1), small.data(), 1, small.data(),
                        1, T(0), c.data(), 1);
    const rlim_t now = mapped_bytes();
    const rlimit limit{now, now};
    setrlimit(RLIMIT_AS, &limit);
    errno = EDOM;  // the allocation that fails sets another
    product(a, c);
    product(a, c);
    const bool kept = errno == EDOM;
    double sum = 0, expected = 0;
    for (const T x : c) sum += static_cast<double>(x);
    for (int p = 0; p < kSize; ++p) {
      double row = 0;
      for (int i = 0; i < kSize; ++i) {
        row += static_cast<double>(a[static_cast<std::size_t>(i * kSize + p)]);
      }
      expected += row * row;
    }
    _exit(sum == expected && kept ? 0 : 1);
  });
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.output, "");
  EXPECT_NE(ended.error.find("is not available: computed by plain loops"), std::string::npos)
      << ended.error;
  EXPECT_EQ(std::count(ended.error.begin(), ended.error.end(), '\n'), 1);
}

// Bad environments make it slow, not wrong, and are named. One product, and one in a batch of two.
void with_bad_environment(const char* name, const char* value, const std::string& reason) {
  const Ended ended = in_child([&] {
    setenv(name, value, 1);
    const double a = 3, one = 1;
    const double* as[] = {&a, &a};
    double c[] = {0, 1};
    double* cs[] = {c, c + 1};
    const int unit = 1, two = 2, op = kNoTrans;
    dgemm_("N", "N", &unit, &unit, &unit, &one, &a, &unit, &a, &unit, &one, c, &unit);
    cblas_dgemm_batch(kColMajor, &op, &op, &unit, &unit, &unit, &one, as, &unit, as, &unit, &one,
                      cs, &unit, 1, &two);
    // An input that overlaps C is copied all the same.
    double both[] = {1, 2, 3, 4};
    const double exchange[] = {0, 1, 1, 0}, zero = 0;
    dgemm_("N", "N", &two, &two, &two, &one, both, &two, exchange, &two, &zero, both, &two);
    const bool copied = both[0] == 3 && both[1] == 4 && both[2] == 1 && both[3] == 2;
    _exit(c[0] == 18 && c[1] == 10 && copied ? 0 : 1);
  });
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.error, "tessera_blas: " + reason + ": computed by plain loops, slowly\n");
}

TEST(BlasEnvironment, BadValuesAreNamedOnceAndTheProductIsComputed) {
  with_bad_environment("TESSERA_NUM_THREADS", "many",
                       "TESSERA_NUM_THREADS = \"many\": must be a whole number from 1 to 4096");
  with_bad_environment("TESSERA_LOG", "loud",
                       "TESSERA_LOG = \"loud\": must be calls or calls:FILE");
}

}  // namespace
}  // namespace tessera
