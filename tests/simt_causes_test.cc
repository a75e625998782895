// Findings put in terms of their causes: their order, stores that leave their row, and the words of
// column-major products.
#include "simt/causes.h"

#include <gtest/gtest.h>

#include "simt/gemm/column_major.h"
#include "simt/gemm/store_overrun.h"

namespace tessera::simt {
namespace {

Finding finding(const std::string& rule, int line, const std::string& array = "C") {
  Finding f;
  f.rule = rule;
  f.kernel = "k";
  f.place = {"k.cu", line, 0, "k"};
  f.array = array;
  return f;
}

std::vector<std::string> rules(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& f : findings) out.push_back(f.rule);
  return out;
}

TEST(Causes, ComeFirst) {
  const std::vector<Finding> sorted = causes_first(
      {finding(rule::kWrongResult, 9), finding(rule::kBlockRace, 9), finding(rule::kSharedRaw, 4),
       finding(rule::kGlobalBounds, 9), finding(rule::kLaunch, 20)});
  EXPECT_EQ(rules(sorted),
            (std::vector<std::string>{rule::kLaunch, rule::kGlobalBounds, rule::kBlockRace,
                                      rule::kSharedRaw, rule::kWrongResult}));
}

TEST(Causes, NothingFollowsAMisalignedAccess) {
  const std::vector<Finding> all =
      causes_first({finding(rule::kGlobalBounds, 7, "B"), finding(rule::kMisaligned, 7, "B"),
                    finding(rule::kGlobalBounds, 8, "B"), finding(rule::kGlobalBounds, 7, "A"),
                    finding(rule::kMisaligned, 7, "A4"), finding(rule::kWrongResult, 7, "B"),
                    finding(rule::kCrash, 7, "")});
  EXPECT_EQ(rules(all),
            (std::vector<std::string>{rule::kMisaligned, rule::kGlobalBounds, rule::kGlobalBounds,
                                      rule::kMisaligned, rule::kWrongResult}));
  EXPECT_EQ(all[1].place.line, 8);
  EXPECT_EQ(all[2].array, "A");
}

/// Two stores of one line to an element of C, by blocks of 8 x 8.
Finding race(std::int64_t element, const Thread& one, const Thread& other) {
  Finding f = finding(rule::kBlockRace, 9);
  f.other_place = f.place;
  f.element = "[" + std::to_string(element) + "]";
  f.thread = one;
  f.other_thread = other;
  return f;
}
Launch eights() {
  Launch launch;
  launch.grid = {3, 2, 1};
  launch.block = {8, 8, 1};
  return launch;
}
// Row 4, column 21 of 20 lies where row 5, column 1 does.
const Thread kPast{{2, 0, 0}, {5, 4, 0}}, kOwner{{0, 0, 0}, {1, 5, 0}};
constexpr std::int64_t kBoth = 4 * 20 + 21;

TEST(StoreOverrun, IsNamedInsteadOfTheRace) {
  for (const bool past_first : {true, false}) {
    std::vector<Finding> all = {
        race(kBoth, past_first ? kPast : kOwner, past_first ? kOwner : kPast)};
    ASSERT_EQ(name_store_overrun(all, eights(), 20), 4);
    const Finding& f = all.at(0);
    EXPECT_EQ(f.rule, rule::kRowOverrun);
    EXPECT_EQ(f.element, "[4][21]");
    EXPECT_EQ(f.thread->thread[0], 5u);
    EXPECT_NE(f.message.find("C[4][21], past the end of the row: it lands in C[5][1]"),
              std::string::npos)
        << f.message;
    EXPECT_NE(f.remedy.find("column < N"), std::string::npos);
  }
}

TEST(StoreOverrun, TakesTheOtherRacesOfItsLineAlong) {
  Finding reads = race(kBoth, kOwner, kPast);
  reads.other_place->column = 20;
  Finding elsewhere = reads;
  elsewhere.other_place->line = 4;
  std::vector<Finding> all = {reads, race(kBoth, kPast, kOwner), elsewhere};
  EXPECT_EQ(name_store_overrun(all, eights(), 20), 4);
  EXPECT_EQ(rules(all), (std::vector<std::string>{rule::kRowOverrun, rule::kBlockRace}));
  EXPECT_EQ(all[1].other_place->line, 4);
}

TEST(StoreOverrun, OfThreadsWithSeveralElements) {
  // Blocks of 8 threads with 32 columns: the third reaches to 96.
  const Thread past{{2, 0, 0}, {1, 3, 0}}, owner{{0, 0, 0}, {5, 4, 0}};
  Finding outside = finding(rule::kGlobalBounds, 9);
  outside.thread = Thread{{2, 1, 0}, {1, 0, 0}};
  std::vector<Finding> all = {race(3 * 80 + 85, past, owner), outside};
  EXPECT_EQ(name_store_overrun(all, eights(), 80), 16);
  EXPECT_EQ(rules(all), (std::vector<std::string>{rule::kRowOverrun, rule::kGlobalBounds}));
  all = {race(3 * 80 + 97, past, owner), outside};
  EXPECT_EQ(name_store_overrun(all, eights(), 80), 0);
  // As when blocks add up parts of one sum.
  all = {race(3 * 80 + 85, past, owner)};
  EXPECT_EQ(name_store_overrun(all, eights(), 80), 0);
}

TEST(StoreOverrun, OtherRacesStay) {
  // Both within their rows; a store and a load; shared memory.
  std::vector<Finding> all = {race(2 * 20 + 3, {{0, 0, 0}, {3, 2, 0}}, {{0, 1, 0}, {3, 2, 0}}),
                              race(kBoth, kPast, kOwner), race(kBoth, kPast, kOwner)};
  all[1].other_place->line = 3;
  all[2].rule = rule::kSharedWaw;
  EXPECT_EQ(name_store_overrun(all, eights(), 20), 0);
  EXPECT_EQ(rules(all),
            (std::vector<std::string>{rule::kBlockRace, rule::kBlockRace, rule::kSharedWaw}));
}

TEST(ColumnMajor, WordsChangePlaces) {
  EXPECT_EQ(in_column_major("guard the load of A with its own column: k index < K"),
            "guard the load of B with its own row: k index < K");
  EXPECT_EQ(in_column_major("C is wrong in the tail of M, rows 64 to 71; C[64][3] is 0"),
            "C is wrong in the tail of N, columns 64 to 71; C[3][64] is 0");
  EXPECT_EQ(in_column_major("store to C[row * N + col]"), "store to C[column * M + row]");
  EXPECT_EQ(in_column_major("index B with [p * N + col]"), "index A with [p * M + row]");
  EXPECT_EQ(in_column_major("it is the transpose of A*B"), "it is the transpose of A*B");
  EXPECT_EQ(in_column_major("every matrix is taken as column-major"),
            "every matrix is taken as row-major");
  EXPECT_EQ(in_column_major("each element holds the row below's value"),
            "each element holds the column to the right's value");
  EXPECT_EQ(in_column_major("each element holds its left neighbour's value"),
            "each element holds the row above's value");
  EXPECT_EQ(in_column_major("As[ty][p], MAX, [..][7]"), "As[ty][p], MAX, [7][..]");
  Finding f = finding(rule::kRowOverrun, 3, "A");
  f.element = "[4][75]";
  f = in_column_major(f);
  EXPECT_EQ(f.array, "B");
  EXPECT_EQ(f.element, "[75][4]");
}

}  // namespace
}  // namespace tessera::simt
