// `tessera check` that a signal ends leaves no program and no file behind.
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "support/cli.h"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

/// Neither gone nor dead and waiting for somebody to take its exit code.
bool is_running(const std::string& process) {
  std::ifstream in("/proc/" + process + "/stat");
  std::string number, name, state;
  return in >> number >> name >> state && state != "Z" && state != "X";
}

/// The end of a killed process takes a moment.
bool ends_soon(const std::string& process) {
  for (int i = 0; i < 500 && is_running(process); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return !is_running(process);
}

class CheckInterrupt : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    for (const char* folder : {"marks", "temporary"}) fs::create_directory(path(folder));
  }
  /// Waits for a process whose number stands in marks/, then sends the signal.
  Ran interrupted(int number, const std::vector<std::string>& environment = {}) {
    Limits limits;
    limits.interrupt_with = number;
    limits.watched = path("marks");
    limits.environment = environment;
    limits.environment.push_back("TMPDIR=" + path("temporary"));
    return run_tessera({"check", path("k.cu"), "--no-nvcc"}, limits);
  }
  void expect_clean_end(const Ran& ran, int number) {
    SCOPED_TRACE(number);
    expect_error(ran, 128 + number, {"tessera check: interrupted"});
    EXPECT_TRUE(fs::is_empty(path("temporary")));
    EXPECT_FALSE(fs::is_empty(path("marks"))) << "it was interrupted too early";
    for (const auto& mark : fs::directory_iterator(path("marks"))) {
      EXPECT_TRUE(ends_soon(mark.path().filename())) << mark.path();
      fs::remove(mark.path());
    }
  }
};

TEST_F(CheckInterrupt, CompilersAndWhatTheyStartAreEnded) {
  write_file(path("k.cu"), "__global__ void k(float* p) { p[0] = 1; }\n");
  // As clang starts a linker, and nvcc its passes.
  write_file(path("clang++"), fmt::format("#!/bin/sh\n"
                                          "case \"$*\" in *--version*)\n"
                                          "  echo 'clang version 14.0.0'; exit ;;\n"
                                          "esac\n"
                                          "touch \"$TMPDIR/of the compiler\"\n"
                                          "sh -c 'trap \"\" INT TERM HUP; touch {0}/$$; sleep 600; "
                                          ": $0'\n",
                                          path("marks")));
  ASSERT_EQ(::chmod(path("clang++").c_str(), 0700), 0);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    expect_clean_end(interrupted(number, {"TESSERA_CLANG=" + path("clang++")}), number);
  }
}

TEST_F(CheckInterrupt, TheProgramIsEnded) {
  write_file(path("k.cu"),
             "#include <cstdio>\n#include <string>\n#include <unistd.h>\n"
             "__global__ void k(float* p) { p[0] = 1; }\n"
             "int main() {\n"
             "  float* p;\n"
             "  cudaMalloc(&p, 4);\n"
             "  k<<<1, 1>>>(p);\n"
             "  fclose(fopen((\"" +
                 path("marks") +
                 "/\" + std::to_string(getpid())).c_str(), \"w\"));\n"
                 "  for (;;) pause();\n"
                 "}\n");
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    expect_clean_end(interrupted(number), number);
  }
}

}  // namespace
}  // namespace tessera::test
