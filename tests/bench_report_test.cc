// Rows, ratios, geometric means and their JSON.
#include "bench/report.h"

#include <gtest/gtest.h>

namespace tessera::bench {
namespace {

Row row(const std::string& requested, std::int64_t n, double seconds, bool is_peer = false) {
  Row r;
  r.what = dense_case(Op::kN, Op::kT, n, n, n, DType::kF32);
  r.what.suite = "square";
  r.requested = requested;
  r.kernel = is_peer ? "" : "cpu.fake.f32";
  r.is_peer = is_peer;
  r.disposition = Disposition::kPassed;
  r.seconds = {seconds, seconds, seconds};
  r.timer = "steady clock";
  return r;
}

RunReport sample() {
  RunReport report;
  report.roofs.fma_gflops = 100;
  report.peers.push_back({"blas", "1.2", "libblas.so", {"a note"}});
  report.rows = {row("auto", 100, 1e-3), row("blas", 100, 2e-3, true), row("auto", 200, 1e-3),
                 row("blas", 200, 4e-3, true), row("auto", 300, 1e-3)};
  report.rows[4].disposition = Disposition::kIncorrect;
  report.rows[4].seconds.clear();
  report.rows[4].detail = "row 3 is wrong";
  report.left_out.push_back({"x: not there", 4});
  return report;
}

TEST(BenchReport, RatiosAndMeansAreOverCasesThatBothPassed) {
  const RunReport report = sample();
  EXPECT_DOUBLE_EQ(ratio_to(report, report.rows[0], "blas"), 2);
  EXPECT_DOUBLE_EQ(ratio_to(report, report.rows[2], "blas"), 4);
  EXPECT_EQ(ratio_to(report, report.rows[4], "blas"), 0);
  EXPECT_EQ(ratio_to(report, report.rows[0], "nobody"), 0);
  const auto means = geometric_means(report);
  ASSERT_EQ(means.size(), 2U);
  EXPECT_EQ(means[0].requested, "auto");
  EXPECT_EQ(means[0].cases, 2);
  // 2e6 and 16e6 operations at 100 GFLOP/s: 20 and 160 us, of a millisecond each.
  EXPECT_NEAR(means[0].of_roofline, std::sqrt(0.02 * 0.16), 1e-12);
  ASSERT_EQ(means[0].ratios.size(), 1U);
  EXPECT_NEAR(means[0].ratios[0].second, std::sqrt(8.0), 1e-12);
}

TEST(BenchReport, CasesThatDifferInAStrideOnlyAreNotCompared) {
  RunReport report = sample();
  report.rows[0].what.desc.batch = report.rows[1].what.desc.batch = 2;
  EXPECT_DOUBLE_EQ(ratio_to(report, report.rows[0], "blas"), 2);
  report.rows[0].what.desc.b.batch_stride = 10000;
  EXPECT_EQ(ratio_to(report, report.rows[0], "blas"), 0);
}

TEST(BenchReport, JsonDescribesTheCallAndGivesNoSpeedToAWrongRow) {
  const RunReport report = sample();
  const Json json = report_json(report);
  ASSERT_EQ(json["results"].size(), 5U);
  const Json& first = json["results"][0];
  EXPECT_EQ(first["suite"], "square");
  EXPECT_EQ(first["m"], 100);
  EXPECT_EQ(first["op_a"], "N");
  EXPECT_EQ(first["op_b"], "T");
  EXPECT_DOUBLE_EQ(first["gflops"].get<double>(), 2e6 / 1e-3 / 1e9);
  EXPECT_DOUBLE_EQ(first["of_fma_peak"].get<double>(), 0.02);
  EXPECT_DOUBLE_EQ(first["ratio_to"]["blas"].get<double>(), 2);
  EXPECT_EQ(first["bound"], "compute");
  const Json& wrong = json["results"][4];
  EXPECT_EQ(wrong["disposition"], "incorrect");
  EXPECT_EQ(wrong["detail"], "row 3 is wrong");
  for (const char* field : {"median_s", "gflops", "gbps", "of_roofline", "ratio_to"}) {
    EXPECT_FALSE(wrong.contains(field)) << field;
  }
  EXPECT_EQ(json["peers"][0]["notes"][0], "a note");
  EXPECT_EQ(json["left_out"][0], "x: not there");
}

TEST(BenchReport, ClocksKeepTheirExtremes) {
  ClockRange range;
  range.add({1980, 3201, 1980, 40, 300, {}});
  range.add({1700, 3201, 1980, 60, 690, {"power cap"}});
  range.add({1900, 3201, 1980, 55, 500, {"power cap"}});
  EXPECT_EQ(range.start_mhz, 1980);
  EXPECT_EQ(range.lowest_mhz, 1700);
  EXPECT_EQ(range.end_mhz, 1900);
  EXPECT_EQ(range.highest_power_w, 690);
  EXPECT_EQ(range.highest_temperature_c, 60);
  EXPECT_EQ(range.throttled, std::vector<std::string>{"power cap"});
}

TEST(BenchCase, TextNamesWhatIsNotPlain) {
  Case c = dense_case(Op::kT, Op::kN, 5124, 9124, 1760, DType::kF32);
  EXPECT_EQ(case_text(c), "5124x9124x1760 TN");
  EXPECT_EQ(c.desc.a.rows, 1760);
  EXPECT_EQ(c.desc.a.ld, 5124);
  c.desc.dtype = DType::kF64;
  c.desc.batch = 3;
  c.desc.c.ld = 9200;
  c.beta = 0.5;
  EXPECT_EQ(case_text(c), "5124x9124x1760 TN f64 ldc=9200 batch 3 beta 0.5");
}

TEST(BenchCase, BytesCountSharedMatricesOnce) {
  Case c = dense_case(Op::kN, Op::kN, 10, 20, 30, DType::kF32);
  EXPECT_EQ(bytes_of(c), 4 * (300 + 600 + 200));
  c.beta = 1;
  c.desc.batch = 2;
  c.desc.a.batch_stride = 300;
  c.desc.b.batch_stride = 0;
  EXPECT_EQ(bytes_of(c), 4 * (2 * 300 + 600 + 2 * 2 * 200));
  EXPECT_EQ(flops_of(c), 2.0 * 10 * 20 * 30 * 2);
}

}  // namespace
}  // namespace tessera::bench
