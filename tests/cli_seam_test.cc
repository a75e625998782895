// What the verbs do when an engine lies: a wrong product is never written, a wrong kernel never
// gets a speed.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "mul.h"
#include "tessera/half.h"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t kM = 40, kN = 30, kK = 20;

class MulSeam : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "tessera_seam_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    args_.product.a = directory_ / "a.npy";
    args_.product.b = directory_ / "b.npy";
    args_.out = directory_ / "c.npy";
    args_.quiet = true;
    args_.device = "cpu";
    write(args_.product.a, kM, kK);
    write(args_.product.b, kK, kN);
  }
  void TearDown() override { fs::remove_all(directory_); }

  void write(const std::string& path, std::int64_t rows, std::int64_t cols) const {
    io::OutputMatrix out(path, DType::kF64, rows, cols);
    std::vector<double> values(static_cast<std::size_t>(rows * cols));
    // Not one of them is an f32.
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1 + static_cast<double>(i) / 7;
    out.write_block<double>(0, 0, rows, cols, values.data(), cols);
    out.commit();
  }
  std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }
  /// The true product, then one element changed.
  static MulEngines spoiling(double change) {
    MulEngines engines;
    engines.multiply = [change](Op op_a, Op op_b, double alpha, const io::FileMatrix& a,
                                const io::FileMatrix& b, double beta, const io::FileMatrix* c0,
                                io::OutputMatrix& out, const PanelOptions& options) {
      PanelReport report = panel_gemm(op_a, op_b, alpha, a, b, beta, c0, out, options);
      double value = 0;
      io::read_block<double>(out.as_input(), 7, 11, 1, 1, &value, 1);
      value += change;
      out.write_block<double>(7, 11, 1, 1, &value, 1);
      return report;
    };
    return engines;
  }

  fs::path directory_;
  MulArgs args_;
};

TEST_F(MulSeam, ARightProductIsWritten) {
  EXPECT_EQ(run_mul(args_), kOk);
  EXPECT_EQ(file_count(), 3U);
}

TEST_F(MulSeam, AWrongElementIsNotWritten) {
  for (const double change : {1e-3, -1e3, std::numeric_limits<double>::quiet_NaN()}) {
    for (const char* method : {"freivalds", "full"}) {
      args_.verify = method;
      EXPECT_THROW(run_mul(args_, spoiling(change)), CheckFailed) << change;
      EXPECT_EQ(file_count(), 2U);
    }
  }
}

TEST_F(MulSeam, AnUntouchedOutputIsNotWritten) {
  MulEngines engines;
  engines.multiply = [](Op, Op, double, const io::FileMatrix&, const io::FileMatrix&, double,
                        const io::FileMatrix*, io::OutputMatrix&,
                        const PanelOptions&) { return PanelReport{}; };
  EXPECT_THROW(run_mul(args_, engines), CheckFailed);
  EXPECT_EQ(file_count(), 2U);
}

TEST_F(MulSeam, AFailureKeepsTheOlderFile) {
  std::ofstream(args_.out) << "older";
  EXPECT_THROW(run_mul(args_, spoiling(1)), CheckFailed);
  std::string text;
  std::ifstream(args_.out) >> text;
  EXPECT_EQ(text, "older");
  EXPECT_EQ(file_count(), 3U);
}

TEST_F(MulSeam, AnErrorInTheMiddleLeavesNothing) {
  MulEngines engines;
  engines.multiply = [](Op, Op, double, const io::FileMatrix&, const io::FileMatrix&, double,
                        const io::FileMatrix*, io::OutputMatrix&,
                        const PanelOptions&) -> PanelReport {
    throw Error(ErrorCode::kOutOfMemory, "no more");
  };
  EXPECT_THROW(run_mul(args_, engines), Error);
  EXPECT_EQ(file_count(), 2U);
}

TEST_F(MulSeam, TheCheckSeesInputsAsRounded) {
  args_.product.precision = "fp32";
  MulEngines engines;
  double seen = 0;
  engines.check = [&](const VerifyProblem& problem, const VerifyOptions& options) {
    problem.a.read(1, 1, 1, 1, &seen, 1);
    EXPECT_EQ(problem.precision, Precision::kFp32);
    EXPECT_EQ(problem.c_dtype, DType::kF32);
    return verify(problem, options);
  };
  EXPECT_EQ(run_mul(args_, engines), kOk);
  const double exact = 0.1 + static_cast<double>(kK + 1) / 7;
  EXPECT_EQ(seen, static_cast<double>(static_cast<float>(exact)));
  EXPECT_NE(seen, exact);
}

TEST_F(MulSeam, TheCheckSeesSixteenBitInputsAsRounded) {
  MulEngines engines;
  double seen = 0;
  engines.check = [&](const VerifyProblem& problem, const VerifyOptions& options) {
    problem.b.read(1, 1, 1, 1, &seen, 1);
    EXPECT_EQ(problem.precision, Precision::kFp32);
    return verify(problem, options);
  };
  double exact = 0;
  io::read_block(io::open_matrix(args_.product.b), 1, 1, 1, 1, &exact, 1);
  args_.product.precision = "bf16";
  EXPECT_EQ(run_mul(args_, engines), kOk);
  EXPECT_EQ(seen, static_cast<double>(BFloat16(static_cast<float>(exact))));
  EXPECT_NE(seen, exact);
  args_.product.precision = "fp16";
  EXPECT_EQ(run_mul(args_, engines), kOk);
  EXPECT_EQ(seen, static_cast<double>(Float16(static_cast<float>(exact))));
}

// A GPU takes a product by default, but none whose type no kernel of it takes.
TEST(ChooseDevice, SixteenBitInputsGoToTheCpu) {
  for (const DType type : {DType::kBF16, DType::kF16}) {
    const DeviceChoice choice = choose_device("auto", "auto", type);
    EXPECT_EQ(choice.space, Space::kHost) << choice.reason;
  }
}

TEST(Args, Sizes) {
  EXPECT_EQ(parse_size("--memory", "1000"), 1000);
  EXPECT_EQ(parse_size("--memory", "512M"), std::int64_t{512} << 20);
  EXPECT_EQ(parse_size("--memory", "2G"), std::int64_t{2} << 30);
  EXPECT_EQ(parse_size("--memory", "64MiB"), std::int64_t{64} << 20);
  EXPECT_EQ(parse_size("--memory", "3kB"), 3 << 10);
  for (const char* bad : {"", "0", "M", "1.5G", "1 G", "9999999999G", "1GiBs", "-2", "1iB"}) {
    EXPECT_THROW(parse_size("--memory", bad), Error) << bad;
  }
}

TEST(Args, Numbers) {
  EXPECT_EQ(parse_number("--alpha", "-2.5e-3"), -2.5e-3);
  EXPECT_EQ(parse_number("--alpha", "+1"), 1);
  EXPECT_TRUE(std::isnan(parse_number("--alpha", "nan")));
  EXPECT_EQ(parse_number("--alpha", "-inf"), -std::numeric_limits<double>::infinity());
  for (const char* bad : {"", "1x", "+-1", "1,5", "0x10", " 1"}) {
    EXPECT_THROW(parse_number("--alpha", bad), Error) << bad;
  }
}

TEST(ExitCodes, EveryErrorHasOne) {
  EXPECT_EQ(exit_code_of(ErrorCode::kInvalidArgument), 2);
  EXPECT_EQ(exit_code_of(ErrorCode::kBadFile), 3);
  EXPECT_EQ(exit_code_of(ErrorCode::kCancelled), 130);
  for (const ErrorCode code :
       {ErrorCode::kUnsupported, ErrorCode::kNoDevice, ErrorCode::kOutOfMemory,
        ErrorCode::kDeviceFailure, ErrorCode::kOutputFailure}) {
    EXPECT_EQ(exit_code_of(code), 4);
  }
}

}  // namespace
}  // namespace tessera::cli
