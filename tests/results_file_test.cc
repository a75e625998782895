// Reading what a bench wrote, and refusing what it cannot have written.
#include "bench/results_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tessera/error.h"

namespace tessera::bench {
namespace {

namespace fs = std::filesystem;

class ResultsFileTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = fs::temp_directory_path() / ("tessera_results_" + std::to_string(::getpid()) + ".json");
  }
  void TearDown() override { fs::remove(path_); }

  static Json good() {
    std::ifstream in(TEST_DATA "/bench_old.json");
    return Json::parse(in);
  }
  ResultsFile read(const std::string& text) {
    std::ofstream(path_, std::ios::binary) << text;
    return read_results(path_);
  }
  /// The message of the refusal; fails the test when there is none.
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kBadFile);
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find(path_), std::string::npos) << e.what();
      return e.what();
    }
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
    return "";
  }

  std::string path_;
};

TEST_F(ResultsFileTest, ReadsEveryField) {
  const ResultsFile file = read_results(TEST_DATA "/bench_old.json");
  EXPECT_EQ(file.device_name, "made up for tests");
  EXPECT_EQ(file.device_kind, "cuda");
  EXPECT_EQ(fact(file.device, "driver"), "1.0");
  EXPECT_EQ(fact(file.conditions, "cache"), "warm, cold");
  EXPECT_EQ(fact(file.provenance, "cuda_build"), "");
  EXPECT_EQ(file.peaks.fma_gflops, 60000);
  EXPECT_EQ(file.peaks.memory_gbps, 4000);
  EXPECT_FALSE(file.peaks.shared_gbps.has_value());
  ASSERT_EQ(file.peers.size(), 1U);
  EXPECT_EQ(file.peers[0].notes, std::vector<std::string>{"made up"});
  EXPECT_EQ(file.left_out, std::vector<std::string>{"square.csv:4: made up"});
  ASSERT_EQ(file.geomeans.size(), 1U);
  EXPECT_EQ(file.geomeans[0].ratio_to[0].second, 1.2);

  ASSERT_EQ(file.rows.size(), 5U);
  const FileRow& row = file.rows[0];
  EXPECT_TRUE(row.passed());
  EXPECT_EQ(row.median_s, 5e-5);
  EXPECT_NEAR(row.gflops(), 42949.67296, 1e-6);
  EXPECT_DOUBLE_EQ(row.intensity(), 2.0 * 1024 / 12);
  EXPECT_EQ(row.remarks.size(), 1U);
  EXPECT_EQ(row.ratio_to[0].first, "cublas");
  ASSERT_EQ(row.launches.size(), 1U);
  EXPECT_EQ(row.launches[0].grid[1], 16);
  EXPECT_EQ(row.counters[0].second, 1e6);
  EXPECT_TRUE(file.rows[2].is_peer);
  EXPECT_EQ(file.rows[2].name(), "cublas");
  const FileRow& refused = file.rows[4];
  EXPECT_EQ(refused.disposition, Disposition::kNotSupported);
  EXPECT_FALSE(refused.median_s.has_value());
  EXPECT_EQ(refused.what.desc.op_a, Op::kT);
  EXPECT_EQ(refused.what.desc.a.rows, 3);
}

TEST_F(ResultsFileTest, ReadsTheFilesOfBefore) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(RESULTS)) {
    if (entry.path().extension() != ".json") continue;
    const ResultsFile file = read_results(entry.path());
    EXPECT_FALSE(file.rows.empty()) << entry.path();
    EXPECT_NE(file.device_name, "") << entry.path();
    ++files;
  }
  EXPECT_GE(files, 5);
  const ResultsFile cpu = read_results(RESULTS "/2026-11-30_cpu_1thread.json");
  EXPECT_NEAR(cpu.peaks.fma_gflops.value_or(0), 236.92, 0.01);
  EXPECT_FALSE(cpu.peaks.memory_gbps.has_value());
  EXPECT_EQ(cpu.rows[0].timer, "steady clock");
  EXPECT_EQ(fact(cpu.conditions, "data"), "random normal, mean 0, variance 1");
}

TEST_F(ResultsFileTest, LeastFileAndUnknownFields) {
  const ResultsFile file = read(R"({"future": {"x": [1]}, "ops": "TN", "dtype": "f64", "results":
      [{"m": 2, "n": 3, "k": 4, "requested": "auto", "disposition": "passed", "median_s": 1,
        "layouts": "row col row", "ldb": 7, "batch": 3, "beta": 1, "future": 1}]})");
  const FileRow& row = file.rows[0];
  EXPECT_EQ(case_text(row.what), "2x3x4 TN f64 b column-major ldb=7 batch 3 beta 1");
  EXPECT_DOUBLE_EQ(bytes_of(row.what), 8.0 * 3 * (2 * 4 + 4 * 3 + 2 * 2 * 3));
  EXPECT_EQ(row.cache, "warm");
  EXPECT_EQ(file.kind, "bench");
}

TEST_F(ResultsFileTest, TextsAreFreedOfControlCharacters) {
  Json json = good();
  json["results"][4]["detail"] = "two\nlines\x1b[31m\xc2\x9b";
  json["device"]["name"] = "a\tb";
  const ResultsFile file = read(json.dump());
  EXPECT_EQ(file.rows[4].detail, "two lines\\x1b[31m\\x9b");
  EXPECT_EQ(file.device_name, "a b");
}

TEST_F(ResultsFileTest, DamagedFilesAreRefused) {
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal("{\"results\": [").find("byte"), std::string::npos);
  EXPECT_NE(refusal("[1, 2]").find("object"), std::string::npos);
  EXPECT_NE(refusal("{}").find("results is missing"), std::string::npos);
  EXPECT_NE(refusal("{\"results\": []}").find("results is empty"), std::string::npos);
  EXPECT_NE(refusal("{\"results\": [3]}").find("results[0]"), std::string::npos);
  EXPECT_NE(refusal("{\"results\": {}}").find("list"), std::string::npos);
  refusal("{\"results\": [{\"m\": NaN}]}");
  refusal("{\"results\": [{\"m\": 1e999}]}");
  refusal("\xff\xfe{}");
  refusal(std::string(5000, '['));
  std::string deep = "{\"device\": ";
  for (int i = 0; i < 100000; ++i) deep += "{\"a\":";
  refusal(deep);
  EXPECT_THROW(read_results(path_ + ".none"), Error);
  EXPECT_THROW(read_results(fs::temp_directory_path()), Error);
  const std::string whole = good().dump();
  for (const std::size_t length : {whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
    refusal(whole.substr(0, length));
  }
}

TEST_F(ResultsFileTest, WrongFieldsAreNamed) {
  struct Fault {
    const char* pointer;  ///< of the field that is changed
    Json value;
    const char* named;  ///< what the refusal must say; the field by default
  };
  const std::vector<Fault> faults = {
      {"/results/0/m", "1024", "results[0].m"},
      {"/results/0/m", 0, "results[0].m"},
      {"/results/0/n", -5, "results[0].n"},
      {"/results/0/k", 10.5, "results[0].k"},
      {"/results/0/k", 1e300, "results[0].k"},
      {"/results/0/m", 18446744073709551615U, "results[0].m"},
      {"/results/0/m", nullptr, "results[0].m"},
      {"/results/0/batch", 0, "results[0].batch"},
      {"/results/0/lda", 3, "results[0].lda"},
      {"/results/0/layouts", "row row", "results[0].layouts"},
      {"/results/0/layouts", "row row row row", "results[0].layouts"},
      {"/results/0/layouts", "row diagonal row", "results[0].layouts"},
      {"/results/0/op_a", "C", "results[0].op_a"},
      {"/results/0/dtype", "f31", "results[0].dtype"},
      {"/results/0/median_s", "fast", "results[0].median_s"},
      {"/results/0/median_s", "nan", "results[0].median_s"},
      {"/results/0/median_s", 0, "results[0].median_s"},
      {"/results/0/median_s", -1e-3, "results[0].median_s"},
      {"/results/0/median_s", nullptr, "results[0].median_s"},
      {"/results/0/min_s", 1.0, "results[0].min_s"},
      {"/results/0/max_s", 1e-9, "results[0].max_s"},
      {"/results/0/noise", -0.1, "results[0].noise"},
      {"/results/0/disposition", "splendid", "results[0].disposition"},
      {"/results/0/disposition", nullptr, "results[0].disposition"},
      {"/results/0/peer", "no", "results[0].peer"},
      {"/results/0/ratio_to", 3, "results[0].ratio_to"},
      {"/results/0/ratio_to/cublas", "1.2", "results[0].ratio_to.cublas"},
      {"/results/0/remarks", "x", "results[0].remarks"},
      {"/results/0/remarks/0", 1, "results[0].remarks"},
      {"/results/0/launches/0/grid", "x", "results[0].launches[0].grid"},
      {"/results/0/requested", 4, "results[0].requested"},
      {"/peaks", 5, "peaks"},
      {"/peaks/fma_gflops", "60", "peaks.fma_gflops"},
      {"/device", "H200", "device"},
      {"/device/name", 7, "device.name"},
      {"/peers/0/notes", 1, "peers[0].notes"},
      {"/left_out", "x", "left_out"},
      {"/geomeans/0/cases", 1.5, "geomeans[0].cases"},
  };
  for (const Fault& fault : faults) {
    Json json = good();
    json[Json::json_pointer(fault.pointer)] = fault.value;
    const std::string message = refusal(json.dump());
    EXPECT_NE(message.find(std::string(": ") + fault.named + " "), std::string::npos)
        << fault.pointer << " = " << fault.value << " -> " << message;
  }
}

}  // namespace
}  // namespace tessera::bench
