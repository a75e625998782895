// Names, choice, refusals and explanations of the registry; plans and the call log.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <set>

#include "support/compare.h"
#include "support/errors.h"
#include "tessera/kernel.h"
#include "tessera/plan.h"

namespace tessera::test {
namespace {

TEST(KernelId, PrintsAndParsesByOneFunction) {
  for (const Kernel& kernel : registry().kernels()) {
    const auto parsed = KernelId::parse(kernel.name);
    ASSERT_TRUE(parsed) << kernel.name;
    EXPECT_EQ(parsed->to_string(), kernel.name);
    EXPECT_EQ(parsed->backend, kernel.id.backend);
    EXPECT_EQ(parsed->family, kernel.id.family);
    EXPECT_EQ(parsed->dtype, kernel.id.dtype);
    EXPECT_EQ(parsed->config, kernel.id.config);
  }
  EXPECT_EQ(KernelId::parse("cuda.register_tiled.f32.128x128x8_t8x8")->config, "128x128x8_t8x8");
  EXPECT_EQ(KernelId::parse("cpu.x.f32.a.b")->config, "a.b");
  EXPECT_EQ(KernelId::parse("cpu.x.f32.a.b")->to_string(), "cpu.x.f32.a.b");
  for (const char* bad :
       {"", "cpu", "cpu.naive", "cpu.naive.f31", "cpu..f32", ".naive.f32", "cpu.naive.f32."}) {
    EXPECT_FALSE(KernelId::parse(bad)) << bad;
  }
}

TEST(RegistryTest, EveryKernelSaysWhatItIs) {
  std::set<std::string> names;
  for (const Kernel& kernel : registry().kernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name << " twice";
    EXPECT_FALSE(kernel.summary.empty()) << kernel.name;
    EXPECT_FALSE(kernel.stem.empty()) << kernel.name;
    EXPECT_FALSE(kernel.arch.empty()) << kernel.name;
    EXPECT_FALSE(kernel.limits.empty()) << kernel.name;
    EXPECT_GE(kernel.alignment_bytes, static_cast<int>(size_of(kernel.id.dtype))) << kernel.name;
    EXPECT_TRUE(kernel.can_implement && kernel.estimate_us && kernel.launch) << kernel.name;
    EXPECT_GE(std::min({kernel.tile_m, kernel.tile_n, kernel.tile_k}), 1) << kernel.name;
  }
  EXPECT_TRUE(names.count("cpu.naive.f32") && names.count("cpu.naive.f64"));
}

/// A kernel that does nothing, for tests of the choice.
Kernel fake(const std::string& family, double us, std::optional<Rejection> rejection = {}) {
  Kernel k;
  k.id = {"cpu", family, DType::kF32, ""};
  k.stem = "x_" + family;
  k.can_implement = [rejection](const Problem&, const DeviceInfo&) { return rejection; };
  k.estimate_us = [us](const Problem&, const DeviceInfo&) { return us; };
  k.launch = [](const Problem&, const Operands&, const LaunchContext&) {};
  return k;
}

Problem problem() {
  Problem p;
  p.m = 10;
  p.n = 20;
  p.k = 30;
  return p;
}

TEST(RegistryTest, AutoTakesTheSmallestEstimateAndExplains) {
  Registry r;
  r.add(fake("slow", 30));
  r.add(fake("fast", 10));
  r.add(fake("equal", 10));
  r.add(fake("barred", 5,
             Rejection{"lda * 4 bytes must be a multiple of 16; lda is 30", "an lda of 32"}));
  r.add(fake("barred_slow", 50, Rejection{"m must be 1", "an m of 1"}));
  const DeviceInfo device;
  EXPECT_EQ(r.choose(problem(), device).name, "cpu.fast.f32");
  const Explanation e = r.explain(problem(), device);
  EXPECT_EQ(e.chosen, "cpu.fast.f32");
  ASSERT_EQ(e.candidates.size(), 5u);
  ASSERT_TRUE(e.candidates[3].rejection);
  EXPECT_SAYS(e.candidates[3].rejection->rule, "multiple of 16");
  ASSERT_EQ(e.unlocks.size(), 1u) << "only a faster kernel is worth a change";
  EXPECT_SAYS(e.unlocks[0], "an lda of 32 would unlock cpu.barred.f32");
  EXPECT_SAYS(e.to_string(), "not cpu.slow.f32");
  EXPECT_SAYS(e.reason, "m=10 n=20 k=30");
}

TEST(RegistryTest, NamesAreHonouredOrRefused) {
  Registry r;
  r.add(fake("slow", 30));
  r.add(fake("fast", 10));
  r.add(fake("barred", 5, Rejection{"m must be 1; m is 10", "an m of 1"}));
  const DeviceInfo device;
  for (const char* name : {"cpu.slow.f32", "cpu.slow", "x_slow"}) {
    EXPECT_EQ(r.choose(problem(), device, name).name, "cpu.slow.f32");
    EXPECT_SAYS(r.explain(problem(), device, name).reason, "named by the caller");
  }
  std::string text =
      error_of(ErrorCode::kUnsupported, [&] { r.choose(problem(), device, "cpu.barred"); });
  EXPECT_SAYS(text, "cpu.barred");
  EXPECT_SAYS(text, "m must be 1; m is 10");
  EXPECT_SAYS(text, "an m of 1");
  text = error_of(ErrorCode::kInvalidArgument, [&] { r.choose(problem(), device, "cpu.quick"); });
  EXPECT_SAYS(text, "\"cpu.quick\" does not exist");
  EXPECT_SAYS(text, "cpu.slow, cpu.fast, cpu.barred");
  Problem f64 = problem();
  f64.dtype = DType::kF64;
  text = error_of(ErrorCode::kUnsupported, [&] { r.choose(f64, device, "cpu.slow"); });
  EXPECT_SAYS(text, "it takes f32; the operands are f64");
  EXPECT_THROW(r.add(fake("slow", 1)), Error);
}

TEST(RegistryTest, OfAFamilyTheRefusalClosestToRunningIsTold) {
  Kernel f64 = fake("pair", 1);
  f64.id.dtype = DType::kF64;
  const Kernel f32 = fake("pair", 1, Rejection{"m must be 1; m is 10", "an m of 1"});
  for (const bool f32_first : {false, true}) {
    Registry r;
    r.add(f32_first ? f32 : f64);
    r.add(f32_first ? f64 : f32);
    const std::string text =
        error_of(ErrorCode::kUnsupported, [&] { r.choose(problem(), DeviceInfo(), "cpu.pair"); });
    EXPECT_SAYS(text, "cpu.pair.f32: m must be 1");
  }
}

TEST(RegistryTest, TheChoiceIsTheSameEveryTime) {
  Problem p = problem();
  for (std::int64_t size : {1, 7, 64, 1000}) {
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = size;
    const std::string first = registry().choose(p, cpu_device()).name;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(registry().choose(p, cpu_device()).name, first);
  }
}

GemmDesc description(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmDesc d;
  d.a.rows = m;
  d.a.cols = d.a.ld = k;
  d.b.rows = k;
  d.b.cols = d.b.ld = n;
  d.c.rows = m;
  d.c.cols = d.c.ld = n;
  return d;
}

TEST(PlanTest, RunsManyTimesWithItsOwnWorkspace) {
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.id.backend != "cpu" || kernel.id.dtype != DType::kF32) continue;
    GemmOptions options;
    options.kernel = kernel.name;
    const Plan plan(description(33, 65, 40), options);
    EXPECT_EQ(plan.kernel(), kernel.name);
    std::vector<char> memory(plan.workspace_bytes() + 256);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    void* workspace = memory.data() + (256 - address % 256) % 256;
    TestMatrix<float> a(33, 40), b(40, 65), c(33, 65);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      a.fill_normal(seed);
      b.fill_normal(seed + 10);
      plan.run(1.5, a.view().data, b.view().data, 0, c.view().data, workspace,
               plan.workspace_bytes());
      const auto result = compare(reference_gemm(Op::kN, Op::kN, 1.5, a, b, 0, c), c);
      EXPECT_TRUE(result) << kernel.name << ": " << result.message;
    }
    if (plan.workspace_bytes() > 0) {
      EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                           [&] { plan.run(1, a.view().data, b.view().data, 0, c.view().data); }),
                  "workspace");
    }
  }
}

TEST(PlanTest, ScalarsAreRoundedToTheOperandsType) {
  // 1e-60 is 0 in FP32, so A (all NaN) must not be read; 1 + 1e-12 is 1.
  const float a[1] = {std::numeric_limits<float>::quiet_NaN()}, b[1] = {1};
  float c[1] = {5};
  GemmOptions options;
  options.kernel = "cpu.naive";
  const Plan plan(description(1, 1, 1), options);
  plan.run(1e-60, a, b, 1 + 1e-12, c);
  EXPECT_EQ(c[0], 5.0f);
}

TEST(PlanTest, PromisedAlignmentIsChecked) {
  GemmDesc d = description(4, 4, 4);
  d.a.alignment = 64;
  alignas(64) float a[32] = {}, b[16] = {}, c[16] = {};
  const Plan plan(d);
  std::vector<char> memory(plan.workspace_bytes() + 512);
  void* workspace = memory.data() + (256 - reinterpret_cast<std::uintptr_t>(memory.data()) % 256);
  plan.run(1, a, b, 0, c, workspace, plan.workspace_bytes());
  EXPECT_SAYS(error_of(ErrorCode::kInvalidArgument,
                       [&] { plan.run(1, a + 1, b, 0, c, workspace, plan.workspace_bytes()); }),
              "multiple of 64");
}

TEST(PlanTest, CudaOperandsWithoutADevice) {
  if (!cuda_devices().empty()) GTEST_SKIP() << "this machine has a CUDA device";
  GemmDesc d = description(4, 4, 4);
  d.space = Space::kCuda;
  EXPECT_SAYS(error_of(ErrorCode::kNoDevice, [&] { Plan plan(d); }), "CUDA");
  EXPECT_FALSE(cuda_unavailable_reason().empty());
}

[[noreturn]] void log_two_calls(const std::string& path) {
  setenv("TESSERA_LOG", ("calls:" + path).c_str(), 1);
  float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 2, 3, 4, 5, 6}, c[4];
  gemm(Op::kN, Op::kT, 2.0f, row_major<const float>(a, 2, 3), row_major<const float>(b, 2, 3), 0.0f,
       row_major(c, 2, 2));
  gemm(Op::kN, Op::kN, std::numeric_limits<float>::quiet_NaN(), col_major<const float>(a, 2, 3),
       row_major<const float>(b, 3, 2), 0.0f, col_major(c, 2, 2));
  std::_Exit(0);
}

TEST(CallLog, OneJsonLineForEachCall) {
  const std::string path = testing::TempDir() + "tessera_calls.jsonl";
  std::remove(path.c_str());
  // The variable is read once, at the first call of a process: run the calls in a new one.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(log_two_calls(path), testing::ExitedWithCode(0), "");
  std::FILE* file = std::fopen(path.c_str(), "r");
  ASSERT_NE(file, nullptr);
  char buffer[4096] = {};
  const std::size_t length = std::fread(buffer, 1, sizeof buffer - 1, file);
  std::fclose(file);
  std::remove(path.c_str());
  const std::string text(buffer, length);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_SAYS(text, R"("tessera":"gemm","dtype":"f32","op_a":"N","op_b":"T","m":2,"n":2,"k":3)");
  EXPECT_SAYS(text, R"("alpha":2,"beta":0)");
  EXPECT_SAYS(text, R"("alpha":"nan")");
  EXPECT_SAYS(text, R"("layout":"col")");
  EXPECT_SAYS(text, R"("kernel":"cpu.)");
}

[[noreturn]] void log_to_stderr(const char* value) {
  setenv("TESSERA_LOG", value, 1);
  double a[1] = {3}, c[2];
  gemm_strided_batched(Op::kN, Op::kN, 1.0, row_major<const double>(a, 1, 1), 0,
                       row_major<const double>(a, 1, 1), 0, 0.0, row_major(c, 1, 1), 1, 2);
  std::fputs("end", stderr);
  std::_Exit(c[1] == 9 ? 0 : 1);
}

[[noreturn]] void log_with_a_wrong_value() {
  try {
    log_to_stderr("1");
  } catch (const Error& e) {
    std::fputs(e.what(), stderr);
    std::_Exit(e.code() == ErrorCode::kInvalidArgument ? 7 : 1);
  }
}

TEST(CallLog, CallsAloneGoToStderrAndAnotherValueIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(log_to_stderr("calls"), testing::ExitedWithCode(0),
              "^.\"tessera\":\"gemm\",\"dtype\":\"f64\".*\"batch\":2.*.\nend$");
  EXPECT_EXIT(log_to_stderr(""), testing::ExitedWithCode(0), "^end$");
  EXPECT_EXIT(log_with_a_wrong_value(), testing::ExitedWithCode(7), "must be calls or calls:FILE");
}

}  // namespace
}  // namespace tessera::test
