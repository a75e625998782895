// The headers that stand in for CUDA's: their functions, run with a small executor of the tests,
// and the width of the accesses that reach the hooks.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "simt/source/words.h"

namespace tessera::simt {
namespace {

namespace fs = std::filesystem;

struct Output {
  int status = -1;
  std::string text;
};

Output run(const std::string& command) {
  Output output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  char part[4096];
  while (std::size_t n = std::fread(part, 1, sizeof(part), pipe)) output.text.append(part, n);
  output.status = pclose(pipe);
  return output;
}

class SimtWords : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tessera-words-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    write_words(folder_ + "/words");
    if (run(clang() + " --version").status != 0) GTEST_SKIP() << "no " << clang();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string clang() {
    const char* named = std::getenv("TESSERA_CLANG");
    return named != nullptr ? named : "clang++";
  }
  std::string compiler() const {
    return clang() + " -fdeclspec -Wall -Wextra -Werror -isystem " + folder_ + "/words -I" +
           TESSERA_WORDS_TESTS;
  }
  static std::string source(const std::string& name) {
    return std::string(TESSERA_WORDS_TESTS) + "/" + name;
  }
  /// Compiles a program of the tests' folder and runs it; it prints what it finds wrong.
  void check_program(const std::string& name) {
    const std::string program = folder_ + "/" + name;
    const Output built =
        run(compiler() + " -std=c++20 -O1 -pthread " + source(name + ".cc") + " -o " + program);
    ASSERT_EQ(built.status, 0) << built.text;
    const Output ran = run(program);
    EXPECT_EQ(ran.status, 0) << ran.text;
  }

  std::string folder_;
};

TEST_F(SimtWords, Float16RoundsToNearestEven) { check_program("float16"); }

TEST_F(SimtWords, FunctionsGiveWhatCudaGives) { check_program("functions"); }

TEST_F(SimtWords, EachHeaderStandsAlone) {
  std::string text;
  for (const Word& word : words()) text += "#include <" + word.name + ">\n";
  text += "int main() { return 0; }\n";
  std::ofstream(folder_ + "/all.cc") << text;
  for (const char* standard : {"-std=c++17", "-std=c++20"}) {
    const Output all = run(compiler() + " -fsyntax-only " + standard + " " + folder_ + "/all.cc");
    EXPECT_EQ(all.status, 0) << all.text;
  }
}

/// The calls of each function: "read16 write16".
using Calls = std::map<std::string, std::vector<std::string>>;

/// Reads assembly. Every call must carry a line of `file`, not of a header.
Calls hook_calls(const std::string& assembly, const std::string& file) {
  Calls calls;
  std::map<std::string, std::string> files;
  std::string function, place;
  std::istringstream lines(assembly);
  static const std::regex kFile(R"re(\s*\.file\s+(\d+)\s+(?:"[^"]*"\s+)?"([^"]+)".*)re");
  static const std::regex kLoc(R"(\s*\.loc\s+(\d+)\s.*)");
  static const std::regex kLabel(R"((\w+):.*)");
  static const std::regex kCall(R"(\s*(?:callq?|jmpq?|bl|b)\s+(\w+).*)");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, kLabel)) {
      function = match[1];
    } else if (std::regex_match(line, match, kFile)) {
      files[match[1]] = match[2];
    } else if (std::regex_match(line, match, kLoc)) {
      place = files[match[1]];
    } else if (std::regex_match(line, match, kCall)) {
      std::string name = match[1];
      const bool is_hook = name.starts_with("__tsan_read") || name.starts_with("__tsan_write") ||
                           name.starts_with("__tsan_unaligned") || name == "memcpy";
      if (!is_hook || function.starts_with("_Z")) continue;  // of the words themselves
      if (name.starts_with("__tsan_")) name = name.substr(7);
      calls[function].push_back(name);
      EXPECT_EQ(fs::path(place).filename(), file) << function << " " << name;
    }
  }
  return calls;
}

class SimtWordsWidths : public SimtWords, public testing::WithParamInterface<const char*> {
 protected:
  Calls calls() {
    const Output built =
        run(compiler() + " -std=c++17 -g -fsanitize=thread -fno-vectorize -fno-slp-vectorize " +
            "-mllvm -tsan-instrument-read-before-write=1 " + GetParam() + " -S -o - " +
            source("widths.cc"));
    EXPECT_EQ(built.status, 0) << built.text;
    return hook_calls(built.text, "widths.cc");
  }
};

std::string widths_of(const std::vector<std::string>& calls) {
  std::string text;
  for (const std::string& call : calls) text += (text.empty() ? "" : " ") + call;
  return text;
}

TEST_P(SimtWordsWidths, AccessesStayWhole) {
  Calls found = calls();
  ASSERT_FALSE(found.empty());
  const bool is_optimised = std::string(GetParam()) == "-O2";
  for (const auto& [function, all] : found) {
    const std::string text = widths_of(all);
    EXPECT_EQ(text.find("unaligned"), std::string::npos) << function << ": " << text;
    // A copy between two arrays has accesses of one width, optimised or not.
    std::smatch match;
    static const std::regex kCopy("(?:copy|update)_(\\d+).*");
    if (!std::regex_match(function, match, kCopy)) continue;
    for (const std::string& call : all) {
      if (call == "memcpy") {
        EXPECT_FALSE(is_optimised) << function;
      } else {
        EXPECT_TRUE(call == "read" + match[1].str() || call == "write" + match[1].str())
            << function << ": " << text;
      }
    }
  }
  if (!is_optimised) {
    EXPECT_EQ(widths_of(found["copy_16"]), "read16 write16");
    return;
  }
  const std::map<std::string, std::string> expected = {
      {"copy_16", "read16 write16"},
      {"load_16_store_4", "read16 write4 write4 write4 write4"},
      {"load_16_store_4_of_integers", "read16 write4 write4 write4 write4"},
      {"load_4_store_16", "read4 read4 read4 read4 write16"},
      {"update_16", "read16 read16 write16"},
      {"copy_16_of_double2", "read16 write16"},
      {"copy_16_of_uint4", "read16 write16"},
      {"copy_16_twice", "read16 write16 read16 write16"},
      {"store_16_with_hint", "read16 write16"},
      {"copy_8", "read8 write8"},
      {"load_8_store_4", "read8 write4 write4"},
      {"load_4_store_8", "read4 read4 write8"},
      {"copy_4", "read4 write4"},
      {"copy_4_of_half2", "read4 write4"},
      {"load_4_store_2", "read4 write2 write2"},
      {"copy_2", "read2 read2 write2"},
      {"copy_2_of_bfloat16", "read2 read2 write2"},
      {"none_for_indices", ""},
      {"none_for_atomics", ""},
      {"none_for_asynchronous_copies", ""},
  };
  for (const auto& [function, widths] : expected) {
    EXPECT_EQ(widths_of(found[function]), widths) << function;
  }
}
INSTANTIATE_TEST_SUITE_P(, SimtWordsWidths, testing::Values("-O0", "-O2"),
                         [](const auto& p) { return std::string(p.param).substr(1); });

}  // namespace
}  // namespace tessera::simt
