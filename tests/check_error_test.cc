// What `tessera check` says of odd inputs: one clear message and the documented exit code, and
// what only looks odd is run.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "support/cli.h"
#include "support/sanitized.h"

namespace tessera::test {
namespace {

const std::string kKernel =
    "__global__ void k(const float* A, const float* B, float* C, int N) {\n"
    "  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;\n"
    "  if (x >= N || y >= N) return;\n"
    "  float sum = 0;\n"
    "  for (int i = 0; i < N; ++i) sum += A[y * N + i] * B[i * N + x];\n"
    "  C[y * N + x] = sum;\n"
    "}\n";
const std::string kMain =
    "int main() {\n"
    "  float *a, *c;\n"
    "  cudaMalloc(&a, 400);\n"
    "  cudaMalloc(&c, 400);\n"
    "  cudaMemset(a, 0, 400);\n"
    "  k<<<1, dim3(16, 16)>>>(a, a, c, 10);\n"
    "  return cudaDeviceSynchronize();\n"
    "}\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Long lines go on in the next, indented.
std::string unwrapped(const std::string& text) { return replaced(text, "\n  ", " "); }

class CheckError : public CliTest {
 protected:
  Ran check(const std::string& name, std::vector<std::string> more = {},
            const Limits& limits = {}) {
    more.insert(more.begin(), {"check", path(name), "--no-count"});
    return run_tessera(more, limits);
  }
  Ran check_text(const std::string& text, std::vector<std::string> more = {}) {
    write_file(path("k.cu"), text);
    return check("k.cu", std::move(more));
  }
  /// One line, which is the first of pieces among others.
  void expect_refused(const std::string& text, int code, const std::vector<std::string>& pieces,
                      std::vector<std::string> more = {}) {
    SCOPED_TRACE(pieces.empty() ? "" : pieces[0]);
    expect_error(check_text(text, std::move(more)), code, pieces);
  }
  /// A heading, then what the compiler says.
  void expect_not_compiled(const std::string& text, const std::vector<std::string>& pieces) {
    const Ran ran = check_text(text);
    EXPECT_EQ(ran.code, 4) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err.rfind("tessera check: " + path("k.cu") + ": does not compile\n", 0), 0U)
        << ran.err;
    for (const std::string& piece : pieces) {
      EXPECT_NE(ran.err.find(piece), std::string::npos) << piece << " is not in: " << ran.err;
    }
    EXPECT_EQ(ran.err.find("tessera-check-"), std::string::npos) << "a path of ours: " << ran.err;
    EXPECT_EQ(ran.err.find("<kernels>"), std::string::npos) << ran.err;
  }
  void expect_clean(const Ran& ran) {
    EXPECT_EQ(ran.code, 0) << ran.err << ran.out;
    EXPECT_NE(ran.out.find("no finding"), std::string::npos) << ran.out;
  }
};

TEST_F(CheckError, FilesThatAreNoSource) {
  expect_error(check("missing.cu"), 3, {"cannot read", "missing.cu"});
  std::filesystem::create_directory(path("folder.cu"));
  expect_error(check("folder.cu"), 3, {"folder.cu is no regular file"});
  expect_error(run_tessera({"check", "/dev/null"}), 3, {"/dev/null is no regular file"});
  expect_refused(std::string("\x7f"
                             "ELF\0\0",
                             6),
                 3, {"no text"});
  if (::geteuid() != 0) {
    write_file(path("locked.cu"), kKernel);
    ASSERT_EQ(::chmod(path("locked.cu").c_str(), 0), 0);
    expect_error(check("locked.cu"), 3, {"cannot read", "locked.cu"});
  }
  expect_error(run_tessera({"check"}), 2, {"FILE is missing"});
  for (const std::string stream : {"-", "/dev/stdin", "/dev/fd/0"}) {
    expect_error(run_tessera({"check", stream}), 3, {stream, "read twice"});
  }
}

TEST_F(CheckError, NothingToRun) {
  expect_refused("", 4, {"k.cu has no __global__ function and no solve("});
  expect_refused("int f() { return 1; }\n", 4, {"k.cu has no __global__ function"});
  const Ran host_only = check_text("#include <cstdio>\nint main() { puts(\"hello\"); }\n");
  EXPECT_EQ(host_only.code, 4);
  EXPECT_EQ(host_only.out, "hello\n");
  EXPECT_NE(host_only.err.find("has launched no kernel, so nothing was checked"), std::string::npos)
      << host_only.err;
}

TEST_F(CheckError, SeveralKernels) {
  const std::string other = replaced(kKernel, "void k(", "void other(");
  expect_refused(kKernel + other, 2, {"name one of 2 kernels: k (line 1), other (line 8)"});
  const std::string two = "namespace a {\n" + kKernel + "}\nnamespace b {\n" +
                          replaced(kKernel, "sum +=", "sum -=") + "}\n";
  expect_refused(two, 2, {"a::k (line 2), b::k (line 11)"});
  expect_clean(check("k.cu", {"--kernel", "a::k"}));
  EXPECT_EQ(check("k.cu", {"--kernel", "b::k"}).code, 6);
  expect_refused(two, 2, {"--kernel 'c'", "there is a::k"}, {"--kernel", "c"});
}

TEST_F(CheckError, ArgumentsThatAreNoProduct) {
  expect_refused("__global__ void k(float* p) { p[0] = 1; }\n", 2,
                 {"not plainly those of a product", "(float* p)", "--roles"});
  expect_refused(kKernel, 2, {"--gemm 3,4,5", "has one size, N"}, {"--gemm", "3,4,5"});
  expect_refused(kKernel, 2, {"--gemm 3,4", "M,N,K"}, {"--gemm", "3,4"});
  expect_refused(kKernel, 2, {"k (line 1) is no template"}, {"--kernel", "k<16>"});
  expect_refused(kKernel, 2, {"--block", "0"}, {"--gemm", "3,3,3", "--block", "0,4"});
  expect_refused(kKernel, 2, {"--run", "program with main"}, {"--run", "3"});
}

TEST_F(CheckError, Usage) {
  expect_refused(kKernel, 2, {"--frobnicate"}, {"--frobnicate"});
  expect_refused(kKernel, 2, {"--time-limit", "soon"}, {"--time-limit", "soon"});
  expect_refused(kKernel, 2, {"--fail-on", "maybe"}, {"--fail-on", "maybe"});
  expect_refused(kKernel, 2, {"compiler flag --wild"}, {"--", "--wild"});
  expect_refused(kKernel + kMain, 2, {"--block 4,4", "launches by itself"}, {"--block", "4,4"});
  expect_refused(kKernel + kMain, 2, {"--layout col", "launches by itself"}, {"--layout", "col"});
  expect_refused(kKernel, 2, {"--layout", "diagonal"}, {"--layout", "diagonal"});
  expect_refused(kKernel, 2, {"--layout col", "--gpu compares row-major"},
                 {"--layout", "col", "--gpu"});
  expect_refused(kKernel, 4, {"none/page.html"}, {"--html", path("none/page.html")});
  for (const std::string option : {"--gemm", "--block", "--grid", "--shared", "--roles", "--html",
                                   "--sarif", "--kernel", "--arch"}) {
    expect_refused(kKernel, 2, {option}, {option, ""});
  }
  for (const std::string chip :
       {"sm_20", "sm_9", "sm_", "90", "sm_90z", "sm_90 --run", "sm_9000"}) {
    expect_refused(kKernel, 2, {"--arch", chip, "sm_50"}, {"--arch", chip});
  }
  for (const std::string time : {"nan", "-nan", "inf", "0", "-1"}) {
    expect_refused(kKernel, 2, {"--time-limit", time, "0.1 to"}, {"--time-limit=" + time});
  }
  expect_refused(kKernel, 2, {"--max-accesses", "0", "from 1"}, {"--max-accesses", "0"});
  expect_refused(kKernel, 2, {"--step-limit", "0", "from 1"}, {"--step-limit", "0"});
}

TEST_F(CheckError, OutputsThatAreTheSource) {
  write_file(path("k.cu"), kKernel);
  std::filesystem::create_symlink(path("k.cu"), path("link.html"));
  std::filesystem::create_hard_link(path("k.cu"), path("hard.html"));
  for (const std::string option : {"--html", "--sarif", "--gpu-image"}) {
    for (const std::string name : {"k.cu", "./k.cu", "link.html", "hard.html"}) {
      expect_error(check("k.cu", {option, path(name)}), 2, {option, name, "same file as FILE"});
    }
  }
  expect_error(check("k.cu", {"--html", path("new"), "--sarif", path("./new")}), 2,
               {"--sarif", "same file as --html"});
  write_file(path("rest.cpp"), "int answer() { return 42; }\n");
  expect_error(check("k.cu", {"--html", path("rest.cpp"), "--", path("rest.cpp")}), 2,
               {"--html", "rest.cpp", "same file"});
  EXPECT_EQ(read_file(path("k.cu")), kKernel);
  EXPECT_FALSE(std::filesystem::exists(path("new")));
}

TEST_F(CheckError, SizesThatDoNotFit) {
  const std::string three =
      "__global__ void k(const float* A, const float* B, float* C, int M, "
      "int N, int K) { C[0] = A[0] * B[0]; }\n";
  expect_refused(three, 4, {"--gemm 1048576,1048576,1", "need about", "GiB", "available"},
                 {"--gemm", "1048576,1048576,1"});
}

TEST_F(CheckError, NamesAndMarksOfALoneKernel) {
  const std::vector<std::string> sizes = {"--gemm", "16,16,16"};
  const std::string folder = "a \"quoted\\ folder";
  std::filesystem::create_directory(path(folder));
  write_file(path(folder + "/k\"\\.cu"), replaced(kKernel, "C[y * N + x]", "C[y * N + x + 1]"));
  const Ran ran = check(folder + "/k\"\\.cu", sizes);
  EXPECT_EQ(ran.code, 6) << ran.err;
  EXPECT_NE(ran.out.find("/k\"\\.cu:6:"), std::string::npos) << ran.out;
  expect_clean(check_text("\xef\xbb\xbf" + kKernel, sizes));
  const Ran marked = check_text("\xef\xbb\xbf" + replaced(kKernel, "C[y", "D[y"), sizes);
  EXPECT_NE(marked.err.find("k.cu:6:3: error:"), std::string::npos) << marked.err;
}

TEST_F(CheckError, AnNvccThatDoesNotWork) {
  write_file(path("k.cu"), kKernel);
  std::filesystem::create_directory(path("bin"));
  for (const std::string says : {"", "echo \"$0: error: $*\""}) {
    write_file(path("bin/nvcc"), "#!/bin/sh\n" + says + "\nexit 7\n");
    ASSERT_EQ(::chmod(path("bin/nvcc").c_str(), 0700), 0);
    Limits limits;
    const std::string before = std::getenv("PATH");
    limits.environment = {"PATH=" + path("bin") + ":" + before};
    const Ran ran = run_tessera({"check", path("k.cu"), "--gemm", "16,16,16"}, limits);
    EXPECT_EQ(ran.code, 0) << ran.err;
    const std::string flat = unwrapped(ran.out);
    EXPECT_NE(flat.find("nvcc did not compile it"), std::string::npos) << ran.out;
    EXPECT_NE(flat.find(says.empty() ? "exit code 7, without a message" : "error: -cubin"),
              std::string::npos)
        << ran.out;
    EXPECT_EQ(flat.find("tessera-check-"), std::string::npos) << ran.out;
  }
}

TEST_F(CheckError, WhatDoesNotCompile) {
  expect_not_compiled("#include <vector>\n__global__ void k(float* p) {\n  p[0] = 1\n}\n",
                      {"k.cu:3", "expected ';'", "\n    p[0] = 1\n"});
  expect_not_compiled("__global__ void k(float* p) {\n\tp[0]\t= nosuch;\n}\n",
                      {"k.cu:2:9: error:", "'nosuch'", "\n  \tp[0]\t= nosuch;\n  \t    \t  ^\n"});
  expect_not_compiled(replaced("int x;\n\n__global__ void k(strange p) {}\n", "\n", "\r\n"),
                      {"k.cu:3:19: error: unknown type name 'strange'"});
  expect_not_compiled("int a = \"x\";\n", {"k.cu:1:5: error:"});
  expect_not_compiled("__global__ void k(float* p) {\n  p[0] = 1;\n",
                      {"expected '}' at the end of the file", "k.cu:1:29: note: to match"});
  expect_not_compiled("\n#include \"nothere.h\"\n", {"k.cu:2:10:", "'nothere.h' file not found"});
  expect_not_compiled("#error not this machine\n", {"k.cu:1:2: error: not this machine"});
  expect_not_compiled("__global__ void k(float*) {}\nint main() {\n  k<<<1, 2>>>(3);\n}\n",
                      {"k.cu:3", "'float *'"});
  write_file(path("part.cuh"), "__global__ void k(float* p) {\n  p[0] = nosuch;\n}\n");
  expect_not_compiled("#include \"part.cuh\"\n" + kMain, {"part.cuh:2:10: error:"});
}

TEST_F(CheckError, WhatIsNotInstalled) {
  const auto refused = [&](const std::string& variable, const std::vector<std::string>& pieces) {
    Limits limits;
    limits.environment = {variable};
    SCOPED_TRACE(variable);
    write_file(path("k.cu"), kKernel + kMain);
    expect_error(check("k.cu", {}, limits), 4, pieces);
  };
  refused("TESSERA_CLANG=/nonexistent", {"TESSERA_CLANG=/nonexistent is no clang++"});
  refused("TMPDIR=/nonexistent", {"cannot make the folder /nonexistent/", "TMPDIR"});
  refused("PATH=/nonexistent", {"needs clang++ 14 or newer"});
}

TEST_F(CheckError, WhatOnlyLooksOdd) {
  const std::string program = kKernel + kMain;
  expect_clean(check_text(replaced(program, "\n", "\r\n")));
  expect_clean(check_text(replaced(program, "  ", "\t")));
  expect_clean(check_text("\xef\xbb\xbf" + program));
  std::string long_sum;
  for (int i = 0; i < 20000; ++i) long_sum += " + 0.0f";
  expect_clean(check_text(replaced(program, "sum = 0;", "sum = 0" + long_sum + ";")));
  const std::string folder = "it's a \"folder\" é";
  std::filesystem::create_directory(path(folder));
  write_file(path(folder + "/inner part.cuh"), kKernel);
  write_file(path(folder + "/my kernel.cu"), "#include \"inner part.cuh\"\n" + kMain);
  expect_clean(check(folder + "/my kernel.cu"));
  write_file(path("k.cuh"), "#pragma once\n" + kKernel);
  expect_clean(check("k.cuh"));
}

TEST_F(CheckError, FilesBesideTheProgram) {
  write_file(path("rest.cpp"), "int answer() { return 42; }\n");
  const std::string asks = replaced(kKernel + kMain, "int main() {",
                                    "int answer();\nint main() {\n  if (answer() != 42) return 1;");
  expect_refused(asks, 4, {"calls answer()", "behind --"});
  expect_clean(check("k.cu", {"--", path("rest.cpp")}));
  // main may be there, and the kernels here.
  write_file(path("main.cpp"), "void launch();\nint main() { launch(); }\n");
  const std::string launches = replaced(kKernel + kMain, "int main()", "void launch()");
  expect_clean(check_text(replaced(launches, "return cuda", "cuda"), {"--", path("main.cpp")}));
}

TEST_F(CheckError, WhatIsTooLargeEndsInTimeWithoutAFinding) {
  std::string text = replaced(kKernel + kMain, "k<<<1, dim3", "k<<<dim3(63, 63), dim3");
  text = replaced(replaced(text, "400", "4000000"), "c, 10)", "c, 1000)");
  const Ran ran = check_text(text, {"--time-limit", "1"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  const std::string flat = unwrapped(ran.out);
  EXPECT_NE(flat.find("k did not run to its end: the time limit of 1 s"), std::string::npos)
      << ran.out;
}

// grid.y and grid.z end at 65535. The function is called with sizes that nothing is there for.
TEST_F(CheckError, SizesBeyondWhichALaunchFailsAreSaid) {
  const std::string solve =
      "#include <cstdlib>\n" + replaced(kKernel, "int N", "int M, int N, int K") +
      "void solve(const float* A, const float* B, float* C, int rows, int inner, int columns) {\n"
      "  float* copy;\n"
      "  cudaMalloc(&copy, sizeof(float) * rows * columns);\n"
      "  cudaMemset(copy, 0, sizeof(float) * rows * columns);\n"
      "  k<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(A, B, C, rows, columns, "
      "inner);\n"
      "  cudaFree(copy);\n"
      "}\n";
  const auto notes = [&](const std::string& text) {
    const Ran ran = check_text(text, {"--gemm", "40,40,40"});
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    return unwrapped(ran.out);
  };
  const std::string said = notes(solve);
  EXPECT_NE(
      said.find("solve launches by itself, with grid.y beyond 65535 where rows is larger than "
                "1048560: that launch fails"),
      std::string::npos)
      << said;
  EXPECT_EQ(said.find("where columns is larger"), std::string::npos) << said;
  // One that walks over its rows, and ones whose end is not this run's.
  EXPECT_EQ(notes(replaced(solve, "(rows + 15) / 16", "rows > 999 ? 3 : (rows + 15) / 16"))
                .find("is larger than"),
            std::string::npos);
  for (const std::string end : {"for (;;)", "abort()", "exit(3)", "*(volatile int*)8 = 1"}) {
    SCOPED_TRACE(end);
    EXPECT_EQ(
        notes(replaced(solve, "  float* copy", "  if (rows > 99) " + end + ";\n  float* copy"))
            .find("is larger than"),
        std::string::npos);
  }
}

TEST_F(CheckError, ARepeatIsRunOnce) {
  const Ran ran =
      check_text(replaced(kKernel + kMain, "  k<<<", "  for (int i = 0; i < 300; ++i) k<<<"));
  expect_clean(ran);
  EXPECT_NE(ran.out.find("launched 300 times"), std::string::npos) << ran.out;
}

TEST_F(CheckError, FaultsOfIncludedFilesAreNamedThere) {
  write_file(path("part.cuh"), replaced(kKernel, "C[y * N + x]", "C[y * N + x + 1]"));
  const Ran ran = check_text("#include \"part.cuh\"\n" + kMain);
  EXPECT_EQ(ran.code, 6) << ran.err;
  EXPECT_NE(ran.out.find("part.cuh:6"), std::string::npos) << ran.out;
}

TEST_F(CheckError, TheProgramsOwnEnd) {
  const Ran three = check_text(replaced(kKernel + kMain, "return cuda", "exit(3); cuda"));
  EXPECT_EQ(three.code, 0) << three.err;
  EXPECT_NE(three.out.find("ended with exit code 3"), std::string::npos) << three.out;
  const Ran assertion = check_text(
      "#include <cassert>\n__global__ void k(int n) {\n  assert(threadIdx.x < n);\n}\n"
      "int main() { k<<<1, 32>>>(30); }\n");
  EXPECT_EQ(assertion.code, 6) << assertion.err;
  EXPECT_NE(assertion.out.find("thread 30 fails the assertion"), std::string::npos)
      << assertion.out;
  EXPECT_NE(assertion.out.find("k.cu:3"), std::string::npos) << assertion.out;
  const Ran crash = check_text("__global__ void k() {}\nint main() { *(volatile int*)8 = 1; }\n");
  EXPECT_EQ(crash.code, 6) << crash.err;
  EXPECT_NE(crash.out.find("host code stopped with signal 11"), std::string::npos) << crash.out;
  EXPECT_NE(crash.out.find("k.cu:2"), std::string::npos) << crash.out;
}

// In its own code and in a library's, behind a launch, before any, and before main.
TEST_F(CheckError, AHostThatDoesNotEnd) {
  const auto expect_late = [&](const std::string& text, const std::string& where) {
    SCOPED_TRACE(text);
    const Ran ran = check_text("#include <unistd.h>\n" + text, {"--time-limit", "0.2"});
    EXPECT_EQ(ran.code, 6) << ran.out << ran.err;
    const std::string flat = unwrapped(ran.out);
    EXPECT_NE(flat.find("/k.cu:" + where), std::string::npos) << ran.out;
    EXPECT_NE(flat.find("error: time-limit"), std::string::npos) << ran.out;
    EXPECT_NE(flat.find("host code has not come to its end within 0.2 s"), std::string::npos)
        << ran.out;
    EXPECT_NE(flat.find("a wait for what never comes"), std::string::npos) << ran.out;
  };
  const std::string program = kKernel + kMain;
  for (const std::string wait :
       {"volatile int x = 1;\nwhile (x) x = 2;\n", "int x;\nfor (;;) pause();\n"}) {
    expect_late(replaced(program, "  return cuda", wait + "return cuda"), "16:");
    expect_late(replaced(program, "  float *a", wait + "float *a"), "11:");
  }
  // Nothing is known of a program that is not yet loaded.
  expect_late(program + "struct Waits { Waits() { for (;;) pause(); } } waits;\n", " error");
}

// A host that only waits for what a kernel had no time to do is no fault.
TEST_F(CheckError, AHostThatWaitsForAKernelThatIsTooLarge) {
  std::string text = replaced(kKernel + kMain, "k<<<1, dim3", "k<<<dim3(63, 63), dim3");
  text = replaced(replaced(text, "400", "4000000"), "c, 10)", "c, 1000)");
  const Ran ran = check_text(replaced(text, "return cuda", "for (;;) cuda"), {"--time-limit", "1"});
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("has not come to its end within 1 s"), std::string::npos) << ran.out;
}

// Heaps that are found broken by malloc or free are a finding too, whatever these have locked.
TEST_F(CheckError, AHostThatBreaksItsHeap) {
  if (kProgramsSanitized) GTEST_SKIP() << "under AddressSanitizer the heap is its own";
  const std::string breaks =
      "char* p = (char*)malloc(40); for (int i = 0; i < 4000; ++i) p[i - 64] = 7; free(p); return";
  const Ran ran = check_text("#include <cstdlib>\n" +
                             replaced(kKernel + kMain, "return cuda", breaks + " cuda"));
  EXPECT_EQ(ran.code, 6) << ran.err;
  EXPECT_NE(ran.out.find("host code stopped with signal 6"), std::string::npos) << ran.out;
}

TEST_F(CheckError, SharedArraysOfAnySize) {
  for (const std::string bytes : {"50000", "3000000", "3000000000"}) {
    const Ran ran = check_text(
        replaced(kKernel + kMain, "  float sum = 0;",
                 "  __shared__ char s[" + bytes + "];\n  s[x] = 0;\n  float sum = s[x];"));
    EXPECT_EQ(ran.code, 6) << bytes << ran.out << ran.err;
    EXPECT_NE(ran.out.find("too much shared memory"), std::string::npos) << ran.out;
  }
}

}  // namespace
}  // namespace tessera::test
