// `tessera bench` and `tessera ladder` as programs.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/cli.h"
#include "support/sanitized.h"
#include "tessera/kernel.h"

namespace tessera::test {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

class CliBench : public CliTest {
 protected:
  /// The row of "auto" for a cubic product: which kernel that is depends on the caches.
  static std::string auto_row(std::int64_t n) {
    Problem p;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = n;
    const std::string name = registry().choose(p, cpu_device()).name;
    EXPECT_NE(name, "cpu.naive.f32");
    return "auto: " + name;
  }
  /// tessera bench ..., on the CPU, without peers, as short as it gets.
  Ran bench(std::vector<std::string> args, const std::vector<std::string>& environment = {}) {
    args.insert(args.begin(), "bench");
    for (const char* more : {"--device", "cpu", "--seconds", "0", "--threads", "1"}) {
      args.emplace_back(more);
    }
    if (std::find(args.begin(), args.end(), "--peer") == args.end()) {
      args.insert(args.end(), {"--peer", "none"});
    }
    Limits limits;
    limits.environment = environment;
    return run_tessera(args, limits);
  }
};

TEST_F(CliBench, JsonDescribesTheCallThatWasTimed) {
  const Ran ran = bench({"33", "17", "5", "16", "16", "16", "--kernel", "cpu.naive", "--kernel",
                         "auto", "--ops", "TN", "--json", "--json-file", path("r.json")});
  expect_ok(ran);
  const Json json = Json::parse(ran.out, nullptr, false);
  ASSERT_EQ(json["results"].size(), 4U) << ran.out;
  for (std::size_t i = 0; i < 4; ++i) {
    const Json& row = json["results"][i];
    // M, N and K as asked for, whatever the ops, and the speed from the same numbers.
    const std::vector<double> asked =
        i < 2 ? std::vector<double>{33, 17, 5} : std::vector<double>{16, 16, 16};
    EXPECT_EQ((std::vector<double>{row["m"], row["n"], row["k"]}), asked);
    EXPECT_EQ(row["op_a"], "T");
    EXPECT_EQ(row["op_b"], "N");
    EXPECT_EQ(row["lda"], asked[0]);
    EXPECT_NEAR(row["gflops"].get<double>() * row["median_s"].get<double>() * 1e9,
                2 * asked[0] * asked[1] * asked[2], 1e-6 * asked[0] * asked[1] * asked[2]);
    EXPECT_EQ(row["disposition"], "passed");
    EXPECT_GE(row["samples"].get<int>(), 5);
    EXPECT_LE(row["min_s"].get<double>(), row["median_s"].get<double>());
    EXPECT_LE(row["median_s"].get<double>(), row["max_s"].get<double>());
    EXPECT_LE(row["error_ratio"].get<double>(), 1);
    EXPECT_EQ(row["cache"], "warm");
  }
  EXPECT_GT(json["peaks"]["fma_gflops"].get<double>(), 0);
  EXPECT_EQ(json["conditions"]["data"], "random normal, mean 0, variance 1");
  EXPECT_TRUE(contains(json["command"], "tessera bench 33 17 5 16 16 16 --kernel cpu.naive"));
  EXPECT_TRUE(json["provenance"]["flags"].is_string());
  EXPECT_EQ(Json::parse(read_file(path("r.json")), nullptr, false), json);
}

TEST_F(CliBench, InputsOfSixteenBits) {
  for (const std::string type : {"bf16", "f16"}) {
    const Ran ran = bench({"70", "90", "80", "--dtype", type, "--kernel", "all", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const Json json = Json::parse(ran.out, nullptr, false);
    EXPECT_GE(json["results"].size(), 3U);
    for (const Json& row : json["results"]) {
      const std::string kernel = row["kernel"];
      EXPECT_EQ(kernel.substr(kernel.rfind('.') + 1), type);
      EXPECT_EQ(row["dtype"], type);
      EXPECT_EQ(row["disposition"], "passed");
    }
  }
}

TEST_F(CliBench, UsageErrors) {
  expect_error(run_tessera({"bench", "8", "8"}), 2, {"tessera bench:"});
  expect_error(run_tessera({"bench", "8", "8", "8", "8"}), 2, {"M N K"});
  expect_error(run_tessera({"bench", "8", "8", "0"}), 2, {"0"});
  expect_error(run_tessera({"bench"}), 2, {"M N K", "--suite"});
  expect_error(bench({"8", "8", "8", "--peer", "atlas"}), 2, {"atlas", "openblas"});
  expect_error(bench({"8", "8", "8", "--kernel", "cpu.nope"}), 2, {"cpu.nope", "tessera kernels"});
}

TEST_F(CliBench, WhatCannotRunIsNamedAndTheRestGoesOn) {
  // A kernel that cannot take the problem is shown without a speed; alone, it fails the run.
  const Ran alone = bench({"8", "8", "8", "--kernel", "cpu.naive.f64"});
  EXPECT_EQ(alone.code, 4);
  EXPECT_TRUE(contains(alone.out, "not supported")) << alone.out;

  const Ran unknown = bench({"64", "64", "64", "--kernel", "cpu.nope", "--kernel", "auto"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.out, "left out\n  cpu.nope")) << unknown.out;
  EXPECT_TRUE(contains(unknown.out, auto_row(64))) << unknown.out;
  EXPECT_TRUE(contains(unknown.err, "cpu.nope")) << unknown.err;
}

TEST_F(CliBench, TheRestGoesOnAfterACaseThatCannotBeSetUp) {
  // 2^62 elements, then more bytes than a buffer may have.
  const std::vector<std::string> sizes = {"2147483648", "2147483648", "1", "8",         "8",
                                          "8",          "2000000000", "1", "2000000000"};
  std::vector<std::string> args = sizes;
  args.insert(args.end(), {"--json-file", path("r.json")});
  const Ran ran = bench(args);
  EXPECT_EQ(ran.code, 4);
  EXPECT_TRUE(contains(ran.err, "2 left out, the rest was run: 2147483648x2147483648x1 NN: "))
      << ran.err;
  EXPECT_TRUE(contains(ran.out, "  2000000000x1x2000000000 NN: ")) << ran.out;
  const Json json = Json::parse(read_file(path("r.json")), nullptr, false);
  ASSERT_EQ(json["results"].size(), 1U) << ran.out;
  EXPECT_EQ(json["results"][0]["m"], 8);
  EXPECT_EQ(json["left_out"].size(), 2U);

  args = sizes;
  args.emplace_back("--once");
  expect_error(bench(args), 4, {"2 left out, the rest was run"});
  expect_error(bench({"2147483648", "2147483648", "1", "--once"}), 4, {"nothing run"});
  expect_error(bench({"8", "8", "8", "--once", "--kernel", "cpu.naive.f64", "--kernel", "auto"}), 4,
               {"1 left out, the rest was run: cpu.naive.f64 on 8x8x8 NN"});
}

TEST_F(CliBench, WhatWouldHaveNoEffectIsRefused) {
  const std::string file = path("none.json");
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--once", "--json"},
                                             {"--once", "--json-file", file},
                                             {"--once", "--counters"},
                                             {"--cost", "--once"},
                                             {"--cost"},
                                             {"--compare", file, file},
                                             {"--kernel", "none", "--kernel", "auto"},
                                             {"--peer", "none", "--peer", "openblas"}}) {
    std::vector<std::string> args = more;
    args.insert(args.begin(), {"8", "8", "8"});
    expect_error(bench(args), 2, {more[0]});
  }
  expect_error(run_tessera({"bench", "--compare", file, file, "--json-file", file}), 2,
               {"--json-file"});
}

TEST_F(CliBench, SecondsThatAreNoTime) {
  for (const char* verb : {"bench", "ladder", "tune"}) {
    for (const char* value : {"nan", "-nan", "inf", "-1", "1e999", "3601", "1s", ""}) {
      expect_error(run_tessera({verb, "--seconds", value}), 2, {"--seconds", value});
    }
  }
}

TEST_F(CliBench, OutputsAreTriedBeforeTheWork) {
  const std::string suite = path("s.csv"), text = "M,N,K\n8,8,8\n";
  write_file(suite, text);
  expect_error(bench({"--suite", suite, "--json-file", suite}), 2, {suite, "same file"});
  EXPECT_EQ(read_file(suite), text);
  for (const char* verb : {"bench", "tune", "ladder"}) {
    std::vector<std::string> args = {verb, "--json-file", path("no/r.json")};
    if (args[0] != "ladder") args.insert(args.end(), {"8", "8", "8"});
    Limits limits;
    limits.environment = {"TESSERA_TUNE_CACHE=" + path("t.json")};
    const Ran ran = run_tessera(args, limits);
    expect_error(ran, 4, {"no/r.json"});
    EXPECT_EQ(ran.out, "") << verb;
  }
}

TEST_F(CliBench, SuitesAreFilesAndDriveNoTerminal) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_error(bench({"--suite", path("pipe")}), 3, {"not a regular file"});
  const std::string suite = path("a\033[31m.csv");
  write_file(suite, "M,N,K\n8,8,8\n8,8,9\n");
  const Ran ran = bench({"--suite", suite});
  expect_ok(ran);
  EXPECT_FALSE(contains(ran.out, "\033")) << ran.out;
  EXPECT_TRUE(contains(ran.out, "a\\x1b[31m: 8x8x8")) << ran.out;
}

TEST_F(CliBench, SizesAfterTheEndOfOptions) {
  expect_ok(
      run_tessera({"bench", "--once", "--device", "cpu", "--peer", "none", "--", "8", "8", "8"}));
}

TEST_F(CliBench, AKernelForAGpuThatIsNotThere) {
  const Ran ran = run_tessera({"bench", "64", "64", "64", "--kernel", "k01_naive", "--kernel",
                               "auto", "--seconds", "0", "--peer", "none"});
  if (ran.code == 0) GTEST_SKIP() << "there is a GPU";
  EXPECT_EQ(ran.code, 4);
  EXPECT_TRUE(contains(ran.out, "left out\n  k01_naive")) << ran.out;
  EXPECT_TRUE(contains(ran.out, auto_row(64))) << ran.out;
  expect_error(run_tessera({"bench", "8", "8", "8", "--device", "cuda"}), 4, {"cuda:0"});
}

TEST_F(CliBench, AnAbsentPeerThatWasAskedFor) {
  const Ran ran =
      bench({"64", "64", "64", "--peer", "openblas"}, {"TESSERA_OPENBLAS=" + path("libnone.so")});
  EXPECT_EQ(ran.code, 4);
  EXPECT_TRUE(contains(ran.out, "left out\n  peer openblas: ")) << ran.out;
  EXPECT_TRUE(contains(ran.out, auto_row(64))) << ran.out;
}

TEST_F(CliBench, SuitesGoOnAfterAMalformedLine) {
  const std::string suite = path("s.csv");
  write_file(suite, "# three lines\nM,N,K,opA,opB\n8,9,10,N,T\n8,x,8,N,N\n3,4,5,T,N\n");
  const Ran ran = bench({"--suite", suite, "--json"});
  EXPECT_EQ(ran.code, 3);
  const Json json = Json::parse(ran.out, nullptr, false);
  ASSERT_EQ(json["results"].size(), 2U) << ran.out;
  EXPECT_EQ(json["results"][1]["k"], 5);
  EXPECT_EQ(json["results"][0]["suite"], "s");
  ASSERT_EQ(json["left_out"].size(), 1U);
  EXPECT_TRUE(contains(json["left_out"][0], "s.csv:4")) << json["left_out"][0];
  EXPECT_EQ(json["geomeans"][0]["cases"], 2);
  expect_error(bench({"--suite", path("none.csv")}), 3, {"none.csv"});
  EXPECT_TRUE(contains(bench({"--suite", "no-such-suite"}).err, "square"));
}

TEST_F(CliBench, ACaseThatCannotBeHadIsLeftOutAndTheRestGoesOn) {
  const auto call = [](const char* stride) {
    return fmt::format(
        R"({{"tessera":"gemm","dtype":"f32","op_a":"N","op_b":"N","m":4,"n":4,"k":4,)"
        R"("a":{{"rows":4,"cols":4,"ld":4,"layout":"row","batch_stride":{}}},)"
        R"("b":{{"rows":4,"cols":4,"ld":4,"layout":"row","batch_stride":16}},)"
        R"("c":{{"rows":4,"cols":4,"ld":4,"layout":"row","batch_stride":16}},)"
        R"("batch":2,"alpha":1,"beta":0}})"
        "\n",
        stride);
  };
  write_file(path("log"), call("-16") + call("16"));
  const Ran ran = bench({"--suite", path("log"), "--json"});
  EXPECT_EQ(ran.code, 4);
  const Json json = Json::parse(ran.out, nullptr, false);
  ASSERT_EQ(json["results"].size(), 1U) << ran.out << ran.err;
  EXPECT_EQ(json["results"][0]["disposition"], "passed");
  ASSERT_EQ(json["left_out"].size(), 1U);
  EXPECT_TRUE(contains(json["left_out"][0], "stride below 0")) << json["left_out"][0];
}

TEST_F(CliBench, AllKernelsAreThoseForTheElementType) {
  const Ran ran = bench({"16", "16", "16", "--kernel", "all", "--dtype", "f64", "--json"});
  expect_ok(ran);
  const Json json = Json::parse(ran.out, nullptr, false);
  ASSERT_GE(json["results"].size(), 2U) << ran.out;
  for (const Json& row : json["results"]) {
    EXPECT_EQ(row["disposition"], "passed");
    EXPECT_TRUE(contains(row["kernel"], "f64")) << row["kernel"];
  }
}

TEST_F(CliBench, ReplaysTheCallsOfAProgram) {
  write_file(path("a.npy"), matrix_npy("<f4", 6, 4, std::vector<float>(24, 1.5F)));
  write_file(path("b.npy"), matrix_npy("<f4", 4, 5, std::vector<float>(20, -2)));
  Limits logged;
  logged.environment = {"TESSERA_LOG=calls:" + path("log")};
  for (int i = 0; i < 3; ++i) {
    expect_ok(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", path("c.npy"), "--alpha",
                           "0.5", "--device", "cpu"},
                          logged));
  }
  const Ran ran = bench({"--suite", path("log"), "--json"});
  expect_ok(ran);
  const Json json = Json::parse(ran.out, nullptr, false);
  ASSERT_EQ(json["results"].size(), 1U) << ran.out;
  const Json& row = json["results"][0];
  EXPECT_EQ((std::vector<int>{row["m"], row["n"], row["k"]}), (std::vector<int>{6, 5, 4}));
  EXPECT_EQ(row["calls"], 3);
  EXPECT_EQ(row["alpha"], 0.5);
}

TEST_F(CliBench, WarmAndColdAreBothLabelled) {
  const Ran ran = bench({"300", "300", "300", "--cache", "both", "--data", "integers", "--json"});
  expect_ok(ran);
  const Json json = Json::parse(ran.out, nullptr, false);
  ASSERT_EQ(json["results"].size(), 2U);
  EXPECT_EQ(json["results"][0]["cache"], "warm");
  EXPECT_EQ(json["results"][0]["sets"], 1);
  EXPECT_EQ(json["results"][1]["cache"], "cold");
  EXPECT_GT(json["results"][1]["sets"].get<int>(), 1);
  EXPECT_EQ(json["conditions"]["data"], "random integers from -4 to 4");
}

TEST_F(CliBench, CompareSaysWhatChanged) {
  expect_ok(bench({"16", "16", "16", "--json-file", path("old.json")}));
  const Ran same = run_tessera({"bench", "--compare", path("old.json"), path("old.json")});
  expect_ok(same);
  EXPECT_TRUE(contains(same.out, "same")) << same.out;
  expect_error(run_tessera({"bench", "--compare", path("old.json"), path("none.json")}), 3,
               {"none.json"});
}

TEST_F(CliBench, CostIsPrinted) {
  const Ran ran = run_tessera({"bench", "--cost", "--json", "--device", "cpu"});
  expect_ok(ran);
  const Json json = Json::parse(ran.out, nullptr, false);
  EXPECT_GT(json["library_bytes"].get<double>(), 0);
  EXPECT_GT(json["first_product"]["first_product_ms"].get<double>(), 0);
}

TEST_F(CliBench, ResultsAreWrittenWholeOrNotAtAll) {
  write_file(path("r.json"), "old");
  const Ran ran = bench({"8", "8", "8", "--json-file", path("missing/r.json")});
  EXPECT_EQ(ran.code, 4);
  EXPECT_TRUE(contains(ran.err, "missing")) << ran.err;
  expect_ok(bench({"8", "8", "8", "--json-file", path("r.json")}));
  EXPECT_TRUE(Json::accept(read_file(path("r.json"))));
}

TEST_F(CliBench, ABuildThatIsNotForSpeedSaysSo) {
  const Ran ran = bench({"16", "16", "16", "--json-file", path("r.json")});
  expect_ok(ran);
  EXPECT_EQ(contains(ran.out, "times mean little"), kProgramsSanitized) << ran.out;
  const Json json = Json::parse(read_file(path("r.json")), nullptr, false);
  EXPECT_EQ(json["provenance"].contains("slow_build"), kProgramsSanitized);
}

TEST_F(CliBench, LadderOnTheCpu) {
  const Ran ran = run_tessera({"ladder", "-n", "48", "--device", "cpu", "--peer", "none",
                               "--seconds", "0", "--json-file", path("l.json")});
  expect_ok(ran);
  // Those made for square products.
  const std::vector<std::string> rungs = {"c01_naive", "c02_blocked", "c03_direct"};
  const Json json = Json::parse(read_file(path("l.json")), nullptr, false);
  EXPECT_EQ(json["kind"], "ladder");
  ASSERT_EQ(json["results"].size(), rungs.size());
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const Json& row = json["results"][i];
    EXPECT_EQ(row["rung"], rungs[i]);
    EXPECT_NE(row["why"], "");
    EXPECT_TRUE(contains(ran.out, rungs[i])) << ran.out;
    EXPECT_TRUE(contains(ran.out, row["why"])) << ran.out;
  }
  expect_error(run_tessera({"ladder", "-n", "0"}), 2, {"0"});
  const Ran alone =
      run_tessera({"ladder", "-n", "16", "--device", "cpu", "--peer", "cublas", "--seconds", "0"});
  EXPECT_EQ(alone.code, 4);
  EXPECT_TRUE(contains(alone.out, "c02_blocked")) << alone.out;
  EXPECT_TRUE(contains(alone.err, "peer cublas")) << alone.err;
}

}  // namespace
}  // namespace tessera::test
