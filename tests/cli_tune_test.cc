// `tessera tune`, its cache on disk, and --kernel tuned in bench and mul.
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "bench/contest.h"
#include "bench_session.h"
#include "support/cli.h"
#include "tessera/plan.h"
#include "tune.h"
#include "tune_store.h"

namespace tessera::cli {
namespace {

using test::CliTest;
using test::Ran;
using test::read_file;
using test::run_tessera;
using test::write_file;
constexpr const char* kNaive = "cpu.naive.f32";
constexpr const char* kBlocked = "cpu.blocked.f32";
/// M and N, and K, of a shallow product that no cache holds: "auto" takes the blocked kernel on any
/// machine.
constexpr std::int64_t kLarge = 2048, kShallow = 64;

class CliTune : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    ::setenv("TESSERA_TUNE_CACHE", path("tune.json").c_str(), 1);
    args_.device = "cpu";
    args_.threads = 1;
    args_.json = true;
    engines_.now_s = [this] { return now_s_; };
    engines_.run = [this](const bench::Case& c, const std::vector<std::string>& kernels, double) {
      contests_.push_back(kernels);
      now_s_ += 0.5;
      std::vector<bench::Row> rows;
      for (const std::string& id : kernels) {
        bench::Row row;
        row.what = c;
        row.requested = row.kernel = id;
        row.disposition =
            id == wrong_ ? bench::Disposition::kIncorrect : bench::Disposition::kPassed;
        row.seconds.assign(5, id == wrong_ ? 1e-9 : id == fastest_ ? 1e-3 : 2e-3);
        rows.push_back(row);
      }
      return rows;
    };
  }
  void TearDown() override {
    ::unsetenv("TESSERA_TUNE_CACHE");
    CliTest::TearDown();
  }

  /// Runs it here; returns its JSON.
  Json tune(const std::vector<std::int64_t>& sizes) {
    args_.cases.sizes = sizes;
    contests_.clear();
    args_.json_file = path("report.json");
    testing::internal::CaptureStdout();
    try {
      code_ = run_tune(args_, engines_);
    } catch (...) {
      testing::internal::GetCapturedStdout();
      throw;
    }
    const std::string out = testing::internal::GetCapturedStdout();
    EXPECT_EQ(Json::parse(out), Json::parse(read_file(args_.json_file)));
    return Json::parse(out);
  }
  DeviceChoice cpu() const { return choose_device("cpu", "auto", DType::kF32); }
  TunedRequest resolve(std::int64_t m, std::int64_t n, std::int64_t k) const {
    const bench::Case c = bench::dense_case(Op::kN, Op::kN, m, n, k, DType::kF32);
    return resolve_tuned(load_tune_cache(""), c, device_key(cpu(), 1));
  }
  /// What "auto" takes here: for small products that depends on the caches.
  static std::string automatic(std::int64_t m, std::int64_t n, std::int64_t k) {
    const bench::Case c = bench::dense_case(Op::kN, Op::kN, m, n, k, DType::kF32);
    return Plan(bench::placed(c, Space::kHost, 0).desc).explain().chosen;
  }
  static std::set<std::string> every_kernel() {
    const std::vector<std::string> ids = bench::every_kernel(Space::kHost, DType::kF32);
    return {ids.begin(), ids.end()};
  }
  /// All that ran, in however many contests.
  std::set<std::string> timed() const {
    std::set<std::string> ids;
    for (const auto& contest : contests_) ids.insert(contest.begin(), contest.end());
    return ids;
  }
  Json cache_json() const { return Json::parse(read_file(path("tune.json"))); }
  void edit(const std::function<void(Json&)>& change) const {
    Json json = cache_json();
    change(json);
    write_file(path("tune.json"), json.dump(1));
  }
  /// The program itself, which has other entries than this one where the commit does not say all.
  Ran program(std::vector<std::string> more) const {
    more.insert(more.begin(), "tune");
    more.insert(more.end(), {"--device", "cpu", "--threads", "1", "--seconds", "0"});
    return run_tessera(more);
  }
  static std::ptrdiff_t lines(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  }

  TuneArgs args_;
  TuneEngines engines_;
  std::string fastest_ = kNaive, wrong_;
  double now_s_ = 0;
  int code_ = -1;
  std::vector<std::vector<std::string>> contests_;
};

TEST_F(CliTune, InputsOfSixteenBitsAreShapesOfTheirOwn) {
  expect_ok(program({"32", "24", "16"}));
  expect_ok(program({"32", "24", "16", "--dtype", "bf16"}));
  const Json shapes = cache_json()["entries"][0]["shapes"];
  ASSERT_EQ(shapes.size(), 2U);
  for (const Json& shape : shapes) {
    for (const auto& [id, timing] : shape["kernels"].items()) {
      EXPECT_EQ(id.substr(id.rfind('.') + 1), shape["dtype"]);
    }
  }
  const Ran again = program({"32", "24", "16", "--dtype", "bf16"});
  expect_ok(again);
  EXPECT_EQ(again.err.find("ignored"), std::string::npos) << again.err;
}

TEST_F(CliTune, I5_EveryShapeIsKeptOddOnesToo) {
  args_.budget = "1h";
  tune({255, 2048, 16});
  fastest_ = kBlocked;
  tune({2048, 2048, 2048, 1000, 1001, 1003});
  EXPECT_EQ(code_, kOk);
  EXPECT_EQ(cache_json()["entries"][0]["shapes"].size(), 3U);
  EXPECT_EQ(resolve(255, 2048, 16).kernel, kNaive);
  EXPECT_FALSE(resolve(255, 2048, 16).unproved);
  EXPECT_EQ(resolve(2048, 2048, 2048).kernel, kBlocked);
  EXPECT_EQ(resolve(1000, 1001, 1003).kernel, kBlocked);
  const TunedRequest near = resolve(333, 2000, 15);
  EXPECT_EQ(near.kernel, kNaive);
  EXPECT_TRUE(near.unproved);
  EXPECT_NE(near.source.find("255x2048x16"), std::string::npos) << near.source;
  EXPECT_EQ(resolve(1, 1, 100000).kernel, "auto");
  EXPECT_FALSE(resolve(1, 1, 100000).unproved);
}

TEST_F(CliTune, I6_AWrongKernelNeverWins) {
  args_.budget = "1h";
  wrong_ = kNaive;
  fastest_ = kBlocked;
  EXPECT_THROW(tune({kLarge, kLarge, kShallow}), CheckFailed);
  const Json report = Json::parse(read_file(args_.json_file));
  EXPECT_EQ(report["tuned"][0]["best"], kBlocked);
  EXPECT_EQ(report["tuned"][0]["auto"], kBlocked);
  EXPECT_EQ(report["tuned"][0]["auto_time_over_best"], 1.0);
  const Json shape = cache_json()["entries"][0]["shapes"][0];
  EXPECT_EQ(shape["winner"], kBlocked);
  EXPECT_EQ(shape["kernels"][kNaive]["disposition"], "incorrect");
  EXPECT_FALSE(shape["kernels"][kNaive].contains("median_s"));
  EXPECT_EQ(resolve(kLarge, kLarge, kShallow).kernel, kBlocked);
}

TEST_F(CliTune, I7_OnlyNewKernelsRun) {
  args_.budget = "1h";
  tune({kLarge, kLarge, kShallow});
  EXPECT_EQ(timed(), every_kernel());
  const std::size_t contests_of_a_case = contests_.size();
  // As if this kernel were new.
  edit([](Json& json) { json["entries"][0]["shapes"][0]["kernels"].erase(kBlocked); });
  tune({kLarge, kLarge, kShallow});
  ASSERT_EQ(contests_.size(), 1U);
  EXPECT_EQ(contests_[0], (std::vector<std::string>{kNaive, kBlocked})) << "beside the best known";
  const Json third = tune({kLarge, kLarge, kShallow});
  EXPECT_TRUE(contests_.empty());
  EXPECT_EQ(third["tuned"][0]["best"], kNaive);
  EXPECT_EQ(third["tuned"][0]["auto_time_over_best"], 2.0);
  tune({kLarge, kLarge, kShallow, kLarge, kLarge, kShallow - 1});
  EXPECT_EQ(timed(), every_kernel());
  EXPECT_EQ(contests_.size(), contests_of_a_case) << "those of the new shape";
  args_.fresh = true;
  tune({kLarge, kLarge, kShallow});
  EXPECT_EQ(timed(), every_kernel());
  EXPECT_EQ(contests_.size(), contests_of_a_case);
}

TEST_F(CliTune, EachCaseIsOnDiskBeforeTheNext) {
  const auto honest = engines_.run;
  engines_.run = [&](const bench::Case& c, const std::vector<std::string>& kernels, double s) {
    if (c.m == 65) throw std::runtime_error("the power went");
    return honest(c, kernels, s);
  };
  EXPECT_THROW(tune({64, 64, 64, 65, 64, 64}), std::runtime_error);
  EXPECT_EQ(cache_json()["entries"][0]["shapes"].size(), 1U);
  // An Error is one case's; the others go on.
  engines_.run = [&](const bench::Case& c, const std::vector<std::string>& kernels, double s) {
    if (c.m == 65) throw Error(ErrorCode::kOutOfMemory, "no room");
    return honest(c, kernels, s);
  };
  EXPECT_THROW(tune({65, 64, 64, 66, 64, 64}), Error);
  EXPECT_EQ(cache_json()["entries"][0]["shapes"].size(), 2U);
  const Json left = Json::parse(read_file(args_.json_file))["left_out"];
  ASSERT_EQ(left.size(), 1U);
  EXPECT_NE(left[0].get<std::string>().find("65x64x64"), std::string::npos);
}

TEST_F(CliTune, WhatTheBudgetDidNotReachIsNamed) {
  args_.kernels = {kNaive, kBlocked};  // few enough for one contest
  args_.budget = "0.7s";               // which takes half a second
  const Json report = tune({64, 64, 64, 65, 64, 64, 66, 64, 64});
  EXPECT_EQ(code_, kOk);
  ASSERT_EQ(report["tuned"].size(), 3U);
  EXPECT_TRUE(report["tuned"][0]["not_reached"].empty());
  EXPECT_FALSE(report["tuned"][2]["not_reached"].empty());
  EXPECT_TRUE(report["tuned"][2]["best"].is_null());
  ASSERT_FALSE(report["left_out"].empty());
  for (const Json& item : report["left_out"]) {
    EXPECT_NE(item.get<std::string>().find("not reached in the budget of 0.7s"), std::string::npos);
  }
  for (const char* bad : {"", "0", "-1", "s", "1d", "1e3", "nan", "1s2", "99999h"}) {
    EXPECT_THROW(parse_duration("--budget", bad), Error) << bad;
  }
  EXPECT_EQ(parse_duration("--budget", "1.5m"), 90);
  EXPECT_EQ(parse_duration("--budget", "2h"), 7200);
  EXPECT_EQ(parse_duration("--budget", "7"), 7);
}

TEST_F(CliTune, I8_AnEditedCacheIsOneLineAndNoCrash) {
  expect_ok(program({"32", "32", "32"}));
  const auto kernels = [](Json& json) -> Json& {
    return json["entries"][0]["shapes"][0]["kernels"];
  };
  edit([&](Json& json) {
    kernels(json)["cuda.tiled.f32.4096x4096"] = kernels(json)[kNaive];
    kernels(json)[kNaive]["median_s"] = -1;
    json["entries"][0]["shapes"][0]["winner"] = "cuda.tiled.f32.4096x4096";
  });
  const Ran again = program({"32", "32", "32", "--json"});
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(lines(again.err), 1) << again.err;
  EXPECT_NE(again.err.find("2 entries ignored"), std::string::npos) << again.err;
  const Json tuned = Json::parse(again.out)["tuned"][0];
  for (const Json& kernel : tuned["kernels"]) EXPECT_EQ(kernel["disposition"], "passed");
  // What was ignored is gone, so that it is said once.
  expect_ok(program({"32", "32", "32"}));

  // Another compiler's entry is no fault: it is kept, and not used.
  edit([&](Json& json) {
    json["entries"][0]["compiler"] = "gcc 99.0.0, Release, nvcc 99.0";
    kernels(json)["cuda.tiled.f32.4096x4096"] = kernels(json)[kNaive];
  });
  const Ran other = program({"32", "32", "32"});
  expect_ok(other);
  const std::string all_timed =
      fmt::format("{} timed now, 0 from the cache", every_kernel().size());
  EXPECT_NE(other.out.find(all_timed), std::string::npos) << other.out;
  EXPECT_NE(other.out.find("kept and not used"), std::string::npos) << other.out;
  EXPECT_EQ(cache_json()["entries"].size(), 2U);
}

TEST_F(CliTune, I8_WhatIsNoCacheIsOneLineAndKept) {
  for (const std::string& text :
       {std::string("no JSON"), std::string(), std::string("{\"schema\":\"tessera-tune-9\"}"),
        std::string(5000, '['), std::string("\xff\xfe\0", 3)}) {
    write_file(path("tune.json"), text);
    for (const int said : {1, 0}) {
      testing::internal::CaptureStderr();
      tune({16, 16, 16});
      const std::string err = testing::internal::GetCapturedStderr();
      EXPECT_EQ(code_, kOk);
      EXPECT_EQ(lines(err), said) << err;
      EXPECT_EQ(err.find("tessera tune: tuning cache: ignored") == 0, said == 1) << err;
    }
    EXPECT_EQ(read_file(path("tune.json.bad")), text);
  }
  const std::string whole = read_file(path("tune.json"));
  const auto load = [&](std::size_t length) {
    write_file(path("tune.json"), whole.substr(0, length));
    testing::internal::CaptureStderr();
    EXPECT_TRUE(load_tune_cache("tune").entries().empty()) << length;
    EXPECT_EQ(lines(testing::internal::GetCapturedStderr()), 1) << length;
  };
  for (std::size_t length = 0; length + 1 < whole.size(); length += 17) load(length);
}

TEST_F(CliTune, APlaceThatCannotBeWrittenIsRefusedBeforeAnythingRuns) {
  ASSERT_EQ(::mkdir(path("tune.json").c_str(), 0700), 0);
  EXPECT_THROW(tune({64, 64, 64}), Error);
  ::setenv("TESSERA_TUNE_CACHE", path("report.json/x/tune.json").c_str(), 1);
  write_file(path("report.json"), "");
  EXPECT_THROW(tune({64, 64, 64}), Error);
  EXPECT_TRUE(contests_.empty());
  // A pipe without a writer would be waited for.
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  ::setenv("TESSERA_TUNE_CACHE", path("pipe").c_str(), 1);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(load_tune_cache("tune").entries().empty());
  EXPECT_EQ(lines(testing::internal::GetCapturedStderr()), 1);
}

TEST_F(CliTune, WhereTheCacheLies) {
  ::unsetenv("TESSERA_TUNE_CACHE");
  const char* home = ::getenv("HOME");
  const std::string old_home = home == nullptr ? "" : home;
  const char* xdg = ::getenv("XDG_CACHE_HOME");
  const std::string old_xdg = xdg == nullptr ? "" : xdg;
  ::setenv("HOME", "/home/x", 1);
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(tune_cache_path(), "/cache/tessera/tune.json");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(tune_cache_path(), "/home/x/.cache/tessera/tune.json");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(tune_cache_path(), "");
  EXPECT_TRUE(load_tune_cache("tune").entries().empty());
  EXPECT_THROW(check_tune_cache_is_writable(), Error);
  if (home != nullptr) ::setenv("HOME", old_home.c_str(), 1);
  if (xdg != nullptr) ::setenv("XDG_CACHE_HOME", old_xdg.c_str(), 1);
}

TEST_F(CliTune, WritersAtOnceLoseNothing) {
  constexpr int kWriters = 4, kShapes = 12;
  for (int writer = 0; writer < kWriters; ++writer) {
    if (::fork() != 0) continue;
    for (int i = 0; i < kShapes; ++i) {
      const auto c = bench::dense_case(Op::kN, Op::kN, 1 + writer, 1 + i, 1, DType::kF32);
      update_tune_cache([&](bench::TuneCache& cache) {
        bench::TunedShape tuned;
        tuned.kernels[kNaive] = {bench::Disposition::kPassed, 1e-3, 0, "2026-01-02T03:04:05Z"};
        cache.put(device_key(cpu(), 1), bench::tune_shape(c), tuned);
      });
    }
    ::_exit(0);
  }
  for (int writer = 0; writer < kWriters; ++writer) {
    int status = -1;
    ::wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(load_tune_cache("tune").find(device_key(cpu(), 1))->size(),
            static_cast<std::size_t>(kWriters * kShapes));
}

TEST_F(CliTune, ExportAndImport) {
  tune({64, 64, 64});
  edit([](Json& json) {
    Json other = json["entries"][0];
    other["device"] = "cuda: another";
    json["entries"].push_back(other);
  });
  args_ = {};
  args_.export_to = path("exported.json");
  EXPECT_EQ(run_tune(args_), kOk);
  const Json exported = Json::parse(read_file(path("exported.json")));
  EXPECT_EQ(exported["entries"].size(), 2U);
  ASSERT_EQ(::unlink(path("tune.json").c_str()), 0);
  const Ran imported = run_tessera({"tune", "--import", path("exported.json"), "--list"});
  expect_ok(imported);
  EXPECT_NE(imported.out.find("cuda: another"), std::string::npos) << imported.out;
  EXPECT_EQ(resolve(64, 64, 64).kernel, kNaive);
  const Ran json = run_tessera({"tune", "--list", "--json"});
  EXPECT_EQ(Json::parse(json.out)["entries"].size(), 2U);
  write_file(path("bad.json"), "{");
  expect_error(run_tessera({"tune", "--import", path("bad.json")}), 3, {"bad.json"});
  expect_error(run_tessera({"tune", "--import", path("none.json")}), 3, {"none.json"});
  EXPECT_EQ(cache_json()["entries"].size(), 2U);
}

TEST_F(CliTune, Refusals) {
  expect_error(run_tessera({"tune"}), 2, {"nothing to tune"});
  expect_error(run_tessera({"tune", "8", "8"}), 2, {"threes"});
  expect_error(program({"8", "8", "8", "--budget", "soon"}), 2, {"soon"});
  expect_error(program({"8", "8", "8", "--kernel", "cpu.fast"}), 2, {"cpu.fast"});
  expect_error(program({"8", "8", "8", "--kernel", "auto"}), 2, {"auto"});
  expect_error(program({"8", "8", "8", "--list"}), 2, {"--list"});
  if (cuda_devices().empty()) {
    expect_error(program({"8", "8", "8", "--kernel", "k02_tiled"}), 4, {"GPU"});
  }
  EXPECT_FALSE(std::ifstream(path("tune.json")).good());
}

TEST_F(CliTune, ANamedKernelThatCannotTakeTheCaseIsNamedWithTheRule) {
  const Ran ran = program({"24", "16", "8", "--dtype", "bf16", "--kernel", "cpu.direct", "--kernel",
                           "cpu.naive", "--budget", "1m"});
  EXPECT_EQ(ran.code, 4);
  for (const char* piece :
       {"1 left out, the rest was run", "cpu.direct", "24x16x8", "it takes f32"}) {
    EXPECT_NE(ran.err.find(piece), std::string::npos) << piece << " is not in " << ran.err;
  }
  EXPECT_NE(ran.out.find("left out"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("cpu.naive.bf16"), std::string::npos) << ran.out;
}

TEST_F(CliTune, TableNamesBestAutoAndSkipped) {
  const Ran ran = program({"24", "16", "8", "--kernel", "cpu.naive", "--budget", "1m"});
  expect_ok(ran);
  ASSERT_NE(automatic(24, 16, 8), kNaive);
  const std::string auto_takes = "auto takes " + automatic(24, 16, 8);
  for (const std::string& piece :
       {std::string("24x16x8 NN"), std::string("cpu.naive.f32"), std::string("for comparison"),
        std::string("best of cpu.naive"), auto_takes, std::string("GFLOP/s")}) {
    EXPECT_NE(ran.out.find(piece), std::string::npos) << piece << " is not in " << ran.out;
  }
}

TEST_F(CliTune, BenchRunsTheTunedKernelVerified) {
  args_.budget = "1h";
  tune({33, 17, 29});
  SessionOptions options;
  options.device = "cpu";
  options.kernels = {"tuned", "auto"};
  options.peers = {"none"};
  options.threads = 1;
  options.seconds = 0;
  options.peaks = false;
  BenchSession session("bench", options);
  const auto run = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return session.run(bench::dense_case(Op::kN, Op::kN, m, n, k, DType::kF32),
                       bench::CacheState::kWarm);
  };
  const auto exact = run(33, 17, 29);
  EXPECT_EQ(exact[0].requested, "tuned");
  EXPECT_EQ(exact[0].kernel, kNaive);
  EXPECT_EQ(exact[0].disposition, bench::Disposition::kPassed);
  EXPECT_GT(exact[0].worst_ratio, 0) << "it was compared";
  EXPECT_NE(exact[0].remarks.back().find("this shape"), std::string::npos);
  EXPECT_EQ(exact[1].requested, "auto");
  ASSERT_NE(automatic(33, 17, 29), kNaive);
  EXPECT_EQ(exact[1].kernel, automatic(33, 17, 29));
  const auto near = run(40, 17, 29);
  EXPECT_EQ(near[0].kernel, kNaive);
  EXPECT_NE(near[0].remarks.back().find("33x17x29"), std::string::npos);
  ASSERT_NE(automatic(5000, 17, 29), kNaive);
  EXPECT_EQ(run(5000, 17, 29)[0].kernel, automatic(5000, 17, 29));
  EXPECT_EQ(session.report().rows.size(), 6U);
}

class MulTuned : public CliTune {
 protected:
  void SetUp() override {
    CliTune::SetUp();
    args_.budget = "1h";
    mul_.product.a = path("a.npy");
    mul_.product.b = path("b.npy");
    mul_.out = path("c.npy");
    mul_.device = "cpu";
    mul_.kernel = "tuned";
    mul_.verify = "off";
    mul_.threads = 1;
    mul_.json = mul_.explain = true;
    write_operands(20, 30, 25);
    engines.check = [this](const VerifyProblem& problem, const VerifyOptions& options) {
      ++checks_;
      return verify(problem, options);
    };
  }
  void write_operands(std::int64_t m, std::int64_t n, std::int64_t k) {
    const std::vector<float> a(static_cast<std::size_t>(m * k), 1.5f);
    const std::vector<float> b(static_cast<std::size_t>(k * n), 0.25f);
    write_file(mul_.product.a, test::matrix_npy("<f4", m, k, a));
    write_file(mul_.product.b, test::matrix_npy("<f4", k, n, b));
  }
  Json mul() {
    checks_ = 0;
    testing::internal::CaptureStdout();
    try {
      EXPECT_EQ(run_mul(mul_, engines), kOk);
    } catch (...) {
      testing::internal::GetCapturedStdout();
      throw;
    }
    return Json::parse(testing::internal::GetCapturedStdout());
  }
  MulArgs mul_;
  MulEngines engines;
  int checks_ = 0;
};

TEST_F(MulTuned, I6_OnItsOwnShapeOffIsOff) {
  tune({20, 30, 25});
  const Json report = mul();
  EXPECT_EQ(report["kernel"]["id"], kNaive);
  EXPECT_EQ(checks_, 0);
  EXPECT_TRUE(report["check"].is_null());
  const std::string reason = report["explanation"]["reason"];
  EXPECT_NE(reason.find("20x30x25"), std::string::npos) << reason;
}

TEST_F(MulTuned, I6_OnAnotherShapeItIsVerifiedAndAWrongOneIsNotWritten) {
  tune({40, 30, 25});
  const Json report = mul();
  EXPECT_EQ(report["kernel"]["id"], kNaive);
  EXPECT_EQ(checks_, 1);
  EXPECT_EQ(report["check"]["passed"], true);
  EXPECT_TRUE(report["check"].contains("forced_by"));
  ASSERT_EQ(::unlink(mul_.out.c_str()), 0);
  const auto honest = engines.multiply;
  engines.multiply = [&](Op op_a, Op op_b, double alpha, const io::FileMatrix& a,
                         const io::FileMatrix& b, double beta, const io::FileMatrix* c0,
                         io::OutputMatrix& out, const PanelOptions& options) {
    EXPECT_EQ(options.gemm.kernel, kNaive);
    PanelReport panel = honest(op_a, op_b, alpha, a, b, beta, c0, out, options);
    const double wrong = 1e6;
    out.write_block<double>(3, 4, 1, 1, &wrong, 1);
    return panel;
  };
  EXPECT_THROW(mul(), CheckFailed);
  EXPECT_FALSE(std::ifstream(mul_.out).good());
}

TEST_F(MulTuned, TransposesAndColumnMajorFilesAreTheSameProduct) {
  args_.cases.ops = "TN";
  tune({20, 30, 25});
  mul_.product.trans_a = true;
  write_file(mul_.product.a, test::matrix_npy("<f4", 25, 20, std::vector<float>(500, 1)));
  EXPECT_EQ(mul()["kernel"]["id"], kNaive);
  EXPECT_EQ(checks_, 0);
  mul_.product.trans_a = false;
  write_file(mul_.product.a, test::matrix_npy("<f4", 20, 25, std::vector<float>(500, 1), true));
  EXPECT_EQ(mul()["kernel"]["id"], kNaive);
  EXPECT_EQ(checks_, 0);
}

TEST_F(MulTuned, WithoutACacheOrWhenRefusedAutoDoesIt) {
  ASSERT_NE(automatic(20, 30, 25), kNaive);
  const Json none = mul();
  EXPECT_EQ(none["kernel"]["id"], automatic(20, 30, 25));
  EXPECT_EQ(checks_, 0);
  const std::string reason = none["explanation"]["reason"];
  EXPECT_NE(reason.find("no shape near"), std::string::npos) << reason;

  tune({20, 30, 25});
  const auto honest = engines.multiply;
  engines.multiply = [&](Op op_a, Op op_b, double alpha, const io::FileMatrix& a,
                         const io::FileMatrix& b, double beta, const io::FileMatrix* c0,
                         io::OutputMatrix& out, const PanelOptions& options) {
    if (options.gemm.kernel != "auto") throw Error(ErrorCode::kUnsupported, "not in panels");
    return honest(op_a, op_b, alpha, a, b, beta, c0, out, options);
  };
  const Json refused = mul();
  EXPECT_EQ(refused["kernel"]["id"], automatic(20, 30, 25));
  const std::string source = refused["kernel"]["source"];
  EXPECT_NE(source.find("refuses"), std::string::npos) << source;
}

TEST_F(MulTuned, PanelsAreOtherShapes) {
  fastest_ = kBlocked;
  write_operands(1200, 1000, 900);
  tune({1200, 1000, 900});
  mul_.memory_bytes = 8 << 20;
  const Json report = mul();
  EXPECT_GT(report["panels"]["count"].get<int>(), 1);
  EXPECT_EQ(report["kernel"]["id"], kBlocked);
  EXPECT_EQ(checks_, 1);
  EXPECT_TRUE(report["check"].contains("forced_by"));
}

}  // namespace
}  // namespace tessera::cli
