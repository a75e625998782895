// Peers of the CPU, with libraries made for this test in place of the real ones.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/child_process.h"
#include "bench/peer_blas.h"
#include "bench/product.h"
#include "bench/quiet.h"
#include "support/compare.h"
#include "support/errors.h"

namespace tessera::bench {
namespace {

using test::contains;
using test::error_of;
using test::TestMatrix;

const std::vector<std::string> kVariables = {"TESSERA_OPENBLAS", "TESSERA_BLIS", "TESSERA_ONEDNN",
                                             "TESSERA_MKL"};

/// Peers are opened once in a process, so each of these needs one of its own. All libraries are
/// absent there unless `body` names one.
void in_own_process(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (const std::string& variable : kVariables) setenv(variable.c_str(), "/no/such.so", 1);
    for (const char* variable :
         {"OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE", "KMP_BLOCKTIME", "VIRTUAL_ENV", "FAKE_BLAS",
          "MKL_CBWR", "OMP_WAIT_POLICY", "ONEDNN_DEFAULT_FPMATH_MODE"}) {
      unsetenv(variable);
    }
    body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "see what the child printed";
}

void use_fakes() {
  for (const std::string& variable : kVariables) setenv(variable.c_str(), FAKE_BLAS_FILE, 1);
  setenv("TESSERA_ONEDNN", FAKE_DNNL_FILE, 1);
}

std::shared_ptr<Peer> open_one(const std::string& name, int threads = 1) {
  Peers peers = open_peers(Space::kHost, {name}, threads);
  EXPECT_TRUE(peers.absent.empty()) << peers.absent.front();
  return peers.found.empty() ? nullptr : peers.found.front();
}

/// The one line that says why `name` is absent.
std::string absence(const std::string& name) {
  const Peers peers = open_peers(Space::kHost, {name}, 1);
  EXPECT_TRUE(peers.found.empty());
  EXPECT_EQ(peers.absent.size(), 1u);
  if (peers.absent.empty()) return "";
  EXPECT_EQ(peers.absent[0].rfind(name + ": ", 0), 0u) << peers.absent[0];
  EXPECT_EQ(peers.absent[0].find('\n'), std::string::npos);
  return peers.absent[0];
}

bool has_note(const Peer& peer, const std::string& part) {
  const auto& notes = peer.info().notes;
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return contains(note, part); });
}

template <class T>
OperandDesc desc_of(const TestMatrix<T>& x) {
  return {x.rows(), x.cols(), x.ld(), x.layout(), x.batch_stride(), static_cast<int>(sizeof(T))};
}

/// One product against the reference; its surroundings and its inputs must stay as they were.
template <class T>
void check_product(Peer& peer, Op op_a, Op op_b, Layout layout_a, Layout layout_b, Layout layout_c,
                   double beta, std::int64_t batch) {
  constexpr std::int64_t kM = 5, kN = 7, kK = 4;
  constexpr double kAlpha = -1.5;
  const bool a_t = op_a == Op::kT, b_t = op_b == Op::kT;
  TestMatrix<T> a(a_t ? kK : kM, a_t ? kM : kK, layout_a, 3, 0, batch);
  TestMatrix<T> b(b_t ? kN : kK, b_t ? kK : kN, layout_b, 1, 0, batch);
  TestMatrix<T> c(kM, kN, layout_c, 2, 0, batch);
  a.fill_normal(1);
  b.fill_normal(2);
  if (beta != 0) c.fill_normal(3);  // else it keeps its poison, which must not be read
  const TestMatrix<T> a0 = a, b0 = b, c0 = c;

  Case what;
  what.m = kM;
  what.n = kN;
  what.k = kK;
  what.alpha = kAlpha;
  what.beta = beta;
  what.desc.dtype = DTypeOf<T>::value;
  what.desc.op_a = op_a;
  what.desc.op_b = op_b;
  what.desc.a = desc_of(a);
  what.desc.b = desc_of(b);
  what.desc.c = desc_of(c);
  what.desc.batch = batch;
  peer.prepare(what, 1, nullptr)({a.view().data, b.view().data, c.view().data});

  for (std::int64_t i = 0; i < batch; ++i) {
    const test::Comparison ok =
        test::compare(test::reference_gemm(op_a, op_b, kAlpha, a, b, beta, c0, i), c, i);
    EXPECT_TRUE(ok) << peer.info().name << " " << case_text(what) << ": " << ok.message;
  }
  EXPECT_TRUE(c.surroundings_intact()) << case_text(what);
  EXPECT_TRUE(test::same_bits(a.buffer(), a0.buffer()));
  EXPECT_TRUE(test::same_bits(b.buffer(), b0.buffer()));
}

template <class T>
void check_products(Peer& peer) {
  constexpr Layout kLayouts[] = {Layout::kRowMajor, Layout::kColMajor};
  for (const Op op_a : {Op::kN, Op::kT}) {
    for (const Op op_b : {Op::kN, Op::kT}) {
      for (const Layout a : kLayouts) {
        for (const Layout b : kLayouts) {
          for (const Layout c : kLayouts) {
            check_product<T>(peer, op_a, op_b, a, b, c, 0, 1);
            check_product<T>(peer, op_a, op_b, a, b, c, 0.5, 3);
          }
        }
      }
    }
  }
}

TEST(BenchPeers, ProductsAreRightInEveryOpAndLayout) {
  in_own_process([] {
    use_fakes();
    const Peers peers = open_peers(Space::kHost, {}, 1);
    ASSERT_EQ(peers.found.size(), 4u) << peers.absent.front();
    EXPECT_TRUE(peers.absent.empty());
    for (const auto& peer : peers.found) {
      check_products<float>(*peer);
      if (peer->info().name != "onednn") check_products<double>(*peer);
      EXPECT_TRUE(has_note(*peer, "a batch is one call for each member"));
    }
  });
}

TEST(BenchPeers, WhatAReportSaysOfThem) {
  in_own_process([] {
    use_fakes();
    const Peers peers = open_peers(Space::kHost, {"mkl", "onednn", "openblas", "blis"}, 1);
    ASSERT_EQ(peers.found.size(), 4u);
    const char* expected[][3] = {{"openblas", "9.8.7", "uses code for Prescott"},
                                 {"blis", "0.8.15", "uses code for Prescott"},
                                 {"onednn", "9.8.7", "uses code for AVX2 (dnnl_cpu_isa 0x7)"},
                                 {"mkl", "2099.1.2", "uses code for old instructions"}};
    for (std::size_t i = 0; i < 4; ++i) {
      const Peer& peer = *peers.found[i];
      EXPECT_EQ(peer.info().name, expected[i][0]);
      EXPECT_EQ(peer.info().version, expected[i][1]);
      EXPECT_EQ(peer.info().library, i == 2 ? FAKE_DNNL_FILE : FAKE_BLAS_FILE);
      EXPECT_TRUE(has_note(peer, expected[i][2]));
    }
  });
}

TEST(BenchPeers, ACoreThatMakesItSlowIsReplacedAndNamed) {
  const std::vector<std::string> cores = openblas_kind().cores;
  if (cores.empty()) GTEST_SKIP() << "no other core is worth a try on this processor";
  in_own_process([&] {
    use_fakes();
    setenv("FAKE_BLAS", "slow", 1);
    const auto peer = open_one("openblas");
    ASSERT_NE(peer, nullptr);
    const char* chosen = std::getenv("OPENBLAS_CORETYPE");
    ASSERT_NE(chosen, nullptr);
    EXPECT_NE(std::find(cores.begin(), cores.end(), chosen), cores.end()) << chosen;
    EXPECT_TRUE(has_note(*peer, "OPENBLAS_CORETYPE=" + std::string(chosen) +
                                    " set by the benchmark: left to itself this library takes "
                                    "the processor for Prescott"));
    EXPECT_TRUE(has_note(*peer, "uses code for " + std::string(chosen)));
  });
}

TEST(BenchPeers, ACoreSetByTheUserStays) {
  in_own_process([] {
    use_fakes();
    setenv("FAKE_BLAS", "slow", 1);
    setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    const auto peer = open_one("openblas");
    ASSERT_NE(peer, nullptr);
    EXPECT_STREQ(std::getenv("OPENBLAS_CORETYPE"), "Prescott");
    EXPECT_TRUE(has_note(*peer, "OPENBLAS_CORETYPE=Prescott was set"));
    EXPECT_FALSE(has_note(*peer, "by the benchmark"));
  });
}

TEST(BenchPeers, SettingsThatAreMadeOrFoundAreNamed) {
  in_own_process([] {
    use_fakes();
    setenv("MKL_CBWR", "COMPATIBLE", 1);
    setenv("ONEDNN_DEFAULT_FPMATH_MODE", "BF16", 1);
    const Peers peers = open_peers(Space::kHost, {"onednn", "mkl"}, 1);
    ASSERT_EQ(peers.found.size(), 2u);
    EXPECT_TRUE(has_note(*peers.found[0], "ONEDNN_DEFAULT_FPMATH_MODE=BF16 overruled"));
    EXPECT_TRUE(has_note(*peers.found[1], "MKL_CBWR=COMPATIBLE was set"));
    EXPECT_TRUE(has_note(*peers.found[1], "KMP_BLOCKTIME=1 set by the benchmark"));
    EXPECT_STREQ(std::getenv("KMP_BLOCKTIME"), "1");
  });
  in_own_process([] {
    use_fakes();
    setenv("KMP_BLOCKTIME", "7", 1);
    const auto peer = open_one("mkl");
    ASSERT_NE(peer, nullptr);
    EXPECT_TRUE(has_note(*peer, "KMP_BLOCKTIME=7 was set"));
    EXPECT_STREQ(std::getenv("KMP_BLOCKTIME"), "7");
  });
}

TEST(BenchPeers, ThreadsAreSetBeforeEachProduct) {
  in_own_process([] {
    use_fakes();
    const auto peer = open_one("openblas", 2);
    ASSERT_NE(peer, nullptr);
    void* const library = dlopen(FAKE_BLAS_FILE, RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    const auto used = reinterpret_cast<int (*)()>(dlsym(library, "fake_threads_of_last_call"));
    ASSERT_NE(used, nullptr);
    const Case c = dense_case(Op::kN, Op::kN, 1, 1, 1, DType::kF32);
    const float one = 1;
    float product = 0;
    const RunProduct with_three = peer->prepare(c, 3, nullptr);
    const RunProduct with_one = peer->prepare(c, 1, nullptr);
    with_three({&one, &one, &product});
    EXPECT_EQ(used(), 3);
    with_one({&one, &one, &product});
    EXPECT_EQ(used(), 1);
    with_three({&one, &one, &product});
    EXPECT_EQ(used(), 3);
    EXPECT_FALSE(has_note(*peer, "asked for"));
  });
  in_own_process([] {
    use_fakes();
    setenv("FAKE_BLAS", "one thread", 1);
    const auto peer = open_one("openblas", 2);
    ASSERT_NE(peer, nullptr);
    EXPECT_TRUE(has_note(*peer, "asked for 2 threads, uses 1"));
  });
}

TEST(BenchPeers, CasesThatTheyCannotTake) {
  in_own_process([] {
    use_fakes();
    const Peers peers = open_peers(Space::kHost, {}, 1);
    ASSERT_EQ(peers.found.size(), 4u);
    Peer& openblas = *peers.found[0];
    Peer& onednn = *peers.found[2];
    const auto refusal = [](Peer& peer, const Case& c) {
      return error_of(ErrorCode::kUnsupported, [&] { peer.prepare(c, 1, nullptr); });
    };
    constexpr std::int64_t kTooMuch = std::int64_t{1} << 31;
    EXPECT_SAYS(refusal(openblas, dense_case(Op::kN, Op::kN, kTooMuch, 1, 1, DType::kF32)),
                "openblas: m = 2147483648: its integers hold at most 2147483647");
    EXPECT_SAYS(refusal(openblas, dense_case(Op::kN, Op::kN, 1, kTooMuch, 1, DType::kF32)),
                "n = 2147483648");
    EXPECT_SAYS(refusal(openblas, dense_case(Op::kT, Op::kN, 1, 1, kTooMuch, DType::kF64)),
                "k = 2147483648");
    Case wide = dense_case(Op::kN, Op::kN, 2, 2, 2, DType::kF32);
    wide.desc.b.ld = kTooMuch;
    EXPECT_SAYS(refusal(openblas, wide), "ldb = 2147483648");
    openblas.prepare(dense_case(Op::kN, Op::kN, kTooMuch - 1, 1, 1, DType::kF32), 1, nullptr);
    onednn.prepare(wide, 1, nullptr);
    EXPECT_SAYS(refusal(onednn, dense_case(Op::kN, Op::kN, 2, 2, 2, DType::kF64)),
                "onednn: dtype f64: dnnl_sgemm takes f32 only");
    Case elsewhere = dense_case(Op::kN, Op::kN, 2, 2, 2, DType::kF32);
    elsewhere.desc.space = Space::kCuda;
    EXPECT_SAYS(refusal(openblas, elsewhere), "must be on the host");
  });
}

TEST(BenchPeers, LibrariesThatAreAbsentGetOneLineEach) {
  in_own_process([] {
    const Peers peers = open_peers(Space::kHost, {}, 1);
    EXPECT_TRUE(peers.found.empty());
    ASSERT_EQ(peers.absent.size(), 4u);
    EXPECT_EQ(peers.absent[0], "openblas: TESSERA_OPENBLAS=/no/such.so: no such file");
    EXPECT_EQ(peers.absent[3], "mkl: TESSERA_MKL=/no/such.so: no such file");
  });
}

TEST(BenchPeers, LibrariesThatDoNotWorkSayWhy) {
  const std::pair<const char*, const char*> faults[] = {
      {"abort", "ended by signal 6"},
      {"exit", "exited with code 3"},
      {"wrong", "its product is wrong"},
      {"wide", "its integers have 64 bits"},
  };
  for (const auto& [fault, words] : faults) {
    in_own_process([&, fault = fault, words = words] {
      use_fakes();
      setenv("FAKE_BLAS", fault, 1);
      for (const char* name : {"openblas", "blis", "mkl"}) EXPECT_SAYS(absence(name), words);
    });
  }
  in_own_process([] {
    setenv("TESSERA_OPENBLAS", FAKE_MISSING_FILE, 1);
    EXPECT_SAYS(absence("openblas"), "has no function cblas_sgemm");
    setenv("TESSERA_BLIS", "/proc/self/status", 1);
    EXPECT_SAYS(absence("blis"), "/proc/self/status: ");
    setenv("TESSERA_ONEDNN", FAKE_BLAS_FILE, 1);
    EXPECT_SAYS(absence("onednn"), "has no function dnnl_sgemm");
  });
}

TEST(BenchPeers, FoundInAPythonEnvironment) {
  in_own_process([] {
    namespace fs = std::filesystem;
    char folder[] = "/tmp/tessera_peers_XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    fs::create_directory(fs::path(folder) / "lib");
    fs::create_symlink(FAKE_BLAS_FILE, fs::path(folder) / "lib" / "libopenblas.so.0");
    setenv("VIRTUAL_ENV", folder, 1);
    setenv("TESSERA_OPENBLAS", "", 1);
    const auto peer = open_one("openblas");
    EXPECT_TRUE(peer != nullptr && contains(peer->info().library, folder));
    fs::remove_all(folder);
  });
}

TEST(BenchPeers, OpenedOnce) {
  in_own_process([] {
    use_fakes();
    const auto first = open_one("blis");
    setenv("TESSERA_BLIS", "/no/such.so", 1);
    EXPECT_EQ(open_one("blis"), first);
    EXPECT_NE(first, nullptr);
  });
}

TEST(BenchPeers, NothingIsOpenedAfterMkl) {
  in_own_process([] {
    use_fakes();
    EXPECT_NE(open_one("blis"), nullptr);
    EXPECT_NE(open_one("mkl"), nullptr);
    EXPECT_NE(open_one("blis"), nullptr);  // opened before
    EXPECT_SAYS(absence("onednn"), "cannot be opened after mkl");
  });
}

TEST(BenchPeers, NamesThatAreNoPeers) {
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument, [] { open_peers(Space::kHost, {"atlas"}, 1); }),
              "peer \"atlas\": must be one of openblas, blis, onednn, mkl");
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument, [] { open_peers(Space::kCuda, {"mkl"}, 1); }),
              "peer \"mkl\": must be one of cublas");
}

TEST(ChildProcess, TellsHowTheWorkEnded) {
  constexpr double kPlenty = 60;
  ChildResult result = in_child_process(kPlenty, [] {
    std::puts("noise");
    std::fflush(nullptr);
    return std::string("two\nlines");
  });
  EXPECT_TRUE(result.ok);
  EXPECT_EQ(result.text, "two\nlines");
  result = in_child_process(
      kPlenty, []() -> std::string { throw Error(ErrorCode::kUnsupported, "because"); });
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.text, "because");
  result = in_child_process(kPlenty, []() -> std::string {
    std::fputs("cannot load\nmore", stderr);
    _exit(2);
  });
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.text, "exited with code 2, saying \"cannot load\"");
  result = in_child_process(kPlenty, []() -> std::string { std::abort(); });
  EXPECT_FALSE(result.ok);
  EXPECT_SAYS(result.text, "ended by signal 6");
  result = in_child_process(0.05, []() -> std::string {
    while (true) pause();
  });
  EXPECT_FALSE(result.ok);
  EXPECT_SAYS(result.text, "did not finish within 0.05 s");
}

TEST(Quiet, WaitsForThreadsThatSpin) {
  std::atomic<bool> stop{false};
  std::atomic<bool> spins{false};
  std::thread spinner([&] {
    while (!stop) spins = true;
  });
  while (!spins) std::this_thread::yield();
  EXPECT_FALSE(wait_until_quiet(0.02));
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop = true;
  });
  EXPECT_TRUE(wait_until_quiet(60));
  EXPECT_TRUE(stop);
  spinner.join();
  stopper.join();
  EXPECT_TRUE(wait_until_quiet(60));
}

TEST(Quiet, AThreadThatSleepsIsQuiet) {
  std::atomic<bool> started{false};
  std::atomic<bool> stop{false};
  std::thread sleeper([&] {
    started = true;
    started.notify_one();
    stop.wait(false);
  });
  started.wait(false);
  EXPECT_TRUE(wait_until_quiet(60));
  stop = true;
  stop.notify_one();
  sleeper.join();
}

}  // namespace
}  // namespace tessera::bench
