// Hardware counters through ncu: its table, its refusals, and a false ncu run as a program.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "bench/counters.h"
#include "bench/counters_csv.h"
#include "support/errors.h"

namespace tessera::bench {
namespace {

double value(const CounterRun& run, const std::string& name) {
  for (const auto& [key, value] : run.values) {
    if (key == name) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

void expect_unavailable(const CounterRun& run, const std::string& part) {
  EXPECT_TRUE(run.values.empty());
  EXPECT_EQ(run.unavailable.find('\n'), std::string::npos) << run.unavailable;
  EXPECT_SAYS(run.unavailable, part);
}

struct Column {
  std::string name, unit, first, second;
};

/// What ncu prints for two launches: its messages, a line of the program, and the table.
std::string two_launches() {
  const std::string requests = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum";
  const Column columns[] = {
      {"ID", "", "0", "1"},
      {"Process ID", "", "42", "42"},
      {"Kernel Name", "", "void warp_tiled<Large, \"\"a\"\">(Args, long)", "reduce_pieces(Args)"},
      {"Block Size", "", "(256, 1, 1)", "(256, 1, 1)"},
      {"gpu__time_duration.sum", "ns", "3,000", "1,000"},
      {"launch__registers_per_thread", "register/thread", "250", "40"},
      {requests, "request", "1,024", "16"},
      {"dram__bytes_read.sum", "Mbyte", "8.5", "0.5"},
      {"lts__t_bytes_op_read.sum", "byte", "(!) n/a", "(!) n/a"},
      {"lts__t_sectors_op_read.sum", "sector", "10", "6"},
      {"sm__warps_active.avg.pct_of_peak_sustained_active", "%", "12.5", "50"},
      {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "", "1,234,567", "nan"},
  };
  std::string lines[4];
  for (const Column& column : columns) {
    const std::string* fields[] = {&column.name, &column.unit, &column.first, &column.second};
    for (int i = 0; i < 4; ++i) {
      lines[i] += fmt::format("{}\"{}\"", lines[i].empty() ? "" : ",", *fields[i]);
    }
  }
  return fmt::format(
      "==PROF== Connected to process 42 (/usr/bin/tessera)\n"
      "==PROF== Profiling \"warp_tiled\": 0%....50%....100% - 8 passes\n"
      "a line, \"of the program\" itself\n"
      "==PROF== Disconnected from process 42\n"
      "{}\n{}\n{}\n{}\n",
      lines[0], lines[1], lines[2], lines[3]);
}

const std::string kTwoLaunches = two_launches();

TEST(CountersCsv, QuotesCommasAndDoubledQuotes) {
  using Fields = std::vector<std::string>;
  EXPECT_EQ(csv_fields(R"("a,b","c ""d"" e",f,"")"), (Fields{"a,b", "c \"d\" e", "f", ""}));
  EXPECT_EQ(csv_fields("x\r"), (Fields{"x"}));
  EXPECT_EQ(csv_fields(""), (Fields{""}));
  EXPECT_EQ(csv_fields("\"open, end"), (Fields{"open, end"}));
}

TEST(CountersCsv, NumbersUnitsAndWhatIsNone) {
  const auto launches = parse_ncu_csv(kTwoLaunches);
  ASSERT_EQ(launches.size(), 2U);
  EXPECT_EQ(launches[0].at("gpu__time_duration.sum"), 3000);
  EXPECT_EQ(launches[0].at("dram__bytes_read.sum"), 8.5e6);
  EXPECT_EQ(launches[0].at("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"), 1234567);
  EXPECT_EQ(launches[0].count("lts__t_bytes_op_read.sum"), 0U);
  EXPECT_EQ(launches[0].count("Process ID"), 0U);
  EXPECT_EQ(launches[1].count("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"), 0U);
  EXPECT_TRUE(parse_ncu_csv("").empty());
  EXPECT_TRUE(parse_ncu_csv("\"ID\",\"Process ID\",\"a__b\"\n").empty());
}

TEST(Counters, LaunchesAreAddedUp) {
  const CounterRun run = read_counters(kTwoLaunches, "", 0);
  EXPECT_EQ(run.unavailable, "");
  EXPECT_EQ(value(run, "gpu_time_ns"), 4000);
  EXPECT_EQ(value(run, "global_load_requests"), 1040);
  EXPECT_EQ(value(run, "hbm_read_bytes"), 9e6);
  EXPECT_EQ(value(run, "l2_read_bytes"), 16 * 32);  // the bytes themselves are not counted here
  EXPECT_EQ(value(run, "registers"), 250);
  EXPECT_DOUBLE_EQ(value(run, "achieved_occupancy"), (0.125 * 3000 + 0.5 * 1000) / 4000);
  // Unknown for one launch is unknown for the product.
  EXPECT_TRUE(std::isnan(value(run, "shared_wavefronts")));
}

TEST(Counters, ForbiddenOnesNameTheSetting) {
  const std::string refusal =
      "==PROF== Connected to process 42\n"
      "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
      "Performance Counters on the target device 0.\n";
  expect_unavailable(read_counters(refusal, "", 1), "NVreg_RestrictProfilingToAdminUsers=0");
  expect_unavailable(read_counters("", refusal, 0), "NVreg_RestrictProfilingToAdminUsers=0");
}

TEST(Counters, FailuresRepeatWhatNcuSaidLast) {
  const std::string out =
      "==ERROR== The first fault.\n==ERROR== The application crashed.  \n\nbye\n";
  expect_unavailable(read_counters(out, "", 9), "exit code 9: The application crashed.");
  expect_unavailable(read_counters("", "no such option\r\n", 1), "exit code 1: no such option");
  expect_unavailable(read_counters("", "", 1), "it printed nothing");
  expect_unavailable(read_counters(kTwoLaunches, "", -1), "was killed");
  expect_unavailable(read_counters("==WARNING== No kernels were profiled.\n", "", 0),
                     "no kernel was profiled: ==WARNING== No kernels were profiled.");
  expect_unavailable(
      read_counters("\"ID\",\"Process ID\",\"dram__bytes_read.sum\"\n\"0\",\"1\",\"n/a\"\n", "", 0),
      "none of the counters");
}

/// A folder with a shell script in the place of ncu.
class FalseNcu : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "tessera_ncu_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = std::getenv("PATH");
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    unsetenv("TESSERA_NCU");
    std::filesystem::remove_all(folder_);
  }
  void install(const std::string& script) {
    std::ofstream(file()) << "#!/bin/sh\n" << script;
    ASSERT_EQ(chmod(file().c_str(), 0755), 0);
    setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
  }
  std::string file(const std::string& name = "ncu") const { return folder_ + "/" + name; }
  std::string read(const std::string& name) const {
    std::ifstream in(file(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string folder_, path_;
};

TEST_F(FalseNcu, GetsTheProgramAndItsArgumentsUnchanged) {
  install(fmt::format("[ -e '{0}' ] || printf '%s\\n' \"$@\" > '{0}'\ncat <<'END'\n{1}END\n",
                      file("words"), kTwoLaunches));
  const CounterRun run = measure_counters("/bin/some program", {"bench", "a b", "$HOME", "'"});
  EXPECT_EQ(run.unavailable, "");
  EXPECT_EQ(value(run, "gpu_time_ns"), 4000);
  const std::string words = read("words");
  EXPECT_SAYS(words, "--clock-control\nnone\n--csv\n--page\nraw\n");
  EXPECT_SAYS(words, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,");
  const std::string tail = "\n/bin/some program\nbench\na b\n$HOME\n'\n";
  ASSERT_GE(words.size(), tail.size());
  EXPECT_EQ(words.substr(words.size() - tail.size()), tail);
}

TEST_F(FalseNcu, MayPrintMoreThanAPipeHolds) {
  install(
      fmt::format("head -c 300000 /dev/zero | tr '\\0' x >&2\n"
                  "head -c 300000 /dev/zero | tr '\\0' y\necho\ncat <<'END'\n{}END\n",
                  kTwoLaunches));
  EXPECT_EQ(value(measure_counters("/bin/true", {}), "gpu_time_ns"), 4000);
}

TEST_F(FalseNcu, IsAskedAgainWithoutWhatItDoesNotKnow) {
  // As ncu 2025 refuses; the name is the beginning of others that it knows.
  install(fmt::format(R"(echo run >> '{0}'
case "$*" in
  *lts__t_bytes_op_read.sum*)
    echo '==ERROR== Failed to find metric regex:^lts__t_bytes_op_read\.(sum|avg)$'
    exit 1;;
  *dram__bytes_read.sum*)
    echo '==ERROR== Failed to find metric dram__bytes_read.sum' >&2
    exit 1;;
esac
cat <<'END'
"ID","Process ID","gpu__time_duration.sum","dram__bytes_op_read.sum"
"","","ns","byte"
"0","1","7","96"
END
)",
                      file("runs")));
  setenv("PATH", "/usr/bin:/bin", 1);
  setenv("TESSERA_NCU", file().c_str(), 1);
  const CounterRun run = measure_counters("/bin/true", {});
  EXPECT_EQ(run.unavailable, "");
  EXPECT_EQ(value(run, "gpu_time_ns"), 7);
  EXPECT_EQ(value(run, "hbm_read_bytes"), 96);
  EXPECT_GT(read("runs").size(), 8U);
  EXPECT_LT(read("runs").size(), 4U * 20);
}

TEST_F(FalseNcu, ThatFailsIsQuoted) {
  install("echo '==ERROR== Driver resources are taken.' >&2\nexit 5\n");
  expect_unavailable(measure_counters("/bin/true", {}), "exit code 5: Driver resources are taken.");
}

TEST_F(FalseNcu, ThatIsKilledIsSaidSo) {
  install("kill -9 $$\n");
  expect_unavailable(measure_counters("/bin/true", {}), "was killed");
}

TEST_F(FalseNcu, ThatDoesNotExistIsNamed) {
  setenv("TESSERA_NCU", file("absent").c_str(), 1);
  expect_unavailable(measure_counters("/bin/true", {}), file("absent"));
}

TEST_F(FalseNcu, IsLookedForInUsualPlaces) {
  setenv("PATH", file("empty").c_str(), 1);
  const CounterRun run = measure_counters("/bin/true", {});
  // Either there is one on this machine, or the places are named.
  if (access("/usr/local/cuda/bin/ncu", X_OK) != 0 &&
      !std::filesystem::exists("/opt/nvidia/nsight-compute")) {
    expect_unavailable(run, "/opt/nvidia/nsight-compute");
  }
}

}  // namespace
}  // namespace tessera::bench
