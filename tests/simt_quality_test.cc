// Which accesses are warned of, and with which remedy.
#include <gtest/gtest.h>

#include "simt/report/banks.h"
#include "simt/report/quality.h"
#include "simt_report_support.h"
#include "support/errors.h"

namespace tessera::simt::test {
namespace {

std::vector<std::int64_t> lanes(std::int64_t (*offset)(int)) {
  std::vector<std::int64_t> all;
  for (int lane = 0; lane < 32; ++lane) all.push_back(offset(lane));
  return all;
}

TEST(Banks, CountsWavefronts) {
  EXPECT_EQ(wavefronts(lanes([](int i) { return std::int64_t{4} * i; }), 4), 1u);
  EXPECT_EQ(wavefronts(lanes([](int i) { return std::int64_t{8} * i; }), 4), 2u);
  EXPECT_EQ(wavefronts(lanes([](int i) { return std::int64_t{128} * i; }), 4), 32u);
  EXPECT_EQ(wavefronts(lanes([](int i) { return std::int64_t{132} * i; }), 4), 1u);
  EXPECT_EQ(wavefronts(lanes([](int) { return std::int64_t{12}; }), 4), 1u) << "broadcast";
  EXPECT_EQ(wavefronts(lanes([](int i) { return i < 16 ? std::int64_t{0} : -1; }), 4), 1u);
  EXPECT_EQ(wavefronts(lanes([](int i) { return std::int64_t{8} * i; }), 8), 2u);
  EXPECT_EQ(wavefronts(lanes([](int i) { return std::int64_t{16} * i; }), 16), 4u);
  EXPECT_EQ(wavefronts(lanes([](int i) { return std::int64_t{32} * i; }), 16), 8u);
  // As an H200 counts it: two halves of a warp do not go together (tests/simt_banks_test.cc).
  EXPECT_EQ(wavefronts(lanes([](int) { return std::int64_t{64}; }), 16), 2u) << "broadcast";
  EXPECT_EQ(wavefronts(lanes([](int i) { return std::int64_t{2} * i; }), 2), 1u);
  EXPECT_EQ(ideal_wavefronts(lanes([](int i) { return std::int64_t{16} * i; }), 16), 4u);
  EXPECT_EQ(ideal_wavefronts(lanes([](int i) { return std::int64_t{2} * i; }), 2), 1u);
}

TEST(Banks, AColumnOfATileNeedsOneElement) {
  Site s = shared_site("As", 6, 4, 32, 1);
  s.lane_stride = s.row_pitch = 32 * 4;
  const auto p = best_padding(s, {s});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->bytes, 4);
  EXPECT_EQ(p->pitch, 132);
  EXPECT_TRUE(p->is_free);
}

TEST(Banks, WideAccessesKeepTheirAlignment) {
  // Stores walk down a column, loads take 16 bytes of a row.
  Site store = shared_site("As", 6, 4, 32, 1), load = shared_site("As", 9, 16, 4, 4);
  store.is_write = true;
  store.lane_stride = store.row_pitch = load.row_pitch = 32 * 4;
  load.lane_stride = 16;
  const auto p = best_padding(store, {store, load});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pitch % 16, 0);
  EXPECT_GT(p->bytes, 0);
  EXPECT_LT(p->wavefronts, 32) << "16 bytes of padding leave a conflict, but a smaller one";
}

// A tile of 8 x 128 that each thread fills with a vector of four, transposed: two lanes a row of A.
TEST(Banks, TransposedVectorStore) {
  Site store = shared_site("As", 6, 4, 2, 1), load = shared_site("As", 9, 16, 4, 4);
  store.is_write = true;
  store.row_pitch = load.row_pitch = 128 * 4;
  store.lane_offsets =
      lanes([](int i) { return static_cast<std::int64_t>((i % 2 * 4 * 128 + i / 2) * 4); });
  load.lane_stride = 16;
  EXPECT_EQ(wavefronts(store.lane_offsets, 4), 2u);
  const auto p = best_padding(store, {store, load});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->bytes, 16);
  EXPECT_TRUE(p->is_free);
}

TEST(Banks, UnknownPatternGetsTheRuleOfThumb) {
  Site s = shared_site("As", 6, 4, 16, 1);
  s.row_pitch = 64;
  auto p = best_padding(s, {s});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pitch, 68);
  EXPECT_FALSE(p->is_simulated);
  s.bytes = 16;
  p = best_padding(s, {s});
  ASSERT_TRUE(p);
  EXPECT_EQ(p->pitch, 80) << "an odd number of 16-byte units";
  s.row_pitch = 0;
  EXPECT_FALSE(best_padding(s, {s}));
}

TEST(Verdict, SharedMemory) {
  EXPECT_EQ(verdict(shared_site("s", 1, 4, 1, 1)), Verdict::kGood);
  EXPECT_EQ(verdict(shared_site("s", 1, 16, 4, 4)), Verdict::kGood) << "4 is the ideal of 16 bytes";
  EXPECT_EQ(verdict(shared_site("s", 1, 8, 2, 2)), Verdict::kGood);
  EXPECT_EQ(verdict(shared_site("s", 1, 4, 1.05, 1)), Verdict::kGood) << "a few requests only";
  EXPECT_EQ(verdict(shared_site("s", 1, 4, 2, 1)), Verdict::kBankConflict);
  EXPECT_EQ(verdict(shared_site("s", 1, 16, 8, 4)), Verdict::kBankConflict);
  EXPECT_EQ(verdict(Site{}), Verdict::kGood) << "nothing is known";
}

TEST(Verdict, CoalescedAndBroadcastAreFree) {
  EXPECT_EQ(verdict(global_site("A", 1, 4, 4, 4, 128)), Verdict::kGood);
  EXPECT_EQ(verdict(global_site("A", 1, 16, 16, 16, 512)), Verdict::kGood);
  EXPECT_EQ(verdict(global_site("A", 1, 4, 1, 1, 4)), Verdict::kBroadcast);
  EXPECT_EQ(verdict(global_site("A", 1, 4, 2, 1, 8)), Verdict::kBroadcast) << "two rows of a block";
}

TEST(Verdict, UnalignedRowsAreNoFault) {
  EXPECT_EQ(verdict(global_site("A", 1, 4, 5, 4, 128)), Verdict::kEdges);
  EXPECT_EQ(verdict(global_site("A", 1, 4, 6, 4, 128)), Verdict::kEdges) << "two rows of 16";
  EXPECT_EQ(verdict(global_site("A", 1, 4, 8, 4, 128)), Verdict::kEdges) << "four rows of 8";
  Site s = global_site("A", 1, 4, 8, 4, 128);
  s.lane_offsets =
      lanes([](int i) { return static_cast<std::int64_t>(4 + i / 8 * 4000 + i % 8 * 4); });
  EXPECT_EQ(verdict(s), Verdict::kEdges);
}

TEST(Verdict, Scattered) {
  EXPECT_EQ(verdict(global_site("C", 1, 4, 32, 4, 128)), Verdict::kUncoalesced);
  EXPECT_EQ(verdict(global_site("C", 1, 4, 16, 4, 128)), Verdict::kUncoalesced) << "16 x 16 block";
  Site stride = global_site("C", 1, 4, 8, 4, 128);
  stride.lane_stride = 8;
  EXPECT_EQ(verdict(stride), Verdict::kUncoalesced) << "every other element";
  Site column = global_site("C", 1, 4, 32, 4, 128);
  column.lane_offsets = lanes([](int i) { return std::int64_t{4096} * i; });
  EXPECT_EQ(verdict(column), Verdict::kUncoalesced);
  Site bytes = global_site("u", 1, 1, 4, 1, 32);
  bytes.lane_stride = 4;
  EXPECT_EQ(verdict(bytes), Verdict::kFewUsefulBytes) << "one byte of each four";
}

TEST(Warnings, SayHowFarThreadsAreApart) {
  Site s = global_site("C", 8, 4, 32, 4, 128);
  s.lane_stride = 4096;
  s.is_write = true;
  const auto all = warnings(with_sites({s}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].rule, "uncoalesced");
  EXPECT_EQ(all[0].array, "C");
  EXPECT_EQ(all[0].place.line, 8);
  EXPECT_SAYS(all[0].message, "The store to C touches 32.00 sectors");
  EXPECT_SAYS(all[0].message, "where 4.00 would do");
  EXPECT_SAYS(all[0].remedy, "4096 bytes apart: let threadIdx.x walk the contiguous index");
}

TEST(Warnings, SayWhichPaddingHelps) {
  Site s = shared_site("As", 6, 4, 32, 1);
  s.lane_stride = s.row_pitch = 128;
  s.worst_degree = 32;
  const auto all = warnings(with_sites({s}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_SAYS(all[0].message, "32-way bank conflict in the load of As");
  EXPECT_SAYS(all[0].message, "3100 of 3200 are in excess");
  EXPECT_SAYS(all[0].remedy, "by 1 element: 33 instead of 32, a pitch of 132 bytes");
  EXPECT_SAYS(all[0].remedy, "No conflict remains.");
}

TEST(Warnings, PaddingCannotMendAStrideWithinARow) {
  Site s = shared_site("As", 6, 4, 2, 1);
  s.lane_stride = 8;
  s.row_pitch = 1024;
  const auto all = warnings(with_sites({s}));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_SAYS(all[0].remedy, "8 bytes apart");
  EXPECT_FALSE(tessera::test::contains(all[0].remedy, "Pad"));
}

TEST(Warnings, OneForEachLineAndArrayTheWorstFirst) {
  Site a = shared_site("As", 6, 4, 2, 1), b = shared_site("Bs", 6, 4, 8, 1), a2 = a, good = a;
  a2.kernel = "tiled<32>";
  good.wavefronts = good.ideal_wavefronts;
  good.place.column = 40;
  const auto all = warnings(with_sites({a, a2, b, good}));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].array, "Bs");
  EXPECT_EQ(all[1].array, "As");
}

TEST(Warnings, NoneForGoodAccesses) {
  EXPECT_TRUE(warnings(with_sites({shared_site("s", 1, 16, 4, 4), global_site("A", 2, 4, 5, 4, 128),
                                   global_site("B", 3, 4, 1, 1, 4), Site{}}))
                  .empty());
}

}  // namespace
}  // namespace tessera::simt::test
