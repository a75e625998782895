// Products in panels on the CPU against the FP64 reference, and what files and callers may do
// wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "panel_support.h"
#include "support/errors.h"
#include "tessera/error.h"
#include "tessera/gemm.h"

namespace tessera::panel {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

PanelReport on_cpu(const PanelJob& job) { return run_cpu(job); }

std::vector<std::optional<PanelShape>> shapes_for(std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto less = [](std::int64_t d) { return std::max<std::int64_t>(1, d - 1); };
  return {std::nullopt,
          PanelShape{less(m), n, k, true},
          PanelShape{m, less(n), k, false},
          PanelShape{m, n, less(k), true},
          PanelShape{m + 1, n + 1, k + 1, true},
          PanelShape{less(m), less(n), less(k), false},
          PanelShape{(m + 2) / 3, (n + 1) / 2, (k + 3) / 4, true},
          PanelShape{(m + 2) / 3, (n + 1) / 2, (k + 3) / 4, false}};
}

TEST(PanelCpu, InputsOfSixteenBitsAreRoundedOnceAndUsedInPlace) {
  Inputs inputs;
  // 1/3 + i in f64, which is rounded to f16 as it is loaded.
  const std::string a_path = inputs.dir().file("thirds.npy");
  write_npy(a_path, 9, 70, {DType::kF64},
            [](std::int64_t i, std::int64_t j) { return 1.0 / 3 + static_cast<double>(i + j); });
  const io::FileMatrix a = io::open_matrix(a_path), b = inputs.get('b', 70, 8, {DType::kF16});
  std::vector<Float16> rounded(9 * 70);
  io::read_block(a, 0, 0, 9, 70, rounded.data(), 70);
  ASSERT_EQ(static_cast<float>(rounded[1]), 0x1.554p0F);
  std::vector<Float16> values(70 * 8);
  io::read_block(b, 0, 0, 70, 8, values.data(), 8);
  std::vector<float> want(9 * 8);
  PanelOptions options;
  options.input = DType::kF16;
  options.gemm.kernel = "cpu.blocked";
  gemm(Op::kN, Op::kN, 1.0F, row_major<const Float16>(rounded.data(), 9, 70),
       row_major<const Float16>(values.data(), 70, 8), 0.0F, row_major(want.data(), 9, 8),
       options.gemm);
  for (const std::int64_t memory_bytes : {0, 8 << 20}) {
    options.memory_bytes = memory_bytes;
    io::OutputMatrix out(inputs.output(), DType::kF32, 9, 8);
    const PanelReport report = panel_gemm(Op::kN, Op::kN, 1, a, b, 0, nullptr, out, options);
    EXPECT_EQ(report.kernel, "cpu.blocked.f16");
    EXPECT_EQ(std::memcmp(out.data(), want.data(), want.size() * sizeof(float)), 0);
  }
}

TEST(PanelArguments, InputTypesWithoutAKernelAreRefused) {
  Inputs inputs;
  const io::FileMatrix a = inputs.get('a', 2, 2, {DType::kF32});
  io::OutputMatrix out(inputs.output(), DType::kF32, 2, 2);
  PanelOptions options;
  const auto refusal = [&](ErrorCode code) {
    return test::error_of(code,
                          [&] { panel_gemm(Op::kN, Op::kN, 1, a, a, 0, nullptr, out, options); });
  };
  options.input = DType::kI16;
  EXPECT_SAYS(refusal(ErrorCode::kInvalidArgument), "input type i16 with compute type f32");
  options.input = DType::kBF16;
  options.compute = DType::kF64;
  EXPECT_SAYS(refusal(ErrorCode::kInvalidArgument), "input type bf16 with compute type f64");
  options.compute = DType::kF32;
  options.space = Space::kCuda;
  EXPECT_SAYS(refusal(ErrorCode::kUnsupported), "no CUDA kernel");
}

/// Everything that decides which code a panel goes through, over odd shapes.
TEST(PanelCpu, MatchesTheReferenceForEveryStorage) {
  Inputs inputs;
  const std::vector<std::array<std::int64_t, 3>> dims = {{1, 1, 1},   {5, 2, 1},  {2, 5, 3},
                                                         {13, 1, 29}, {1, 17, 8}, {35, 19, 23}};
  const std::vector<std::array<Stored, 3>> storages = {
      {Stored{DType::kF32, false}, {DType::kF32, false}, {DType::kF32, false}},
      {Stored{DType::kF32, true}, {DType::kF32, false}, {DType::kF32, true}},
      {Stored{DType::kF16, false}, {DType::kF32, true}, {DType::kF64, false}},
      {Stored{DType::kF64, false}, {DType::kF16, true}, {DType::kI16, true}},
      {Stored{DType::kF32, true, true}, {DType::kI16, false}, {DType::kF16, false, true}}};
  const std::vector<std::pair<double, double>> scalars = {{1, 0}, {0.5, 3}, {-2, 1}};
  for (const auto& [m, n, k] : dims) {
    for (const Op op_a : {Op::kN, Op::kT}) {
      for (const Op op_b : {Op::kN, Op::kT}) {
        for (const auto& [a, b, c0] : storages) {
          for (const auto& [alpha, beta] : scalars) {
            for (const DType compute : {DType::kF32, DType::kF64}) {
              for (const auto& shape : shapes_for(m, n, k)) {
                Case c{m, n, k, op_a, op_b, alpha, beta, a, b, c0, DType::kF32, shape, {}};
                c.options.compute = compute;
                c.options.gemm.threads = 2;
                ASSERT_EQ(fault(inputs, c, on_cpu), "");
                if (compute == DType::kF64) continue;
                for (const DType input : {DType::kBF16, DType::kF16}) {  // the values are both
                  c.options.input = input;
                  ASSERT_EQ(fault(inputs, c, on_cpu), "") << to_string(input);
                }
              }
            }
          }
        }
      }
    }
  }
}

TEST(PanelCpu, RoundsAnOutputOfAnotherType) {
  Inputs inputs;
  for (const DType out : {DType::kF64, DType::kF16}) {
    for (const auto& shape : shapes_for(9, 7, 5)) {
      Case c{9, 7, 5, Op::kN, Op::kT, 0.25, 2, {}, {}, {}, out, shape, {}};
      ASSERT_EQ(fault(inputs, c, on_cpu), "");
    }
  }
}

TEST(PanelCpu, ComparerRejectsWhatIsWrong) {
  Inputs inputs;
  Case c{4, 3, 2, Op::kN, Op::kN, 1, 0, {}, {}, {}, DType::kF32, std::nullopt, {}};
  const std::vector<double> right = product(inputs, c, on_cpu);
  EXPECT_EQ(first_fault(c, right), "");
  for (const double wrong : {kNan, right[7] + 0.125, HUGE_VAL}) {
    std::vector<double> got = right;
    got[7] = wrong;
    EXPECT_NE(first_fault(c, got), "");
  }
  EXPECT_NE(fault(inputs, c, [](const PanelJob&) { return PanelReport{}; }), "")
      << "an untouched output passed";
}

class Scratch {
 public:
  io::FileMatrix file(const std::string& name, std::int64_t rows, std::int64_t cols,
                      const Values& value, Stored how = {}) {
    write_npy(dir.file(name), rows, cols, how, value);
    return io::open_matrix(dir.file(name));
  }
  TempDir dir;
};

double one(std::int64_t, std::int64_t) { return 1; }
double nan_everywhere(std::int64_t, std::int64_t) { return kNan; }

std::vector<double> elements(const io::OutputMatrix& out) {
  std::vector<double> x(static_cast<std::size_t>(out.rows() * out.cols()));
  io::read_block(out.as_input(), 0, 0, out.rows(), out.cols(), x.data(), out.cols());
  return x;
}

TEST(PanelSemantics, BetaZeroNeverReadsC) {
  Scratch s;
  const auto a = s.file("a.npy", 3, 3, one), b = s.file("b.npy", 3, 3, one);
  const auto c0 = s.file("c.npy", 3, 3, nan_everywhere);
  for (const double beta : {0.0, -0.0}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {  // in place, and through a tile
      for (const PanelShape& shape : {PanelShape{3, 3, 3, true}, {2, 2, 1, true}}) {
        io::OutputMatrix out(s.dir.file("out.npy"), dtype, 3, 3);
        std::memset(out.data(), 0xff, 9 * size_of(dtype));
        panel_gemm_forced(Op::kN, Op::kN, 1, a, b, beta, &c0, out, {}, shape);
        EXPECT_EQ(elements(out), std::vector<double>(9, 3.0));
      }
    }
  }
}

TEST(PanelSemantics, AlphaZeroNeverReadsAOrB) {
  Scratch s;
  const auto a = s.file("a.npy", 3, 3, nan_everywhere), b = s.file("b.npy", 3, 3, nan_everywhere);
  const auto c0 =
      s.file("c.npy", 3, 3, [](auto i, auto j) { return 4.0 * i + j; }, {.fortran = true});
  // The second alpha is zero once rounded to the type computed in.
  for (const double alpha : {0.0, 1e-300}) {
    for (const double beta : {1.0, 0.5, 0.0}) {
      io::OutputMatrix out(s.dir.file("out.npy"), DType::kF32, 3, 3);
      std::memset(out.data(), 0xff, 9 * 4);
      const PanelReport report = panel_gemm(Op::kN, Op::kN, alpha, a, b, beta, &c0, out, {});
      EXPECT_EQ(report.kernel, "none");
      const std::vector<double> got = elements(out);
      for (std::size_t e = 0; e < 9; ++e) {
        EXPECT_EQ(got[e], beta * (4.0 * static_cast<double>(e / 3) + static_cast<double>(e % 3)));
      }
    }
  }
}

TEST(PanelSemantics, EmptySizes) {
  Scratch s;
  const auto a = s.file("a.npy", 3, 0, one), b = s.file("b.npy", 0, 3, one);
  const auto c0 = s.file("c.npy", 3, 3, one);
  for (const double beta : {0.0, 2.0}) {
    io::OutputMatrix out(s.dir.file("out.npy"), DType::kF32, 3, 3);
    std::memset(out.data(), 0xff, 9 * 4);
    const PanelReport report = panel_gemm(Op::kN, Op::kN, 1, a, b, beta, &c0, out, {});
    EXPECT_EQ(elements(out), std::vector<double>(9, beta));
    EXPECT_EQ(report.panels, 0);
  }
  const auto none = s.file("none.npy", 0, 3, one), three = s.file("three.npy", 3, 3, one);
  io::OutputMatrix flat(s.dir.file("flat.npy"), DType::kF32, 0, 3);
  EXPECT_EQ(panel_gemm(Op::kN, Op::kN, 1, none, three, 0, nullptr, flat, {}).panels, 0);
  io::OutputMatrix tall(s.dir.file("tall.npy"), DType::kF32, 3, 0);
  EXPECT_EQ(panel_gemm(Op::kN, Op::kT, 1, three, none, 0, nullptr, tall, {}).panels, 0);
}

TEST(PanelSemantics, NanAndInfinityPropagate) {
  Scratch s;
  const auto a = s.file("a.npy", 2, 2, [](auto, auto) { return 0.0; });
  const auto b = s.file("b.npy", 2, 2, [](auto i, auto j) { return i + j == 0 ? HUGE_VAL : 1.0; });
  io::OutputMatrix out(s.dir.file("out.npy"), DType::kF32, 2, 2);
  panel_gemm_forced(Op::kN, Op::kN, 1, a, b, 0, nullptr, out, {}, {1, 1, 1, true});
  const std::vector<double> got = elements(out);
  EXPECT_TRUE(std::isnan(got[0]) && std::isnan(got[2]));
  EXPECT_EQ(got[1], 0);
  EXPECT_EQ(got[3], 0);
}

TEST(PanelSemantics, RefusalsNameArgumentValueAndRule) {
  Scratch s;
  const auto a = s.file("a.npy", 2, 3, one), b = s.file("b.npy", 4, 5, one);
  const auto bb = s.file("bb.npy", 3, 5, one), c0 = s.file("c.npy", 5, 2, one);
  io::OutputMatrix out(s.dir.file("out.npy"), DType::kF32, 2, 5);
  const auto refusal = [&](const io::FileMatrix& right, double beta, const io::FileMatrix* c,
                           const PanelOptions& options) -> std::string {
    try {
      panel_gemm(Op::kN, Op::kN, 1, a, right, beta, c, out, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refusal(b, 0, nullptr, {}).find("inner sizes"), std::string::npos);
  EXPECT_NE(refusal(bb, 1, nullptr, {}).find("none is given"), std::string::npos);
  const std::string shape = refusal(bb, 1, &c0, {});
  EXPECT_NE(shape.find("is 5 x 2, but op(A) op(B) is 2 x 5"), std::string::npos) << shape;
  PanelOptions half;
  half.compute = DType::kF16;
  EXPECT_NE(refusal(bb, 0, nullptr, half).find("f16"), std::string::npos);
  PanelOptions unknown;
  unknown.gemm.kernel = "cpu.no_such_kernel";
  EXPECT_NE(refusal(bb, 0, nullptr, unknown).find("no_such_kernel"), std::string::npos);
  PanelOptions absent;
  absent.space = Space::kCuda;
  absent.device = 1 << 20;
  EXPECT_NE(refusal(bb, 0, nullptr, absent).find("cuda:1048576"), std::string::npos);
  EXPECT_EQ(refusal(bb, 0, nullptr, {}), "accepted");
}

/// Not exact in FP32, so that a different order of summation shows in the bits.
double rough(std::int64_t i, std::int64_t j) {
  return std::sin(static_cast<double>(1 + 37 * i + 11 * j));
}

std::vector<double> rough_product(Scratch& s, const PanelOptions& options,
                                  std::optional<PanelShape> shape, DType dtype = DType::kF32) {
  const Stored how{dtype == DType::kF32 ? DType::kF32 : DType::kF64};
  const auto a = s.file("a.npy", 150, 333, rough, how), b = s.file("b.npy", 333, 140, rough, how);
  io::OutputMatrix out(s.dir.file("out.npy"), DType::kF32, 150, 140);
  if (shape) {
    panel_gemm_forced(Op::kN, Op::kN, 1, a, b, 0, nullptr, out, options, *shape);
  } else {
    panel_gemm(Op::kN, Op::kN, 1, a, b, 0, nullptr, out, options);
  }
  return elements(out);
}

TEST(PanelCpu, RowAndColumnBlocksKeepTheBits) {
  Scratch s;
  const std::vector<double> whole = rough_product(s, {}, std::nullopt);
  for (const PanelShape& shape :
       {PanelShape{64, 140, 333, true}, {149, 139, 333, false}, {128, 64, 333, true}}) {
    EXPECT_EQ(rough_product(s, {}, shape), whole) << shape.m << " x " << shape.n;
  }
}

TEST(PanelCpu, RunsRepeatTheirBits) {
  Scratch s;
  for (const PanelShape& shape : {PanelShape{64, 64, 50, true}, {150, 140, 333, true}}) {
    const std::vector<double> first = rough_product(s, {}, shape, DType::kF64);
    for (int threads : {1, 2, 3}) {
      PanelOptions options;
      options.gemm.threads = threads;
      EXPECT_EQ(rough_product(s, options, shape, DType::kF64), first) << threads << " threads";
    }
  }
}

TEST(PanelCpu, SplitKStaysWithinTheErrorBound) {
  Scratch s;
  const std::vector<double> got = rough_product(s, {}, PanelShape{64, 64, 50, true});
  constexpr double kUnit = 0x1p-24;
  for (std::int64_t i = 0; i < 150; ++i) {
    for (std::int64_t j = 0; j < 140; ++j) {
      double want = 0, magnitude = 0;
      for (std::int64_t p = 0; p < 333; ++p) {
        const double x = static_cast<float>(rough(i, p)), y = static_cast<float>(rough(p, j));
        want += x * y;
        magnitude += std::fabs(x * y);
      }
      const double error = std::fabs(got[static_cast<std::size_t>(i * 140 + j)] - want);
      ASSERT_TRUE(error <= (333 + 3) * kUnit * magnitude) << i << ", " << j;
    }
  }
}

TEST(PanelBudget, SmallBudgetsGiveTheSameProduct) {
  Inputs inputs;
  for (const bool fortran : {false, true}) {
    for (const DType out : {DType::kF32, DType::kF64}) {
      Case c{60, 50, 20000, Op::kT, Op::kN, 0.5, 1, {}, {}, {}, out, std::nullopt, {}};
      c.a.fortran = fortran;
      c.b.fortran = !fortran;
      c.c0.fortran = fortran;
      c.options.compute = DType::kF64;  // 20000 terms are exact in FP64 only
      c.out = DType::kF64;
      c.options.memory_bytes = 5 << 20;
      PanelReport report;
      EXPECT_EQ(first_fault(c, product(inputs, c, on_cpu, &report)), "");
      EXPECT_GT(report.panels, 1);
      EXPECT_LE(report.buffer_bytes, c.options.memory_bytes);
    }
  }
}

TEST(PanelBudget, WorkspaceOfEveryThreadCounts) {
  Scratch s;
  const std::int64_t m = 1200, n = 1100, k = 900;
  const auto a = s.file("a.npy", m, k, one), b = s.file("b.npy", k, n, one);
  for (const int threads : {1, 2, 4, 8}) {
    PanelOptions options;
    options.gemm.threads = threads;
    options.memory_bytes = 8 << 20;
    io::OutputMatrix out(s.dir.file("out.npy"), DType::kF32, m, n);
    const PanelReport report = panel_gemm(Op::kN, Op::kN, 1, a, b, 0, nullptr, out, options);
    EXPECT_EQ(elements(out), std::vector<double>(static_cast<std::size_t>(m * n), 900.0));
    EXPECT_GT(report.panels, 1);
    // An eighth of the budget is the window of mapped pages, 1 MiB is kept back.
    EXPECT_LE(report.buffer_bytes, options.memory_bytes / 8 * 7 - (1 << 20)) << threads;
  }
}

TEST(PanelBudget, TooSmallIsRefusedWithTheSmallestThatWorks) {
  Scratch s;
  const auto a = s.file("a.npy", 300, 9000, one), b = s.file("b.npy", 9000, 10, one);
  PanelOptions options;
  options.memory_bytes = 1 << 20;
  io::OutputMatrix out(s.dir.file("out.npy"), DType::kF32, 300, 10);
  std::string text;
  try {
    panel_gemm(Op::kN, Op::kN, 1, a, b, 0, nullptr, out, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
    text = error.what();
  }
  EXPECT_NE(text.find("1048576"), std::string::npos) << text;
  const std::string marker = "that works is ";
  const std::size_t at = text.find(marker);
  ASSERT_NE(at, std::string::npos) << text;
  options.memory_bytes = std::stoll(text.substr(at + marker.size()));
  panel_gemm(Op::kN, Op::kN, 1, a, b, 0, nullptr, out, options);
  EXPECT_EQ(elements(out), std::vector<double>(3000, 9000.0));
}

TEST(PanelProgress, RisesToOneAndCountsFlops) {
  Scratch s;
  const auto a = s.file("a.npy", 7, 6, one), b = s.file("b.npy", 6, 5, one);
  std::vector<PanelProgress> seen;
  PanelOptions options;
  options.progress = [&](const PanelProgress& p) {
    seen.push_back(p);
    return true;
  };
  io::OutputMatrix out(s.dir.file("out.npy"), DType::kF32, 7, 5);
  const PanelReport report =
      panel_gemm_forced(Op::kN, Op::kN, 1, a, b, 0, nullptr, out, options, {3, 2, 4, true});
  EXPECT_EQ(report.panels, 3 * 3 * 2);
  ASSERT_GE(seen.size(), 18u);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_GE(seen[i].fraction, seen[i - 1].fraction);
  EXPECT_LT(seen.front().fraction, 0.5);
  EXPECT_EQ(seen.back().fraction, 1);
  EXPECT_EQ(seen.back().flops_done, 2.0 * 7 * 6 * 5);
}

TEST(PanelProgress, StoppingLeavesNoOutput) {
  Scratch s;
  const auto a = s.file("a.npy", 7, 6, one), b = s.file("b.npy", 6, 5, one);
  const std::size_t before = s.dir.entries();
  PanelOptions options;
  options.progress = [&](const PanelProgress& p) { return p.fraction < 0.5; };
  const auto stopped = [&] {
    io::OutputMatrix out(s.dir.file("out.npy"), DType::kF32, 7, 5);
    panel_gemm_forced(Op::kN, Op::kN, 1, a, b, 0, nullptr, out, options, {3, 2, 4, true});
    out.commit();
  };
  EXPECT_SAYS(test::error_of(ErrorCode::kCancelled, stopped), "progress returned false");
  EXPECT_EQ(s.dir.entries(), before);
}

}  // namespace
}  // namespace tessera::panel
