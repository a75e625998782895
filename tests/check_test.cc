// `tessera check` as a program, on the kernels of tests/check.
//
// A kernel's head says how it is checked: "// check: --gemm 67,45,33". A wrong one names its fault
// where it stands: "// FAULT: rule", or "// FAULT: rule ~ words" that "message; remedy" must have.
// After "// ONLY FAULT:" nothing else may be found in the kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/cli.h"

namespace tessera::test {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

struct Fault {
  int line = 0;
  std::string rule, words;
};

struct Sample {
  std::string path;
  std::vector<std::string> arguments;
  std::vector<Fault> faults;
  bool has_no_others = false;
};

Sample read_sample(const std::string& path) {
  Sample sample;
  sample.path = path;
  std::ifstream in(path);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::string head = "// check:";
    if (line.rfind(head, 0) == 0) {
      std::istringstream words(line.substr(head.size()));
      for (std::string word; words >> word;) sample.arguments.push_back(word);
    }
    const bool is_only = line.find("// ONLY FAULT: ") != std::string::npos;
    const std::size_t at = line.find(is_only ? "ONLY FAULT: " : "// FAULT: ");
    if (at == std::string::npos) continue;
    sample.has_no_others = sample.has_no_others || is_only;
    const std::string fault = line.substr(line.find(": ", at) + 2);
    const std::size_t tilde = fault.find(" ~ ");
    sample.faults.push_back({number, fault.substr(0, std::min(tilde, fault.size())),
                             tilde == std::string::npos ? "" : fault.substr(tilde + 3)});
  }
  return sample;
}

std::vector<std::string> samples(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(TESSERA_KERNELS "/" + folder)) {
    if (entry.path().extension() == ".cu") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  return fs::path(info.param).stem().string();
}

Ran check(const Sample& sample, std::vector<std::string> more) {
  std::vector<std::string> words = {"check", sample.path, "--json", "--no-nvcc"};
  words.insert(words.end(), sample.arguments.begin(), sample.arguments.end());
  words.insert(words.end(), more.begin(), more.end());
  return run_tessera(words);
}

std::string listed(const Json& findings) {
  std::string text;
  for (const Json& f : findings) {
    text += fmt::format("\n  {} at line {}: {}", f.at("rule").get<std::string>(),
                        f.at("place").at("line").get<int>(), f.at("message").get<std::string>());
  }
  return text;
}

class Right : public testing::TestWithParam<std::string> {};
class Wrong : public testing::TestWithParam<std::string> {};

TEST_P(Right, HasNoFinding) {
  const Sample sample = read_sample(GetParam());
  ASSERT_TRUE(sample.faults.empty());
  // Counting as well: the optimised build must run the same program.
  const Ran ran = check(sample, {});
  ASSERT_EQ(ran.code, 0) << ran.err << ran.out;
  const Json report = Json::parse(ran.out);
  EXPECT_TRUE(report.at("findings").empty()) << listed(report.at("findings"));
  EXPECT_FALSE(report.at("launches").empty());
}

TEST_P(Wrong, FaultIsFoundAtItsLine) {
  const Sample sample = read_sample(GetParam());
  ASSERT_FALSE(sample.faults.empty()) << "no planted fault is marked";
  const Ran ran = check(sample, {"--no-count"});
  ASSERT_EQ(ran.code, 6) << ran.err << ran.out;
  const Json findings = Json::parse(ran.out).at("findings");
  for (const Fault& fault : sample.faults) {
    const bool found = std::any_of(findings.begin(), findings.end(), [&](const Json& f) {
      const bool at_line =
          f.at("place").at("line") == fault.line ||
          (f.contains("other_place") && f.at("other_place").at("line") == fault.line);
      const std::string said =
          f.at("message").get<std::string>() + "; " + f.at("remedy").get<std::string>();
      return at_line && f.at("rule") == fault.rule && said.find(fault.words) != std::string::npos;
    });
    EXPECT_TRUE(found) << fault.rule << " at line " << fault.line << " is missing among"
                       << listed(findings);
  }
  for (const Json& f : findings) EXPECT_NE(f.at("remedy"), "") << f.at("message");
  if (sample.has_no_others) {
    EXPECT_EQ(findings.size(), sample.faults.size()) << listed(findings);
  }
}

/// The notes on a kernel of the wrong ones.
std::string notes(const std::string& name) {
  const Ran ran = check(read_sample(TESSERA_KERNELS "/wrong/" + name), {"--no-count"});
  EXPECT_EQ(ran.code, 6) << ran.err;
  std::string text;
  const Json report = Json::parse(ran.out);
  for (const Json& note : report.at("notes")) text += note.get<std::string>() + "\n";
  return text;
}
int code(const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"check", TESSERA_KERNELS "/wrong/" + name, "--no-count"};
  words.insert(words.end(), more.begin(), more.end());
  return run_tessera(words).code;
}

TEST(Hints, RightAtMultiplesOfItsTile) {
  const std::string said = notes("only_multiples.cu");
  EXPECT_NE(said.find("right at multiples of 16"), std::string::npos) << said;
  EXPECT_NE(said.find("--gemm 160,144,80"), std::string::npos) << said;
  EXPECT_EQ(code("only_multiples.cu", {"--gemm", "160,144,80"}), 0);
  // Wrong there as well, so nothing is said.
  EXPECT_EQ(notes("transposed_result.cu").find("right at multiples"), std::string::npos);
}

TEST(Hints, RightByColumns) {
  const std::string said = notes("column_major_by_rows.cu");
  EXPECT_NE(said.find("give --layout col"), std::string::npos) << said;
  EXPECT_EQ(code("column_major_by_rows.cu", {"--gemm", "40,33,20", "--layout", "col"}), 0);
  EXPECT_EQ(notes("transposed_result.cu").find("--layout"), std::string::npos);
}

// Tessera's own rungs, over the shapes that each one's tile makes interesting. Those that need
// instructions of one GPU generation are refused by name.
class Rung : public testing::TestWithParam<std::string> {};

std::vector<std::string> rungs() {
  std::vector<std::string> stems;
  for (const auto& entry : fs::directory_iterator(TESSERA_SOURCE "/src/kernels/cuda")) {
    if (entry.path().extension() == ".cu") stems.push_back(entry.path().stem().string());
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

TEST_P(Rung, IsRightAndWithoutFindings) {
  const std::string source = TESSERA_SOURCE;
  std::ifstream in(source + "/src/kernels/cuda/" + GetParam() + ".cu");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const bool is_plain = text.find("ptx/mbarrier.cuh") == std::string::npos &&
                        text.find("cuda/tensor_map.h") == std::string::npos;
  const Ran ran = run_tessera({"check", TESSERA_KERNELS "/registry/plain_kernels.cu", "--json",
                               "--no-count", "--", "-I", source + "/src", "-I", source + "/include",
                               "-DKERNEL=" + GetParam()});
  if (!is_plain) {
    EXPECT_EQ(ran.code, 4) << ran.err << ran.out;
    return;
  }
  ASSERT_EQ(ran.code, 0) << ran.err << ran.out;
  const Json report = Json::parse(ran.out);
  EXPECT_EQ(report.at("program").at("exit_code"), 0) << ran.err;
  EXPECT_TRUE(report.at("findings").empty()) << listed(report.at("findings"));
  EXPECT_GE(report.at("launches").size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Check, Rung, testing::ValuesIn(rungs()),
                         [](const auto& rung) { return rung.param; });
INSTANTIATE_TEST_SUITE_P(Check, Right, testing::ValuesIn(samples("right")), name_of);
INSTANTIATE_TEST_SUITE_P(Check, Wrong, testing::ValuesIn(samples("wrong")), name_of);

}  // namespace
}  // namespace tessera::test
