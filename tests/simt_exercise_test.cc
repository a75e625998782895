// The exercise as written, and verdicts on answers to it.
#include "simt/exercise/answer.h"
#include "simt/exercise/exercise.h"
#include "simt/exercise/loads.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "simt_gemm_support.h"

namespace tessera::simt {
namespace {

namespace fs = std::filesystem;
using test::error_of;

constexpr char kLoadText[] =
    "    const int a_col = t * kTile + tx, b_row = t * kTile + ty;\n"
    "    s_a[ty][tx] = row < M && a_col < K ? A[row * K + a_col] : 0.0f;\n"
    "    s_b[ty][tx] = b_row < K && col < N ? B[b_row * N + col] : 0.0f;\n";
constexpr char kSync[] = "    __syncthreads();\n";
constexpr char kSum[] = "    for (int p = 0; p < kTile; ++p) sum += s_a[ty][p] * s_b[p][tx];\n";

std::string source() { return exercise_files()[0].text; }

/// The exercise with these answers; an empty one leaves the blank as it was.
std::string answered(const std::array<std::string, 4>& answers) {
  std::string out = source();
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string end = "    // <<< blank " + std::to_string(i + 1);
    out.insert(out.find(end), answers[i]);
  }
  return out;
}
std::string solved() { return answered({kLoadText, kSync, kSum, kSync}); }

int line_of(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  return static_cast<int>(
             std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')) +
         1;
}

Finding found(const std::string& rule, int line, const std::string& array = "s_a", int other = 0) {
  Finding f;
  f.rule = rule;
  f.message = "message of " + rule;
  f.remedy = "remedy of " + rule;
  f.place = {"tiled.cu", line, 0, "tiled"};
  f.array = array;
  if (rule == rule::kWrongResult) f.at_fault = array;
  if (other) f.other_place = Place{"tiled.cu", other, 0, "tiled"};
  return f;
}

/// Runs at 64 and 65 with these findings in both, or in 65 alone.
std::vector<SizeRun> runs(const std::vector<Finding>& findings, bool at_64 = true) {
  std::vector<SizeRun> out(2);
  out[0].m = out[0].n = out[0].k = 64;
  out[1].m = out[1].n = out[1].k = 65;
  if (at_64) out[0].run.findings = findings;
  out[1].run.findings = findings;
  return out;
}

class Folder {
 public:
  Folder() : path_((fs::temp_directory_path() / fs::path("tessera_exercise_test")).string()) {
    path_ += std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" +
             ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

TEST(WriteExercise, WritesThreeFiles) {
  Folder folder;
  const std::string inner = folder.path() + "/a/b";
  const std::vector<std::string> paths = write_exercise(inner);
  ASSERT_EQ(paths.size(), 3u);
  EXPECT_EQ(paths[0], inner + "/tiled.cu");
  EXPECT_TRUE(is_exercise(read(paths[0])));
  EXPECT_SAYS(read(paths[1]), "read after a write");
  EXPECT_SAYS(read(paths[1]), "write after a read");
  EXPECT_SAYS(read(paths[1]), "tessera check tiled.cu");
  EXPECT_SAYS(read(paths[2]), "写后读");
  EXPECT_SAYS(read(paths[2]), "读后写");
  EXPECT_SAYS(read(paths[2]), "tessera check tiled.cu");
}

TEST(WriteExercise, KeepsWhatIsThere) {
  Folder folder;
  fs::create_directories(folder.path());
  for (const char* name : {"tiled.cu", "README.md", "README.zh-CN.md"}) {
    const std::string path = folder.path() + "/" + name;
    std::ofstream(path) << "mine";
    const std::string text =
        error_of(ErrorCode::kInvalidArgument, [&] { write_exercise(folder.path()); });
    EXPECT_SAYS(text, path);
    EXPECT_EQ(read(path), "mine");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
    fs::remove(path);
  }
  EXPECT_EQ(write_exercise(folder.path()).size(), 3u);
}

TEST(WriteExercise, BadFolders) {
  error_of(ErrorCode::kInvalidArgument, [] { write_exercise(""); });
  EXPECT_SAYS(error_of(ErrorCode::kOutputFailure, [] { write_exercise("/dev/null/x"); }),
              "/dev/null/x");
}

TEST(ExerciseSource, HasItsMarkersOnce) {
  const std::string text = source();
  for (int i = 1; i <= 4; ++i) {
    for (const char* arrow : {">>>", "<<<"}) {
      const std::string mark = std::string("// ") + arrow + " blank " + std::to_string(i) + "\n";
      const std::size_t at = text.find(mark);
      EXPECT_NE(at, std::string::npos) << mark;
      EXPECT_EQ(text.find(mark, at + 1), std::string::npos) << mark;
    }
    EXPECT_SAYS(text, "/* BLANK " + std::to_string(i) + ":");
  }
  EXPECT_TRUE(is_exercise(text));
  EXPECT_TRUE(is_exercise("// mine\n" + text));
  EXPECT_TRUE(is_exercise("\xef\xbb\xbf" + text)) << "an editor's byte order mark";
  EXPECT_FALSE(is_exercise("__global__ void tiled() {}\n"));
}

TEST(ExerciseSizes, HaveATailInEachDirection) {
  bool whole = false, m = false, n = false, k = false;
  for (const auto& [sm, sn, sk] : exercise_sizes()) {
    whole = whole || (sm % 16 == 0 && sn % 16 == 0 && sk % 16 == 0 && sk > 16);
    m = m || (sm % 16 != 0 && sn % 16 == 0 && sk % 16 == 0);
    n = n || (sm % 16 == 0 && sn % 16 != 0 && sk % 16 == 0);
    k = k || (sm % 16 == 0 && sn % 16 == 0 && sk % 16 != 0);
  }
  EXPECT_TRUE(whole && m && n && k);
}

TEST(JudgeExercise, SolvedOne) {
  const ExerciseVerdict v = judge_exercise(solved(), runs({}));
  EXPECT_TRUE(v.solved);
  for (const BlankVerdict& b : v.blanks) {
    EXPECT_EQ(b.state, BlankState::kRight);
    EXPECT_EQ(b.verdict, "right");
    EXPECT_TRUE(b.remedy.empty());
  }
  EXPECT_EQ(v.summary, "solved: every size works");
  EXPECT_FALSE(judge_exercise(solved(), {}).solved) << "an answer that was not run";
}

TEST(JudgeExercise, AsWritten) {
  const ExerciseVerdict v = judge_exercise(source(), runs({found(rule::kWrongResult, 17, "C")}));
  EXPECT_FALSE(v.solved);
  for (const BlankVerdict& b : v.blanks) {
    EXPECT_EQ(b.state, BlankState::kEmpty) << b.number;
    EXPECT_GT(b.last_line, b.first_line);
    EXPECT_FALSE(b.remedy.empty());
  }
  EXPECT_EQ(v.summary, "no size works");
  EXPECT_SAYS(v.blanks[1].verdict, "missing; hazard: read-after-write");
  EXPECT_SAYS(v.blanks[3].verdict, "missing; hazard: write-after-read");
}

TEST(JudgeExercise, MissingBarriers) {
  std::string text = answered({kLoadText, "", kSum, kSync});
  const int store = line_of(text, "s_a[ty][tx] = row"), use = line_of(text, "sum += s_a");
  ExerciseVerdict v = judge_exercise(
      text, runs({found(rule::kSharedRaw, use, "s_a", store), found(rule::kWrongResult, 17, "C")}));
  EXPECT_EQ(v.blanks[1].state, BlankState::kEmpty);
  EXPECT_EQ(v.blanks[1].verdict, "missing; hazard: read-after-write on s_a, lines " +
                                     std::to_string(store) + " and " + std::to_string(use));
  EXPECT_EQ(v.blanks[0].state, BlankState::kRight);
  EXPECT_EQ(v.blanks[2].state, BlankState::kRight) << "the wrong value is the race's";
  EXPECT_EQ(v.blanks[3].state, BlankState::kRight);

  text = answered({kLoadText, kSync, kSum, "    // later\n"});
  v = judge_exercise(text, runs({found(rule::kSharedWar, store, "s_b", use)}));
  EXPECT_EQ(v.blanks[3].state, BlankState::kEmpty);
  EXPECT_SAYS(v.blanks[3].verdict, "missing; hazard: write-after-read on s_b, lines");
  EXPECT_EQ(v.blanks[1].state, BlankState::kRight);
  EXPECT_EQ(v.summary, "no size works");

  // One tile along K shows no such hazard, but the barrier is missing all the same.
  v = judge_exercise(text, runs({}));
  EXPECT_EQ(v.blanks[3].state, BlankState::kEmpty);
  EXPECT_FALSE(v.solved);
  EXPECT_EQ(v.summary, "every size works, but not every blank holds its part");
}

TEST(JudgeExercise, SomethingElseInPlaceOfABarrier) {
  const std::string text = answered({kLoadText, "    __syncwarp();\n", kSum, kSync});
  const ExerciseVerdict v = judge_exercise(text, runs({found(rule::kSharedRaw, 40)}));
  EXPECT_EQ(v.blanks[1].state, BlankState::kWrong);
  EXPECT_SAYS(v.blanks[1].verdict, "it has no barrier; hazard: read-after-write on s_a, line 40");
}

TEST(JudgeExercise, DivergentBarrier) {
  const std::string text = answered({kLoadText, "    if (tx) __syncthreads();\n", kSum, kSync});
  const ExerciseVerdict v =
      judge_exercise(text, runs({found(rule::kBarrierDivergence, line_of(text, "if (tx)"), "")}));
  EXPECT_EQ(v.blanks[1].state, BlankState::kWrong);
  EXPECT_SAYS(v.blanks[1].verdict, "message of barrier-divergence");
  EXPECT_EQ(v.blanks[3].state, BlankState::kRight);
}

TEST(JudgeExercise, LoadWithoutGuards) {
  const std::string text =
      answered({"    s_a[ty][tx] = A[row * K + t * kTile + tx];\n", kSync, kSum, kSync});
  const int line = line_of(text, "s_a[ty][tx] = A");
  for (const char* broken : {rule::kRowOverrun, rule::kGlobalBounds}) {
    const ExerciseVerdict v = judge_exercise(text, runs({found(broken, line, "A")}, false));
    EXPECT_EQ(v.blanks[0].state, BlankState::kWrong);
    EXPECT_SAYS(v.blanks[0].verdict, broken);
    EXPECT_EQ(v.blanks[2].state, BlankState::kRight);
    EXPECT_EQ(v.summary, "works for 64x64x64; fails for 65x65x65");
  }
  const ExerciseVerdict v =
      judge_exercise(text, runs({found(rule::kUninitialisedShared, 40, "s_b")}));
  EXPECT_EQ(v.blanks[0].state, BlankState::kWrong);
}

TEST(JudgeExercise, WrongResultGoesToTheArrayAtFault) {
  ExerciseVerdict v = judge_exercise(solved(), runs({found(rule::kWrongResult, 17, "B")}, false));
  EXPECT_EQ(v.blanks[0].state, BlankState::kWrong);
  EXPECT_EQ(v.blanks[2].state, BlankState::kRight);
  v = judge_exercise(solved(), runs({found(rule::kWrongResult, 17, "C")}));
  EXPECT_EQ(v.blanks[0].state, BlankState::kRight);
  EXPECT_EQ(v.blanks[2].state, BlankState::kWrong);
}

TEST(JudgeExercise, FailsOnlyWithTails) {
  std::vector<SizeRun> some = runs({});
  some[1].run.exit_code = 1;
  const ExerciseVerdict v = judge_exercise(solved(), some);
  EXPECT_EQ(v.blanks[0].state, BlankState::kWrong);
  EXPECT_SAYS(v.blanks[0].verdict, "no multiple of the tile");
}

TEST(JudgeExercise, LostMarkersAndOtherFindings) {
  std::string text = solved();
  text.erase(text.find("    // <<< blank 2\n"), 19);
  ExerciseVerdict v = judge_exercise(text, runs({}));
  EXPECT_EQ(v.blanks[1].state, BlankState::kLost);
  EXPECT_SAYS(v.blanks[1].remedy, "// >>> blank 2");
  EXPECT_FALSE(v.solved);
  v = judge_exercise(solved(), runs({found(rule::kLaunch, 60, "")}));
  EXPECT_EQ(v.others.size(), 1u) << "seen at two sizes, told once";
  EXPECT_FALSE(v.solved);
  EXPECT_SAYS(to_text(v), "outside of the blanks, tiled.cu:60");
}

TEST(JudgeExercise, NotJudgedBehindAnEmptyBlank) {
  const ExerciseVerdict v = judge_exercise(
      answered({"", kSync, kSum, kSync}),
      runs({found(rule::kUninitialisedShared, 40), found(rule::kWrongResult, 17, "C")}));
  EXPECT_EQ(v.blanks[0].state, BlankState::kEmpty);
  EXPECT_EQ(v.blanks[2].state, BlankState::kUnseen);
  // A barrier that stands there plainly cannot be wrong.
  EXPECT_EQ(v.blanks[1].state, BlankState::kRight);
}

/// The trial of one blank, with these findings at both sizes.
BlankTrial trial(int number, const std::vector<Finding>& findings = {}) {
  return {number, runs(findings)};
}

TEST(JudgeExercise, TrialsDecide) {
  // B's tiles are transposed: where they are stored, or where they are read?
  const std::vector<Finding> wrong = {found(rule::kWrongResult, 17, "B")};
  const ExerciseVerdict v = judge_exercise(solved(), runs(wrong), {trial(1), trial(3, wrong)});
  EXPECT_EQ(v.blanks[0].state, BlankState::kRight);
  EXPECT_EQ(v.blanks[2].state, BlankState::kWrong);
  EXPECT_FALSE(v.solved);
}

TEST(JudgeExercise, PlainBarriersAreNotBlamedForOthers) {
  const std::string text = answered({kLoadText, "    if (tx) __syncthreads();\n", kSum, kSync});
  const std::vector<Finding> divergence = {
      found(rule::kBarrierDivergence, line_of(text, "<<< blank 4") - 1, "")};
  ExerciseVerdict v = judge_exercise(text, runs(divergence), {trial(2, divergence)});
  EXPECT_EQ(v.blanks[1].state, BlankState::kWrong);
  EXPECT_SAYS(v.blanks[1].verdict, "not every thread of the block reaches its barrier");
  EXPECT_EQ(v.blanks[3].state, BlankState::kRight);
}

TEST(JudgeExercise, RacesKeepTheAnswersOwnLines) {
  const std::string text = answered({kLoadText, "    __syncwarp();\n", kSum, kSync});
  const ExerciseVerdict v = judge_exercise(text, runs({found(rule::kSharedRaw, 28, "s_a", 40)}),
                                           {trial(2, {found(rule::kSharedRaw, 24, "s_a", 38)})});
  EXPECT_SAYS(v.blanks[1].verdict, "read-after-write on s_a, lines 28 and 40");
}

TEST(JudgeExercise, ABarrierElsewhereIsABarrier) {
  ExerciseVerdict v =
      judge_exercise(answered({kLoadText + std::string(kSync), "", kSum, kSync}), runs({}));
  EXPECT_TRUE(v.solved);
  EXPECT_SAYS(v.blanks[1].verdict, "another blank");
  v = judge_exercise(answered({kLoadText, "", kSum, kSync}), runs({}));
  EXPECT_FALSE(v.solved) << "a hazard that did not show is a hazard";
}

TEST(JudgeExercise, WorksWithoutTiles) {
  const ExerciseVerdict v = judge_exercise(answered({"", kSync, kSum, kSync}), runs({}));
  EXPECT_EQ(v.blanks[0].state, BlankState::kEmpty);
  EXPECT_EQ(v.blanks[2].state, BlankState::kWrong);
  EXPECT_SAYS(v.blanks[2].verdict, "without the tiles");
  EXPECT_FALSE(v.solved);
}

TEST(JudgeExercise, Json) {
  const Json json = to_json(judge_exercise(source(), runs({found(rule::kWrongResult, 17, "C")})));
  EXPECT_EQ(json.at("solved"), false);
  ASSERT_EQ(json.at("blanks").size(), 4u);
  for (const char* name :
       {"number", "task", "state", "first_line", "last_line", "verdict", "remedy", "findings"}) {
    EXPECT_TRUE(json.at("blanks")[0].contains(name)) << name;
  }
  EXPECT_EQ(json.at("blanks")[0].at("state"), "empty");
  EXPECT_EQ(json.at("sizes")[0].at("passed"), false);
  EXPECT_EQ(json.at("sizes")[0].at("rule"), "wrong-result");
}

TEST(CompletedAnswer, KeepsLinesAndReplacesBlanks) {
  const std::string own = "    own_text();\n";
  const std::string text = answered({own, own, own, own});
  const std::string out = completed(text, {false, true, false, false}, "my \"tiled\".cu");
  EXPECT_EQ(out.rfind("#line 1 \"my \\\"tiled\\\".cu\"\n", 0), 0u);
  EXPECT_EQ(out.find("own_text"), out.rfind("own_text")) << "one blank keeps its own";
  EXPECT_SAYS(out, "s_b[p][tx];");
  // The line behind each #line directive is the one it says.
  std::istringstream in(out);
  std::vector<std::string> lines;
  std::istringstream from(text);
  for (std::string line; std::getline(from, line);) lines.push_back(line);
  int number = 0;
  bool known = true;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("#line ", 0) == 0) {
      number = std::stoi(line.substr(6)) - 1;
      known = true;
      continue;
    }
    ++number;
    if (line.find(">>> blank 1") != std::string::npos) {
      EXPECT_EQ(line, lines[number - 1]);
    }
    if (known && line.find("own_text") != std::string::npos) {
      EXPECT_EQ(line, lines[number - 1]);
    }
    if (line.find(">>> blank") != std::string::npos && line.find("2") == std::string::npos) {
      known = false;
    }
    if (known) {
      EXPECT_EQ(line, lines[number - 1]) << number;
    }
  }
}

TEST(CompareLoads, CountsAgainstTheory) {
  Report report;
  report.path = "x/tiled.cu";
  Launch launch;
  launch.kernel = "tiled";
  launch.m = launch.n = launch.k = 64;
  launch.gemm = "C(64x64) = A(64x64) * B(64x64), float, row-major";
  report.check.launches = {launch};
  report.count.launches = {launch};
  Site a;
  a.kernel = "tiled", a.array = "A", a.bytes = 4, a.lanes = 2 * 64 * 64 * 64 / 16;
  report.count.sites = {a};
  const std::optional<LoadComparison> loads = compare_loads(report);
  ASSERT_TRUE(loads);
  ASSERT_EQ(loads->rows.size(), 3u);
  EXPECT_EQ(loads->rows[0].name, "tiled.cu");
  EXPECT_EQ(loads->rows[0].loads, 32768);
  EXPECT_EQ(loads->rows[0].reuse, 16);
  EXPECT_EQ(loads->rows[1].loads, 524288) << "naive: 2MNK";
  EXPECT_EQ(loads->rows[2].loads, 32768) << "tiled: 2MNK/16";
  EXPECT_SAYS(loads->text, "16 times");
  report.count.sites[0].lanes *= 16;
  EXPECT_SAYS(compare_loads(report)->text, "as without tiles");
  report.count.sites.clear();
  EXPECT_FALSE(compare_loads(report));
}

TEST(JudgeExercise, Text) {
  const std::string text =
      to_text(judge_exercise(source(), runs({found(rule::kWrongResult, 17, "C")})));
  EXPECT_SAYS(text, "\n  remedy: store one element of A");
  EXPECT_SAYS(text, "blank 1 (load): empty: nothing is stored to the tiles\n");
  EXPECT_SAYS(text, "blank 2 (barrier after the load): missing");
  EXPECT_SAYS(text, "64x64x64: fails, wrong-result\n");
}

}  // namespace
}  // namespace tessera::simt
