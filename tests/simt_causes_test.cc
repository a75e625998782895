// Findings put in terms of their causes: their order, stores that leave their row, and the words of
// column-major products.
#include "simt/causes.h"

#include <gtest/gtest.h>

#include "simt/gemm/column_major.h"
#include "simt/gemm/said_as.h"
#include "simt/gemm/store_overrun.h"
#include "simt/source_shape.h"

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

/// A wrong result whose cause is only guessed at.
Finding guessed(int line) {
  Finding f = finding(rule::kWrongResult, line);
  f.message = "C is wrong everywhere (9 of 9 elements): B lacks a guard; C[0][0] is nan";
  f.cause = "B lacks a guard";
  f.at_fault = "B";
  return f;
}
Finding between(const std::string& rule, int line, int other, const std::string& array) {
  Finding f = finding(rule, line, array);
  f.other_place = f.place;
  f.other_place->line = other;
  return f;
}

TEST(Causes, AGuessYieldsToWhatWasSeen) {
  Finding read = finding(rule::kGlobalBounds, 10, "A");
  read.message = "thread 3 reads A[9], past the end";
  std::vector<Finding> all = causes_first({guessed(17), read});
  ASSERT_EQ(rules(all), (std::vector<std::string>{rule::kGlobalBounds, rule::kWrongResult}));
  EXPECT_EQ(all[1].message,
            "C is wrong everywhere (9 of 9 elements): it comes with global-out-of-bounds on A at "
            "line 10; C[0][0] is nan");
  EXPECT_EQ(all[1].remedy, "mend global-out-of-bounds on A at line 10 first, then check again");
  EXPECT_EQ(all[1].at_fault, "A");
  // Of two, it may be either.
  Finding other = read;
  other.array = "B";
  EXPECT_EQ(causes_first({guessed(17), read, other})[2].remedy,
            "mend global-out-of-bounds on A at line 10 or global-out-of-bounds on B at line 10 "
            "first, then check again");
  EXPECT_EQ(causes_first({guessed(17), read, other})[2].at_fault, "");
  // A store past the end spoils nothing of C.
  read.message = "thread 3 writes A[9], past the end";
  EXPECT_EQ(causes_first({guessed(17), read})[1].at_fault, "B");
  // What the values prove stays.
  read.message = "thread 3 reads A[9], past the end";
  Finding proven = guessed(17);
  proven.proof = Proof::kValues;
  EXPECT_EQ(causes_first({proven, read})[1].at_fault, "B");
  // But copies that have not landed give such values as well.
  Finding flight = finding(rule::kCopyInFlight, 12, "As");
  EXPECT_NE(causes_first({proven, flight})[1].message.find("comes with copy-in-flight on As"),
            std::string::npos);
}

TEST(Causes, AProvenIndexComesBeforeItsAccesses) {
  Finding wrong = finding(rule::kWrongResult, 17);
  wrong.at_fault = "C";
  wrong.remedy = "the leading dimension of C is N, not K";
  wrong.proof = Proof::kIndex;
  const std::vector<Finding> all =
      causes_first({finding(rule::kGlobalBounds, 17, "d_c"), finding(rule::kGlobalBounds, 9, "A"),
                    finding(rule::kBlockRace, 17, "d_c"), finding(rule::kNeverWritten, 17), wrong});
  EXPECT_EQ(rules(all), (std::vector<std::string>{rule::kWrongResult, rule::kGlobalBounds,
                                                  rule::kGlobalBounds, rule::kNeverWritten}));
  EXPECT_EQ(all[1].remedy, "mend the index of d_c first: the leading dimension of C is N, not K");
  EXPECT_EQ(all[2].remedy, "");
}

TEST(Causes, RacesOnAWrittenInputFollow) {
  const std::vector<Finding> all =
      causes_first({finding(rule::kGlobalRace, 7, "A"), finding(rule::kBlockRace, 7, "A"),
                    finding(rule::kBlockRace, 8, "C"), finding(rule::kInputWritten, 7, "A")});
  EXPECT_EQ(rules(all), (std::vector<std::string>{rule::kInputWritten, rule::kBlockRace}));
  EXPECT_EQ(all[1].array, "C");
}

TEST(Causes, RacesAcrossABarrierThatThreadsPassByFollow) {
  const Finding divergence = between(rule::kBarrierDivergence, 12, 15, "");
  const std::vector<Finding> all = causes_first(
      {between(rule::kSharedRaw, 10, 14, "sa"), between(rule::kSharedWar, 10, 14, "sa"),
       between(rule::kSharedRaw, 16, 18, "sb"), finding(rule::kEarlyReturn, 15, ""), divergence});
  EXPECT_EQ(rules(all), (std::vector<std::string>{rule::kBarrierDivergence, rule::kSharedRaw}));
  EXPECT_EQ(all[1].place.line, 16);
}

TEST(Causes, RacesOfACopyInFlightFollow) {
  Finding read = between(rule::kCopyInFlight, 23, 12, "As");
  read.message = "thread 0 reads As[1]";
  read.remedy = "wait";
  read.thread = read.other_thread = Thread{};
  std::vector<Finding> all =
      causes_first({between(rule::kSharedWar, 12, 23, "As"), between(rule::kSharedWar, 9, 23, "As"),
                    between(rule::kSharedWar, 12, 23, "Bs"), read});
  ASSERT_EQ(rules(all),
            (std::vector<std::string>{rule::kCopyInFlight, rule::kSharedWar, rule::kSharedWar}));
  EXPECT_EQ(all[0].remedy, "wait");
  // Another thread's copy: the race may be why.
  read.other_thread->thread[0] = 1;
  all = causes_first({between(rule::kSharedWar, 12, 23, "As"), read});
  EXPECT_EQ(rules(all), (std::vector<std::string>{rule::kSharedWar, rule::kCopyInFlight}));
  read.other_thread->thread[0] = 0;
  // Filled again while it is in flight.
  Finding refill = between(rule::kCopyInFlight, 12, 12, "As");
  refill.message = "thread 0 writes As[1]";
  all = causes_first({refill, read});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].message, read.message);
}

constexpr char kShape[] = R"(#define SYNC() \
  __syncthreads()
__global__ void k(float* C, int n) {
  const int t = threadIdx.x, half = n / 2;
  if (t >= n) { return; }
  for (int o = half; o > 0; o /= 2) {
    /* if (t) { */ __syncthreads();
    if (t < o) {
      __syncthreads();
    } else __syncthreads();
  }
  for (int i = t; i < n; i += 32) C[i] = __shfl_xor_sync(~0u, C[i], 1);
}
__global__ void other(float* C) {
  auto f = [&](int i) { if (i < 2) __syncthreads(); };
  for (;;) { f(2); if (C[0] > 0) break; __syncthreads(); }
}
)";

TEST(SourceShape, TellsWhatDividesThreads) {
  EXPECT_TRUE(surroundings(kShape, 7, 0).divided_by.empty());
  EXPECT_TRUE(surroundings(kShape, 7, 20).function_returns);
  EXPECT_EQ(surroundings(kShape, 9, 7).divided_by, "if (t < o)");
  EXPECT_EQ(surroundings(kShape, 10, 12).divided_by, "if (t < o)");
  EXPECT_EQ(surroundings(kShape, 12, 42).divided_by, "for (int i = t; i < n; i += 32)");
  const Surroundings loop = surroundings(kShape, 16, 41);
  EXPECT_TRUE(loop.is_known);
  EXPECT_FALSE(loop.function_returns);
  EXPECT_TRUE(loop.divided_by.empty());
  EXPECT_FALSE(surroundings(kShape, 99, 0).is_known);
}

TEST(MissingThreads, ReturnedOrTookAnotherWay) {
  Finding f = finding(rule::kEarlyReturn, 9, "");
  f.place.column = 7;
  f.message =
      "thread 0 waits at line 9 for threads that have returned: 8 of the block's 32 threads wait, "
      "24 have returned; what those would have loaded is missing";
  std::vector<Finding> all = {f};
  name_missing_threads(all, "k.cu", kShape);
  EXPECT_EQ(all[0].rule, rule::kBarrierDivergence);
  EXPECT_EQ(all[0].message,
            "thread 0 waits at line 9 in 'if (t < o)', which other threads leave without it: 8 of "
            "the block's 32 threads wait, 24 have ended");
  f.place = {"k.cu", 7, 20, "k"};
  all = {f};
  name_missing_threads(all, "k.cu", kShape);
  EXPECT_EQ(all[0].rule, rule::kEarlyReturn);
}

TEST(OwnNames, ReplaceTheGeneralOnes) {
  const std::vector<SaidAs> names = {
      {"A", "d_a"}, {"C", "d_c"}, {"M", "M"}, {"N", "K"}, {"K", "N"}};
  Finding f = finding(rule::kWrongResult, 3);
  f.message = "C is wrong in the tail of N: the rows of A are taken N apart";
  f.remedy = "the leading dimension of A is K, not N";
  f.at_fault = "A";
  f = in_own_names(f, names);
  EXPECT_EQ(f.message, "d_c is wrong in the tail of K: the rows of d_a are taken K apart");
  EXPECT_EQ(f.remedy, "the leading dimension of d_a is N, not K");
  EXPECT_EQ(f.array + f.at_fault, "d_cd_a");
  // The executor's findings have the names already.
  f = finding(rule::kGlobalBounds, 3, "C");
  EXPECT_EQ(in_own_names(f, names).array, "C");
  // A matrix that the executor calls A is the source's own A; the sizes of a remedy are the
  // judge's.
  f = finding(rule::kRowOverrun, 3, "A");
  f.other_place = f.place;
  f.remedy = "guard the store to A with its own column: column < N";
  f = in_own_names(f, names);
  EXPECT_EQ(f.array + ": " + f.remedy, "A: guard the store to A with its own column: column < K");
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
