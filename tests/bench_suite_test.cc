// Cases from files: suites in CSV, call logs, and where suites are found.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/suite.h"
#include "support/errors.h"
#include "support/matrix.h"
#include "tessera/gemm.h"

namespace tessera::bench {
namespace {

namespace fs = std::filesystem;
using test::contains;
using test::error_of;

/// A folder of its own for each test, removed afterwards.
class BenchSuite : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tessera_suite_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    unsetenv("TESSERA_SUITES");
    fs::remove_all(folder_);
  }

  std::string file(const std::string& name, const std::string& content) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  Suite read(const std::string& content, DType dtype = DType::kF32) {
    return read_suite(file("given.csv", content), dtype);
  }
  std::string refusal(const std::string& content) {
    const std::string path = file("given.csv", content);
    const std::string text = error_of(ErrorCode::kBadFile, [&] { read_suite(path, DType::kF32); });
    EXPECT_SAYS(text, "given.csv: ");
    return text;
  }

  fs::path folder_;
};

TEST_F(BenchSuite, SuitesOfTheRepository) {
  const std::pair<const char*, std::size_t> expected[] = {{"square", 9},
                                                          {"awkward", 18},
                                                          {"llm_llama3_8b", 59},
                                                          {"deepbench_training", 160},
                                                          {"targets", 8}};
  for (const auto& [name, cases] : expected) {
    const Suite suite = read_suite(find_suite(name), DType::kF64);
    EXPECT_EQ(suite.name, name);
    EXPECT_TRUE(suite.faults.empty()) << suite.faults.front();
    EXPECT_EQ(suite.cases.size(), cases) << name;
    for (const Case& c : suite.cases) {
      EXPECT_EQ(c.suite, name);
      EXPECT_EQ(c.desc.dtype, DType::kF64);
      EXPECT_EQ(c.desc.space, Space::kHost);
      EXPECT_EQ(c.calls, 1);
    }
  }
}

TEST_F(BenchSuite, ColumnsInAnyOrderAndLetterCase) {
  const Suite suite = read("count,OPB,k,N,opa,M\r\n7,t,3,2,n,1\r\n1,N,6,5,T,4\r\n");
  ASSERT_EQ(suite.cases.size(), 2u);
  const Case& c = suite.cases[0];
  EXPECT_EQ(std::vector({c.m, c.n, c.k, c.calls}), (std::vector<std::int64_t>{1, 2, 3, 7}));
  EXPECT_EQ(c.desc.op_a, Op::kN);
  EXPECT_EQ(c.desc.op_b, Op::kT);
  EXPECT_EQ(c.desc.b.rows, 2);
  EXPECT_EQ(c.desc.b.cols, 3);
  EXPECT_EQ(c.desc.b.ld, 3);
  EXPECT_EQ(c.desc.a.alignment, 256);
  EXPECT_EQ(case_text(suite.cases[1]), "4x5x6 TN");
  EXPECT_TRUE(suite.faults.empty());
}

TEST_F(BenchSuite, OpsAreNWithoutTheirColumns) {
  const Suite suite = read("M,N,K\n1,2,3");
  ASSERT_EQ(suite.cases.size(), 1u);
  EXPECT_EQ(case_text(suite.cases[0]), "1x2x3 NN");
}

TEST_F(BenchSuite, MarkCommentsBlankLinesAndSpaces) {
  const Suite suite = read("\xef\xbb\xbf\n  # M is rows\n\t\n M , N,K \n# 1,1,1\n 2 ,\t3, 4 \n\n");
  ASSERT_EQ(suite.cases.size(), 1u);
  EXPECT_EQ(case_text(suite.cases[0]), "2x3x4 NN");
  EXPECT_TRUE(suite.faults.empty());
}

TEST_F(BenchSuite, EqualLinesOfACsvStayApart) {
  EXPECT_EQ(read("M,N,K\n1,2,3\n1,2,3\n").cases.size(), 2u);
}

TEST_F(BenchSuite, LargestSize) {
  const Suite suite = read("M,N,K\n2147483648,1,1\n2147483649,1,1\n");
  ASSERT_EQ(suite.cases.size(), 1u);
  EXPECT_EQ(suite.cases[0].m, std::int64_t{1} << 31);
  EXPECT_EQ(suite.faults.size(), 1u);
}

TEST_F(BenchSuite, EachMalformedLineIsAFaultAndTheRestGoesOn) {
  const std::pair<const char*, const char*> lines[] = {
      {"64,abc,64,N,N", "N = \"abc\": must be a whole number from 1 to 2147483648"},
      {"0,1,1,N,N", "M = \"0\""},
      {"-1,1,1,N,N", "M = \"-1\""},
      {"+1,1,1,N,N", "M = \"+1\""},
      {"1,1,1.0,N,N", "K = \"1.0\""},
      {"1,1,1e3,N,N", "K = \"1e3\""},
      {"1,1,0x10,N,N", "K = \"0x10\""},
      {"1,1,1 1,N,N", "K = \"1 1\""},
      {"1,1,,N,N", "K = \"\""},
      {"1,1,99999999999999999999,N,N", "K = "},
      {"1,1,1,C,N", "opA = \"C\": must be N or T"},
      {"1,1,1,N,NN", "opB = \"NN\": must be N or T"},
      {"1,1,1,N", "has 4 fields: must have 5"},
      {"1,1,1,N,N,", "has 6 fields: must have 5"},
      {"1,1,1,N,N # why", "opB = "},
      {"\"1\",1,1,N,N", "M = "},
      {"2147483648,1,2147483648,N,N", "exceeds 2^63"},
      {"1;1;1;N;N", "has 1 fields"},
      {"{\"tessera\":\"gemm\"}", "has 1 fields"},
      {"\x01\xff,1,1,N,N", "\\x01\\xff"},
  };
  std::string content = "M,N,K,opA,opB\n";
  for (const auto& [line, rule] : lines) content += std::string(line) + "\n4,5,6,N,T\n";
  const Suite suite = read(content);
  EXPECT_EQ(suite.cases.size(), std::size(lines));
  ASSERT_EQ(suite.faults.size(), std::size(lines));
  for (std::size_t i = 0; i < std::size(lines); ++i) {
    EXPECT_EQ(suite.faults[i].rfind("given.csv:" + std::to_string(2 * i + 2) + ": \"", 0), 0u)
        << suite.faults[i];
    EXPECT_SAYS(suite.faults[i], lines[i].second);
    EXPECT_FALSE(contains(suite.faults[i], "gemm:"));
  }
}

TEST_F(BenchSuite, FaultsArePrintableAndBounded) {
  std::string content = "M,N,K\n1,1,1\n" + std::string(100000, 'x') + "\n2,2,2\n";
  for (int i = 0; i < 200; ++i) content += "\x1b[31m\n";
  const Suite suite = read(content);
  EXPECT_EQ(suite.cases.size(), 2u);
  ASSERT_EQ(suite.faults.size(), 51u);
  EXPECT_SAYS(suite.faults[0], "given.csv:3: \"xxx");
  EXPECT_SAYS(suite.faults[0], "at most 4096 characters");
  EXPECT_LT(suite.faults[0].size(), 300u);
  EXPECT_SAYS(suite.faults[1], "given.csv:5: \"\\x1b[31m\"");
  EXPECT_EQ(suite.faults[50], "given.csv: 151 more lines could not be read");
}

TEST_F(BenchSuite, HeadersThatAreRefused) {
  EXPECT_SAYS(refusal("1,2,3\n"), "line 1: column \"1\": the first line must name the columns");
  EXPECT_SAYS(refusal("M,N\n1,2\n"), "column K is missing");
  EXPECT_SAYS(refusal("M,N,K,m\n1,2,3,4\n"), "column M is there twice");
  EXPECT_SAYS(refusal("M,N,K,lda\n"), "column \"lda\"");
  EXPECT_SAYS(refusal("M,N,K,\n"), "column \"\"");
}

TEST_F(BenchSuite, FilesThatHoldNoCase) {
  EXPECT_SAYS(refusal(""), "holds no case");
  EXPECT_SAYS(refusal("# nothing\n\n"), "holds no case");
  EXPECT_SAYS(refusal("M,N,K\n"), "holds no case");
  EXPECT_SAYS(refusal("M,N,K\n1,2,x\n1,2\n"), "2 faults, the first: given.csv:2: ");
  EXPECT_SAYS(refusal("{}\n"), "the field \"tessera\" is missing");
  EXPECT_SAYS(refusal(std::string("M,N,K\n1,2,3\n\0\n", 15)), "line 3 holds a NUL byte");
  EXPECT_SAYS(refusal(std::string("\x89PNG\r\n\x1a\n\0\0", 10)), "column \"\\x89PNG\"");
}

TEST_F(BenchSuite, FilesThatCannotBeRead) {
  const std::string missing = folder_ / "missing.csv";
  EXPECT_SAYS(error_of(ErrorCode::kBadFile, [&] { read_suite(missing, DType::kF32); }),
              "missing.csv: cannot be opened: No such file");
  EXPECT_SAYS(error_of(ErrorCode::kBadFile, [&] { read_suite(folder_, DType::kF32); }),
              "is a folder");
  EXPECT_SAYS(error_of(ErrorCode::kBadFile, [&] { read_suite("/dev/zero", DType::kF32); }),
              "not a regular file");
}

TEST_F(BenchSuite, FoundByNameOrPath) {
  const std::string mine = file("mine.csv", "M,N,K\n1,1,1\n");
  const std::string other = file("square.csv", "M,N,K\n1,1,1\n");
  EXPECT_EQ(find_suite(mine), mine);
  EXPECT_SAYS(error_of(ErrorCode::kBadFile, [] { find_suite("mine"); }), "suite \"mine\"");
  setenv("TESSERA_SUITES", folder_.c_str(), 1);
  EXPECT_EQ(find_suite("mine"), mine);
  EXPECT_EQ(find_suite("mine.csv"), mine);
  EXPECT_EQ(find_suite("square"), other);
  EXPECT_TRUE(contains(find_suite("awkward"), "awkward.csv"));
  for (const char* name : {"sqare", "", "/square", "../suites/square"}) {
    EXPECT_SAYS(error_of(ErrorCode::kBadFile, [&] { find_suite(name); }),
                "suites: awkward, cpu, deepbench_training, llm_llama3_8b, mine, square, targets");
  }
}

// --- call logs

const char kLine[] =
    R"({"tessera":"gemm","dtype":"f32","op_a":"T","op_b":"N","m":3,"n":4,"k":5,)"
    R"("a":{"rows":5,"cols":3,"ld":7,"layout":"row","batch_stride":0},)"
    R"("b":{"rows":5,"cols":4,"ld":6,"layout":"col","batch_stride":0},)"
    R"("c":{"rows":3,"cols":4,"ld":4,"layout":"row","batch_stride":0},"batch":1,)"
    R"("alpha":1.5,"beta":-2,"device":"cuda:0","threads":1,"kernel":"cuda.naive.f32"})";

std::string with(const std::string& from, const std::string& to) {
  std::string line = kLine;
  const auto at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return line.replace(at, from.size(), to);
}

TEST_F(BenchSuite, LogLineKeepsTheTypeOfTheInputs) {
  const Suite suite = read(with(R"("f32",)", R"("f32","input":"bf16",)") + "\n" + kLine + "\n" +
                           with(R"("f32",)", R"("f64","input":"bf16",)") + "\n");
  ASSERT_EQ(suite.cases.size(), 2U);
  EXPECT_EQ(suite.cases[0].desc.dtype, DType::kF32);
  EXPECT_EQ(suite.cases[0].desc.input_dtype(), DType::kBF16);
  EXPECT_EQ(suite.cases[1].desc.input_dtype(), DType::kF32);
  ASSERT_EQ(suite.faults.size(), 1U);
  EXPECT_SAYS(suite.faults[0], "A and B of type bf16 with C of type f64");
}

TEST_F(BenchSuite, LogLineKeepsEverything) {
  const Suite suite = read(std::string(kLine) + "\n", DType::kF64);
  ASSERT_EQ(suite.cases.size(), 1u);
  const Case& c = suite.cases[0];
  EXPECT_EQ(c.desc.dtype, DType::kF32);  // its own, not the one given
  EXPECT_EQ(c.desc.space, Space::kHost);
  EXPECT_EQ(std::vector({c.m, c.n, c.k}), (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(c.desc.op_a, Op::kT);
  EXPECT_EQ(c.desc.a.ld, 7);
  EXPECT_EQ(c.desc.b.layout, Layout::kColMajor);
  EXPECT_EQ(c.alpha, 1.5);
  EXPECT_EQ(c.beta, -2);
  EXPECT_EQ(c.suite, "given");
}

TEST_F(BenchSuite, EqualCallsAreMergedInTheOrderOfFirstAppearance) {
  const std::string other = with("\"beta\":-2", "\"beta\":0");
  const std::string line = kLine;
  // The stride of one matrix is never used, nor do device and kernel make another product.
  const std::string same = with("\"layout\":\"row\",\"batch_stride\":0",  // of A
                                "\"layout\":\"row\",\"batch_stride\":35");
  const std::string elsewhere = with("cuda:0", "cpu");
  std::string all;
  for (const std::string& l : {line, other, same, line, elsewhere, other}) all += l + "\n";
  const Suite suite = read(all);
  EXPECT_TRUE(suite.faults.empty());
  ASSERT_EQ(suite.cases.size(), 2u);
  EXPECT_EQ(suite.cases[0].beta, -2);
  EXPECT_EQ(suite.cases[0].calls, 4);
  EXPECT_EQ(suite.cases[1].calls, 2);
}

TEST_F(BenchSuite, EveryDifferenceOfWorkIsAnotherCase) {
  const std::string lines[] = {
      kLine,
      with("\"f32\"", "\"f64\""),
      with("\"ld\":7", "\"ld\":8"),
      with("\"ld\":6", "\"ld\":5"),
      with("\"ld\":4", "\"ld\":5"),
      with("1.5", "1"),
      with("\"row\",\"batch_stride\":0},\"batch\":1", "\"row\",\"batch_stride\":12},\"batch\":2")};
  std::string all;
  for (const std::string& l : lines) all += l + "\n";
  EXPECT_EQ(read(all).cases.size(), std::size(lines));
}

TEST_F(BenchSuite, LogLinesThatContradictThemselvesAreFaults) {
  const std::pair<std::string, const char*> lines[] = {
      {std::string(kLine).substr(0, 200), "is no JSON object"},
      {"[1,2]", "is no JSON object"},
      {"warning: something else on stderr", "is no JSON object"},
      {std::string(3000, '['), "is no JSON object"},
      {with("\"gemm\"", "\"gemv\""), "tessera = \"gemv\""},
      {with("\"gemm\"", "7"), "tessera = 7: must be a string"},
      {with("\"tessera\":\"gemm\",", ""), "\"tessera\" is missing"},
      {with("\"f32\"", "\"f31\""), "f31"},
      {with("\"f32\"", "\"bf16\""), "bf16"},
      {with("\"op_a\":\"T\"", "\"op_a\":\"C\""), "op_a = \"C\": must be N or T"},
      {with("\"op_a\":\"T\"", "\"op_a\":\"N\""), "m, n, k = 3, 4, 5, but op(A) is 5 x 3"},
      {with("\"m\":3", "\"m\":4"), "m, n, k = 4, 4, 5"},
      {with("\"n\":4", "\"n\":3"), "C has 4 columns"},
      {with("\"k\":5", "\"k\":6"), "m, n, k = 3, 4, 6"},
      {with("\"k\":5", "\"k\":5.0"), "k = 5.0: must be a whole number"},
      {with("\"k\":5", "\"k\":18446744073709551615"), "must be a whole number below 2^63"},
      {with("\"k\":5", "\"k\":\"5\""), "k = \"5\""},
      {with("\"k\":5", "\"k\":null"), "k = \"null\""},
      {with("\"ld\":7", "\"ld\":2"), "lda = 2 is too small"},
      {with("\"ld\":6", "\"ld\":4"), "ldb = 4 is too small"},
      {with("\"ld\":4", "\"ld\":-4"), "ldc = -4 is too small"},
      {with("\"ld\":7", "\"ld\":9223372036854775807"), "exceeds 2^63"},
      {with("\"rows\":5,\"cols\":4", "\"rows\":6,\"cols\":4"), "inner sizes must be equal"},
      {with("\"rows\":3", "\"rows\":2"), "C is 2 x 4"},
      {with("\"layout\":\"row\"", "\"layout\":\"diagonal\""), "must be row or col"},
      {with("\"batch\":1", "\"batch\":-1"), "batch = -1"},
      {with("\"batch\":1", "\"batch\":2"), "would overlap"},
      {with("\"batch\":1", "\"batch\":0"), "nothing to time"},
      {with("\"batch\":1,", ""), "\"batch\" is missing"},
      {with("1.5", "0"), "alpha = 0: nothing to time"},
      {with("1.5", "\"nan\""), "alpha = \"nan\": a product with a scalar that is not finite"},
      {with("-2", "\"-inf\""), "beta = \"-inf\": a product with a scalar that is not finite"},
      {with("1.5", "1e999"), "is no JSON object"},
      {with("1.5", "true"), "alpha = \"true\": must be a number"},
      {with("\"a\":{", "\"a\":[],\"was\":{"), "a = \"[]\": must be an object"},
  };
  std::string content = std::string(kLine) + "\n";
  for (const auto& line : lines) content += line.first + "\n";
  const Suite suite = read(content);
  EXPECT_EQ(suite.cases.size(), 1u);
  ASSERT_EQ(suite.faults.size(), std::size(lines));
  for (std::size_t i = 0; i < std::size(lines); ++i) {
    EXPECT_EQ(suite.faults[i].rfind("given.csv:" + std::to_string(i + 2) + ": ", 0), 0u);
    EXPECT_SAYS(suite.faults[i], lines[i].second);
    EXPECT_EQ(suite.faults[i].find('\n'), std::string::npos);
  }
}

TEST_F(BenchSuite, EmptyProductsOfALogAreNothingToTime) {
  const std::string empty =
      R"({"tessera":"gemm","dtype":"f64","op_a":"N","op_b":"N","m":3,"n":4,"k":0,)"
      R"("a":{"rows":3,"cols":0,"ld":1,"layout":"row","batch_stride":0},)"
      R"("b":{"rows":0,"cols":4,"ld":4,"layout":"row","batch_stride":0},)"
      R"("c":{"rows":3,"cols":4,"ld":4,"layout":"row","batch_stride":0},"batch":1,)"
      R"("alpha":1,"beta":0,"device":"cpu","threads":1,"kernel":"cpu.naive.f64"})";
  const Suite suite = read(std::string(kLine) + "\n" + empty + "\n");
  ASSERT_EQ(suite.faults.size(), 1u);
  EXPECT_SAYS(suite.faults[0], "m, n, k = 3, 4, 0, batch = 1: nothing to time");
}

/// What the library itself writes, with TESSERA_LOG set before its first call.
void run_logged(const std::string& log) {
  setenv("TESSERA_LOG", ("calls:" + log).c_str(), 1);
  test::TestMatrix<float> a(3, 5), b(4, 5, Layout::kColMajor, 2), c(3, 4, Layout::kColMajor, 1);
  a.fill_normal(1);
  b.fill_normal(2);
  c.fill_constant(0);
  GemmOptions one_thread;
  one_thread.threads = 1;
  for (int i = 0; i < 3; ++i) {
    gemm(Op::kN, Op::kT, 0.1f, a.view(), b.view(), 2.0f, c.view(), one_thread);
  }
  gemm(Op::kN, Op::kT, NAN, a.view(), b.view(), 0.0f, c.view(), one_thread);
  gemm_strided_batched(Op::kN, Op::kT, 1.0f, a.view(), 0, b.view(), 0, 0.0f, c.view(), 16, 1,
                       one_thread);
  const BFloat16 half(2.0F);
  gemm(Op::kN, Op::kN, 1.0f, row_major(&half, 1, 1), row_major(&half, 1, 1), 0.0f,
       row_major(c.view().data, 1, 1), one_thread);
}

TEST_F(BenchSuite, LogOfARealRun) {
  const std::string log = folder_ / "calls.log";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      run_logged(log);
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);

  const Suite suite = read_suite(log, DType::kF32);
  EXPECT_EQ(suite.name, "calls");
  ASSERT_EQ(suite.cases.size(), 3u);
  EXPECT_EQ(suite.cases[2].desc.dtype, DType::kF32);
  EXPECT_EQ(suite.cases[2].desc.input_dtype(), DType::kBF16);
  const Case& c = suite.cases[0];
  EXPECT_EQ(c.calls, 3);
  EXPECT_EQ(c.alpha, static_cast<double>(0.1f));
  EXPECT_EQ(c.beta, 2);
  EXPECT_EQ(c.desc.b.layout, Layout::kColMajor);
  EXPECT_EQ(c.desc.b.ld, 6);
  EXPECT_EQ(c.desc.c.ld, 4);
  EXPECT_EQ(std::vector({c.m, c.n, c.k}), (std::vector<std::int64_t>{3, 4, 5}));
  EXPECT_EQ(suite.cases[1].alpha, 1);
  ASSERT_EQ(suite.faults.size(), 1u);
  EXPECT_SAYS(suite.faults[0], "calls.log:4: ");
  EXPECT_SAYS(suite.faults[0], "not finite");
}

}  // namespace
}  // namespace tessera::bench
