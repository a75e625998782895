// Pairing rows of two runs and judging them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/compare.h"

namespace tessera::bench {
namespace {

FileRow row(std::int64_t size, const std::string& requested, const std::string& kernel,
            double median_s, std::optional<double> noise = 0.01) {
  FileRow r;
  r.what = dense_case(Op::kN, Op::kN, size, size, size, DType::kF32);
  r.requested = requested;
  r.kernel = kernel;
  r.disposition = Disposition::kPassed;
  r.disposition_text = "passed";
  r.median_s = median_s;
  r.noise = noise;
  return r;
}

FileRow failed(FileRow r, Disposition disposition, const std::string& text) {
  r.disposition = disposition;
  r.disposition_text = text;
  r.detail = "why";
  r.median_s.reset();
  return r;
}

ResultsFile file(std::vector<FileRow> rows) {
  ResultsFile f;
  f.path = "f.json";
  f.rows = std::move(rows);
  return f;
}

Verdict verdict_of(const FileRow& before, const FileRow& after) {
  const Comparison c = compare_results(file({before}), file({after}));
  EXPECT_EQ(c.rows.size(), 1U);
  return c.rows.at(0).verdict;
}

TEST(CompareResults, NoiseDecides) {
  const auto timed = [](double s, std::optional<double> noise) {
    return row(64, "auto", "k", s, noise);
  };
  EXPECT_EQ(verdict_of(timed(1, 0.01), timed(0.9, 0.01)), Verdict::kFaster);
  EXPECT_EQ(verdict_of(timed(1, 0.01), timed(1.1, 0.01)), Verdict::kSlower);
  EXPECT_EQ(verdict_of(timed(1, 0.06), timed(0.9, 0.06)), Verdict::kSame);
  EXPECT_EQ(verdict_of(timed(1, 0.01), timed(1.1, 0.2)), Verdict::kSame);
  // A difference below 1 % is none, however quiet the runs.
  EXPECT_EQ(verdict_of(timed(1, 0.0), timed(1.009, 0.0)), Verdict::kSame);
  EXPECT_EQ(verdict_of(timed(1, 0.0), timed(1.02, 0.0)), Verdict::kSlower);
}

TEST(CompareResults, ExtremesWhereNoiseIsUnknown) {
  FileRow before = row(64, "auto", "k", 1, {}), after = row(64, "auto", "k", 1.5, {});
  before.min_s = 0.9;
  before.max_s = 1.2;
  after.min_s = 1.3;
  after.max_s = 1.6;
  EXPECT_EQ(verdict_of(before, after), Verdict::kSlower);
  EXPECT_EQ(verdict_of(after, before), Verdict::kFaster);
  after.min_s = 1.1;
  EXPECT_EQ(verdict_of(before, after), Verdict::kSame);
}

TEST(CompareResults, EveryPartOfTheCaseTellsRowsApart) {
  const FileRow base = row(64, "auto", "k", 1);
  std::vector<FileRow> others(8, base);
  others[0].what.m = 65;
  others[1].what.desc.op_b = Op::kT;
  others[2].what.desc.dtype = DType::kF64;
  others[3].cache = "cold";
  others[4].what.beta = 1;
  others[5].what.desc.batch = 2;
  others[6].is_peer = true;
  others[7].requested = "other";
  others[7].kernel = "other";
  for (const FileRow& other : others) {
    const Comparison c = compare_results(file({base}), file({other}));
    EXPECT_TRUE(c.rows.empty()) << case_text(other.what);
    EXPECT_EQ(c.only_old.size(), 1U);
    EXPECT_EQ(c.only_new.size(), 1U);
    EXPECT_EQ(c.kernels.rows, 0);
  }
  FileRow elsewhere = base;
  elsewhere.what.suite = "square";
  EXPECT_EQ(compare_results(file({base}), file({elsewhere})).rows.size(), 1U);
}

TEST(CompareResults, PairsTheLikestRows) {
  // auto chose another kernel; the kernel it had chosen is there by name as well.
  const Comparison c = compare_results(file({row(64, "auto", "a", 1), row(64, "b", "b", 2)}),
                                       file({row(64, "b", "b", 4), row(64, "auto", "b", 3)}));
  ASSERT_EQ(c.rows.size(), 2U);
  for (const ComparedRow& pair : c.rows) EXPECT_EQ(pair.old_row.requested, pair.new_row.requested);
  // Named by its stem before and by its id now.
  const Comparison named =
      compare_results(file({row(64, "k06", "id", 1)}), file({row(64, "id", "id", 1)}));
  EXPECT_EQ(named.rows.size(), 1U);
  // Two configurations of one request are not paired by the request alone.
  const Comparison twice = compare_results(file({row(64, "k06", "a", 1), row(64, "k06", "b", 1)}),
                                           file({row(64, "k06", "b", 1), row(64, "k06", "c", 1)}));
  ASSERT_EQ(twice.rows.size(), 2U);
  EXPECT_EQ(twice.rows[0].old_row.kernel + twice.rows[0].new_row.kernel, "bb");
  // The same case in two suites.
  FileRow first = row(64, "auto", "k", 1), second = row(64, "auto", "k", 2);
  first.what.suite = "x";
  second.what.suite = "y";
  const Comparison suites = compare_results(file({first, second}), file({second, first}));
  ASSERT_EQ(suites.rows.size(), 2U);
  for (const ComparedRow& pair : suites.rows) EXPECT_EQ(pair.ratio, 1.0);
}

TEST(CompareResults, ChangedDispositionsComeFirst) {
  const FileRow a = row(64, "auto", "k", 1), b = row(65, "auto", "k", 1),
                d = row(66, "auto", "k", 1), e = row(67, "auto", "k", 1);
  const Comparison c = compare_results(
      file({a, b, d, failed(e, Disposition::kIncorrect, "incorrect")}),
      file({row(64, "auto", "k", 2), failed(b, Disposition::kIncorrect, "incorrect"),
            failed(d, Disposition::kNotSupported, "not supported"), e}));
  ASSERT_EQ(c.rows.size(), 4U);
  EXPECT_EQ(c.rows[0].old_row.what.m, 65);
  EXPECT_TRUE(c.rows[1].disposition_changed() && c.rows[2].disposition_changed());
  EXPECT_EQ(c.rows[3].verdict, Verdict::kSlower);
  EXPECT_EQ(c.broken, 1);
  EXPECT_FALSE(c.rows[0].ratio.has_value());
  EXPECT_EQ(c.kernels.rows, 1);
  const std::string text = comparison_text(c);
  EXPECT_LT(text.find("65x65x65"), text.find("64x64x64")) << text;
  EXPECT_NE(text.find("1 slower, 0 faster, 0 same, 3 with another disposition"), text.npos) << text;
}

TEST(CompareResults, GeometricMeansOfKernelsAndPeersApart) {
  FileRow peer = row(64, "cublas", "", 1);
  peer.is_peer = true;
  FileRow peer_now = peer;
  peer_now.median_s = 4;
  const Comparison c =
      compare_results(file({row(64, "auto", "k", 2), row(65, "auto", "k", 1), peer}),
                      file({row(64, "auto", "k", 1), row(65, "auto", "k", 8), peer_now}));
  EXPECT_EQ(c.kernels.rows, 2);
  EXPECT_NEAR(c.kernels.ratio, std::sqrt(2.0 / 8), 1e-12);
  EXPECT_EQ(c.peers.rows, 1);
  EXPECT_NEAR(c.peers.ratio, 0.25, 1e-12);
}

TEST(CompareResults, WarnsWhereRunsMayNotBeCompared) {
  ResultsFile a = file({row(64, "auto", "k", 1)}), b = a;
  b.path = "g.json";
  EXPECT_TRUE(compare_results(a, b).warnings.empty());
  a.device_name = "one";
  b.device_name = "two";
  a.device = {{"driver", "1"}, {"threads", "2"}};
  b.device = {{"driver", "2"}, {"threads", "4"}};
  a.conditions = {{"data", "normal"}, {"seconds", "1.0"}};
  b.conditions = {{"data", "zeros"}};
  a.provenance = {{"compiler", "gcc"}, {"build_type", "Release"}};
  b.provenance = {{"compiler", "gcc"}, {"build_type", "Debug"}, {"slow_build", "no optimisation"}};
  const std::vector<std::string> warnings = compare_results(a, b).warnings;
  for (const char* piece :
       {"device differs: one, then two", "driver differs", "threads differs", "data differs",
        "build type differs", "g.json does not say: seconds", "g.json: no optimisation"}) {
    EXPECT_TRUE(std::any_of(warnings.begin(), warnings.end(), [&](const std::string& w) {
      return w.find(piece) != w.npos;
    })) << piece;
  }
  EXPECT_EQ(warnings.size(), 7U);
}

TEST(CompareResults, FilesAndJson) {
  const Comparison c = compare_results(read_results(TEST_DATA "/bench_old.json"),
                                       read_results(TEST_DATA "/bench_new.json"));
  EXPECT_EQ(c.broken, 1);
  const Json json = comparison_json(c);
  EXPECT_EQ(json["passed_then_incorrect"], 1);
  EXPECT_EQ(json["faster"], 1);
  EXPECT_EQ(json["same"], 1);
  EXPECT_NEAR(json["geomean"]["ratio"].get<double>(), 1.25, 1e-12);
  EXPECT_EQ(json["only_old"].size(), 1U);
  EXPECT_EQ(json["rows"][0]["verdict"], "disposition changed");
  // A file against itself: all the same.
  const ResultsFile old_file = read_results(RESULTS "/2026-11-30_h200_k01-k06_square.json");
  const Comparison same = compare_results(old_file, old_file);
  EXPECT_EQ(same.rows.size(), old_file.rows.size());
  EXPECT_TRUE(same.only_old.empty() && same.only_new.empty() && same.warnings.empty());
  for (const ComparedRow& pair : same.rows) EXPECT_EQ(pair.ratio, 1.0);
}

}  // namespace
}  // namespace tessera::bench
