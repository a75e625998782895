// `tessera check` on answers to its exercise, as a program.
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "simt/report/cubin.h"
#include "support/cli.h"

namespace tessera::test {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;
using Fills = std::array<std::string, 4>;

constexpr char kLoad[] =
    "    const int a_col = t * kTile + tx, b_row = t * kTile + ty;\n"
    "    s_a[ty][tx] = row < M && a_col < K ? A[row * K + a_col] : 0.0f;\n"
    "    s_b[ty][tx] = b_row < K && col < N ? B[b_row * N + col] : 0.0f;\n";
constexpr char kSync[] = "    __syncthreads();\n";
constexpr char kSum[] = "    for (int p = 0; p < kTile; ++p) sum += s_a[ty][p] * s_b[p][tx];\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class CheckExercise : public CliTest {
 protected:
  void TearDown() override {}  // files are written in folders of their own

  /// An answer with these fills; an empty one leaves its blank.
  std::string answer(const Fills& fills) {
    const std::string folder = path("exercise");
    if (!fs::exists(folder)) expect_ok(run_tessera({"check", "--exercise", folder}));
    std::string text = read_file(folder + "/tiled.cu");
    for (int i = 0; i < 4; ++i) {
      const std::string end = fmt::format("    // <<< blank {}", i + 1);
      text = replaced(text, end, fills[static_cast<std::size_t>(i)] + end);
    }
    const std::string file = path(fmt::format("answer{}.cu", ++count_));
    write_file(file, text);
    return file;
  }

  static Json judged(const std::string& file, int code, bool count = false) {
    std::vector<std::string> words = {"check", file, "--json", "--no-nvcc"};
    if (!count) words.push_back("--no-count");
    const Ran ran = run_tessera(words);
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
    return Json::parse(ran.out).at("exercise");
  }

  static std::string states(const Json& exercise) {
    std::string out;
    for (const Json& blank : exercise.at("blanks")) {
      out += (out.empty() ? "" : ", ") + blank.at("state").get<std::string>();
    }
    return out;
  }

  static std::string verdict(const Json& exercise, int blank) {
    return exercise.at("blanks").at(blank - 1).at("verdict");
  }

 private:
  int count_ = 0;
};

TEST_F(CheckExercise, IsWrittenOnce) {
  const Ran ran = run_tessera({"check", "--exercise", path("new")});
  expect_ok(ran);
  EXPECT_NE(ran.out.find(path("new") + "/tiled.cu"), std::string::npos);
  for (const char* name : {"tiled.cu", "README.md", "README.zh-CN.md"}) {
    EXPECT_TRUE(fs::exists(path("new") + "/" + name)) << name;
  }
  expect_error(run_tessera({"check", "--exercise", path("new")}), 2, {"not overwritten"});
  expect_error(run_tessera({"check", "--exercise", ""}), 2, {"--exercise"});
  expect_error(run_tessera({"check", "x.cu", "--exercise", path("b")}), 2, {"takes no FILE"});
  expect_error(run_tessera({"check"}), 2, {"FILE is missing"});
}

// Every pair of blanks that depend on each other; the rest of the 16 are their combinations.
TEST_F(CheckExercise, EmptyBlanks) {
  Json e = judged(answer({}), 6);
  EXPECT_EQ(states(e), "empty, empty, empty, empty");
  EXPECT_EQ(e.at("summary"), "no size works");
  e = judged(answer({kLoad, "", kSum, ""}), 6);
  EXPECT_EQ(states(e), "right, empty, right, empty");
  EXPECT_NE(verdict(e, 2).find("hazard: read-after-write on s_"), std::string::npos);
  EXPECT_NE(verdict(e, 4).find("hazard: write-after-read"), std::string::npos);
  e = judged(answer({kLoad, kSync, kSum, ""}), 6);
  EXPECT_EQ(states(e), "right, right, right, empty");
  EXPECT_NE(verdict(e, 4).find("hazard: write-after-read on s_"), std::string::npos);
  EXPECT_EQ(e.at("sizes").at(1).at("passed"), true) << "one tile is not overwritten";
  e = judged(answer({kLoad, kSync, "", kSync}), 6);
  EXPECT_EQ(states(e), "right, right, empty, right");
}

TEST_F(CheckExercise, Solved) {
  const std::string file = answer({kLoad, kSync, kSum, kSync});
  const Json e = judged(file, 0, true);
  EXPECT_EQ(states(e), "right, right, right, right");
  EXPECT_EQ(e.at("solved"), true);
  ASSERT_TRUE(e.at("loads").is_object());
  const Json& rows = e.at("loads").at("rows");
  EXPECT_EQ(rows.at(0).at("loads"), rows.at(2).at("loads")) << "as k02_tiled by theory";
  EXPECT_EQ(rows.at(1).at("loads"), 16 * rows.at(0).at("loads").get<double>());
  const Ran ran = run_tessera({"check", file, "--no-count"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_NE(ran.out.find("solved: every size works\n"), std::string::npos) << ran.out;
  // With a size it is a kernel like any other.
  const Ran plain = run_tessera({"check", file, "--gemm", "20,20,20", "--no-count", "--json"});
  EXPECT_EQ(plain.code, 0);
  EXPECT_FALSE(Json::parse(plain.out).contains("exercise"));
}

TEST_F(CheckExercise, WrongFills) {
  const std::string in_if = "    if (row < M && col < N) __syncthreads();\n";
  Json e = judged(answer({kLoad, in_if, kSum, kSync}), 6);
  EXPECT_EQ(states(e), "right, wrong, right, right") << "the plain barrier is not to blame";
  EXPECT_NE(verdict(e, 2).find("not every thread"), std::string::npos) << verdict(e, 2);

  e = judged(answer({kLoad, kSync, replaced(kSum, "s_b[p][tx]", "s_b[tx][p]"), kSync}), 6);
  EXPECT_EQ(states(e), "right, right, wrong, right") << "read transposed";
  e = judged(answer({replaced(kLoad, "s_b[ty][tx]", "s_b[tx][ty]"), kSync, kSum, kSync}), 6);
  EXPECT_EQ(states(e), "wrong, right, right, right") << "stored transposed";

  const std::string leaves = "    if (row >= M || col >= N) return;\n";
  e = judged(answer({leaves + kLoad, kSync, kSum, kSync}), 6);
  EXPECT_EQ(states(e), "wrong, right, right, right");
}

// Its own layout in both blanks is right, and stays so beside a missing barrier.
TEST_F(CheckExercise, AnotherLayout) {
  const Fills turned = {replaced(kLoad, "s_a[ty][tx]", "s_a[tx][ty]"), kSync,
                        replaced(kSum, "s_a[ty][p]", "s_a[p][ty]"), ""};
  const Json e = judged(answer(turned), 6);
  EXPECT_EQ(states(e), "right, right, right, empty");
}

TEST_F(CheckExercise, DoesNotCompile) {
  const Ran ran = run_tessera({"check", answer({kLoad, "    __syncthreads()\n", kSum, kSync})});
  EXPECT_EQ(ran.code, 4);
  EXPECT_NE(ran.err.find("answer1.cu:34: error: expected ';'"), std::string::npos) << ran.err;
}

TEST_F(CheckExercise, GpuThatIsNotThere) {
  const std::string file = answer({kLoad, kSync, kSum, kSync});
  Limits hidden{};
  hidden.environment = {"CUDA_VISIBLE_DEVICES="};
  expect_error(run_tessera({"check", file, "--gpu"}, hidden), 4, {"--gpu"});
  expect_error(run_tessera({"check", file, "--gpu", "--gemm", "8,8,8"}, hidden), 4, {"--gpu"});
}

TEST_F(CheckExercise, ImageForAGpuElsewhere) {
  const std::string file = answer({kLoad, kSync, kSum, kSync}), image = path("image.so");
  const Ran ran = run_tessera({"check", file, "--gpu-image", image});
  if (simt::find_nvcc().empty()) {
    expect_error(ran, 4, {"--gpu-image", "nvcc"});
    GTEST_SKIP() << "no nvcc";
  }
  expect_ok(ran);
  EXPECT_GT(fs::file_size(image), 1000u);
  // nvcc takes what clang does not: the message is nvcc's, at the answer's line.
  const std::string wrong =
      answer({std::string(kLoad) + "    undeclared();\n", kSync, kSum, kSync});
  const Ran bad = run_tessera({"check", wrong, "--gpu-image", path("bad.so")});
  EXPECT_EQ(bad.code, 4);
  EXPECT_NE(bad.err.find("answer2.cu"), std::string::npos) << bad.err;
  EXPECT_FALSE(fs::exists(path("bad.so")));
}

}  // namespace
}  // namespace tessera::test
