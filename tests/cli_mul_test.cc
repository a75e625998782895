// `tessera mul` on files it must multiply right: formats, dtypes, layouts, ops, scalars, reports.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/cli.h"
#include "tessera/half.h"

namespace tessera::test {
namespace {

using Json = nlohmann::json;

/// Small integers, asymmetric: every product below is exact in f16 and wider.
template <class T>
std::vector<T> numbers(std::int64_t rows, std::int64_t cols, int seed) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    values.push_back(static_cast<T>((i * 7 + i / cols * 3 + seed) % 9 - 4));
  }
  return values;
}

template <class T>
std::vector<T> transposed(const std::vector<T>& x, std::int64_t rows, std::int64_t cols) {
  std::vector<T> t(x.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < cols; ++j) {
      t[static_cast<std::size_t>(j * rows + i)] = x[static_cast<std::size_t>(i * cols + j)];
    }
  }
  return t;
}

template <class T>
std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, std::int64_t m,
                       std::int64_t n, std::int64_t k) {
  std::vector<T> c(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        sum += a[static_cast<std::size_t>(i * k + p)] * b[static_cast<std::size_t>(p * n + j)];
      }
      c[static_cast<std::size_t>(i * n + j)] = sum;
    }
  }
  return c;
}

constexpr std::int64_t kM = 35, kN = 29, kK = 19;

class CliMul : public CliTest {
 protected:
  const std::vector<float> a_ = numbers<float>(kM, kK, 1), b_ = numbers<float>(kK, kN, 5);
  const std::vector<float> c_ = product(a_, b_, kM, kN, kK);
  std::string out() const { return path("c.npy"); }
  void write_pair() {
    write_file(path("a.npy"), matrix_npy("<f4", kM, kK, a_));
    write_file(path("b.npy"), matrix_npy("<f4", kK, kN, b_));
  }
  Json mul_json(std::vector<std::string> args) {
    args.insert(args.begin(), {"mul", path("a.npy"), path("b.npy"), "-o", out(), "--json"});
    const Ran ran = run_tessera(args);
    expect_ok(ran);
    return Json::parse(ran.out, nullptr, false);
  }
};

TEST_F(CliMul, EveryOpPairAndLayout) {
  for (int variant = 0; variant < 16; ++variant) {
    const bool ta = variant & 1, tb = variant & 2, fa = variant & 4, fb = variant & 8;
    // What the file holds: op(A) = A, in row- or column-major order.
    const auto a = ta != fa ? transposed(a_, kM, kK) : a_;
    const auto b = tb != fb ? transposed(b_, kK, kN) : b_;
    write_file(path("a.npy"), matrix_npy("<f4", ta ? kK : kM, ta ? kM : kK, a, fa));
    write_file(path("b.npy"), matrix_npy("<f4", tb ? kN : kK, tb ? kK : kN, b, fb));
    std::vector<std::string> args = {"mul", path("a.npy"), path("b.npy"), "-o", out()};
    if (ta) args.push_back("--trans-a");
    if (tb) args.push_back("--trans-b");
    const Ran ran = run_tessera(args);
    expect_ok(ran);
    EXPECT_NE(ran.out.find("PASS"), std::string::npos) << ran.out;
    EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), c_) << "variant " << variant;
  }
}

TEST_F(CliMul, InputDtypesAndTheTypeTheyAreComputedIn) {
  const auto check = [&](const std::string& descr, auto sample, bool fp64) {
    using T = decltype(sample);
    std::vector<float> a = a_, b = b_;
    if (std::is_unsigned_v<T>) {
      for (float& x : a) x += 4;
      for (float& x : b) x += 4;
    }
    write_file(path("a.npy"), matrix_npy(descr, kM, kK, std::vector<T>(a.begin(), a.end())));
    write_file(path("b.npy"), matrix_npy(descr, kK, kN, std::vector<T>(b.begin(), b.end())));
    const Ran ran = run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out()});
    expect_ok(ran);
    const std::vector<float> c = product(a, b, kM, kN, kK);
    if (fp64) {
      EXPECT_EQ(read_npy<double>(out(), "<f8", kM, kN), std::vector<double>(c.begin(), c.end()));
    } else {
      EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), c);
    }
  };
  check("<f4", float{}, false);
  check("<f8", double{}, true);
  check("|i1", std::int8_t{}, false);
  check("|u1", std::uint8_t{}, false);
  check("<i2", std::int16_t{}, false);
  check("<i4", std::int32_t{}, true);
  check("<i8", std::int64_t{}, true);
}

TEST_F(CliMul, HalfPrecisionInAndOut) {
  // 1.0, 2.0, -0.5, 65504 and the smallest subnormal of binary16.
  write_file(path("a.npy"),
             matrix_npy("<f2", 1, 3, std::vector<std::uint16_t>{0x3c00, 0x4000, 0xb800}));
  write_file(
      path("b.npy"),
      matrix_npy("<f2", 3, 2, std::vector<std::uint16_t>{0x3c00, 0x0001, 0x4000, 0, 0x4000, 0}));
  expect_ok(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out(), "--dtype", "f16"}));
  // 1 + 4 - 1 = 4, and 2^-24.
  EXPECT_EQ(read_npy<std::uint16_t>(out(), "<f2", 1, 2), (std::vector<std::uint16_t>{0x4400, 1}));
}

TEST_F(CliMul, BigEndianInput) {
  std::string bytes = bytes_of(a_);
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    std::swap(bytes[i], bytes[i + 3]);
    std::swap(bytes[i + 1], bytes[i + 2]);
  }
  write_pair();
  write_file(path("a.npy"), npy(">f4", false, "(35, 19)", bytes));
  expect_ok(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out()}));
  EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), c_);
}

TEST_F(CliMul, AlphaBetaC0) {
  write_pair();
  const std::vector<float> c0 = numbers<float>(kM, kN, 3);
  write_file(path("c0.npy"), matrix_npy("<f4", kM, kN, c0));
  expect_ok(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out(), "--alpha", "-2",
                         "--beta", "0.5", "--c", path("c0.npy")}));
  std::vector<float> expected;
  for (std::size_t i = 0; i < c_.size(); ++i) expected.push_back(-2 * c_[i] + 0.5f * c0[i]);
  EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), expected);
}

TEST_F(CliMul, BetaZeroNeverReadsC0) {
  write_pair();
  const std::vector<float> nan(kM * kN, std::numeric_limits<float>::quiet_NaN());
  write_file(path("c0.npy"), matrix_npy("<f4", kM, kN, nan));
  for (const char* beta : {"0", "-0.0"}) {
    expect_ok(run_tessera(
        {"mul", path("a.npy"), path("b.npy"), "-o", out(), "--beta", beta, "--c", path("c0.npy")}));
    EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), c_);
  }
}

TEST_F(CliMul, NanAndInfinityPropagateAndPass) {
  std::vector<float> a = a_;
  a[3] = std::numeric_limits<float>::quiet_NaN();      // row 0
  a[kK + 1] = std::numeric_limits<float>::infinity();  // row 1
  write_pair();
  write_file(path("a.npy"), matrix_npy("<f4", kM, kK, a));
  expect_ok(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out()}));
  const auto c = read_npy<float>(out(), "<f4", kM, kN);
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_FALSE(std::isfinite(c[kN]));
  EXPECT_EQ(c[2 * kN], c_[2 * kN]);
  expect_ok(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out(), "--alpha", "0"}));
  EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), std::vector<float>(kM * kN, 0.0f));
  write_pair();
  expect_ok(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out(), "--alpha", "nan"}));
  EXPECT_TRUE(std::isnan(read_npy<float>(out(), "<f4", kM, kN)[5]));
}

TEST_F(CliMul, EmptyDimensions) {
  write_file(path("a.npy"), matrix_npy<float>("<f4", 3, 0, {}));
  write_file(path("b.npy"), matrix_npy<float>("<f4", 0, 2, {}));
  const Ran ran = run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out()});
  expect_ok(ran);
  EXPECT_EQ(ran.out.find("GFLOP/s"), std::string::npos) << ran.out;
  EXPECT_EQ(read_npy<float>(out(), "<f4", 3, 2), std::vector<float>(6, 0.0f));
  expect_ok(run_tessera(
      {"mul", path("b.npy"), path("a.npy"), "--trans-a", "--trans-b", "-o", path("d.npy")}));
}

TEST_F(CliMul, Safetensors) {
  const std::string data = bytes_of(a_) + bytes_of(b_);
  const std::string end_a = std::to_string(a_.size() * 4), end = std::to_string(data.size());
  write_file(path("m.safetensors"),
             safetensors(R"({"w.a":{"dtype":"F32","shape":[35,19],"data_offsets":[0,)" + end_a +
                             R"(]},"w.b":{"dtype":"F32","shape":[19,29],"data_offsets":[)" + end_a +
                             "," + end + "]}}",
                         data));
  const std::string file = path("m.safetensors");
  expect_ok(run_tessera({"mul", file + ":w.a", file + ":w.b", "-o", out()}));
  EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), c_);
  // A .safetensors result, read back as an input.
  expect_ok(run_tessera({"mul", file + ":w.a", file + ":w.b", "-o", path("c.safetensors")}));
  expect_ok(run_tessera({"verify", file + ":w.a", file + ":w.b", path("c.safetensors")}));
}

TEST_F(CliMul, PrecisionFp32OnF64InputsIsSaidAndProvedAsRounded) {
  const std::vector<double> a(kM * kK, 0.1), b(kK * kN, 0.7);
  write_file(path("a.npy"), matrix_npy("<f8", kM, kK, a));
  write_file(path("b.npy"), matrix_npy("<f8", kK, kN, b));
  const Json json = mul_json({"--precision", "fp32"});
  EXPECT_EQ(json["operation"]["precision"], "fp32");
  EXPECT_EQ(json["operation"]["rounded_on_reading"], Json({"A", "B"}));
  EXPECT_EQ(json["check"]["passed"], true);
  EXPECT_NEAR(read_npy<float>(out(), "<f4", kM, kN)[0], kK * 0.07, 1e-5);
  const Ran text =
      run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out(), "--precision", "fp32"});
  EXPECT_NE(text.out.find("rounded to f32 on reading"), std::string::npos) << text.out;
}

// 0.1 and 0.7 are none of either type.
TEST_F(CliMul, PrecisionBf16AndFp16RoundAAndBAreSaidAndProvedAsRounded) {
  const std::vector<double> a(kM * kK, 0.1), b(kK * kN, 0.7), c0(kM * kN, 0.3);
  write_file(path("a.npy"), matrix_npy("<f8", kM, kK, a));
  write_file(path("b.npy"), matrix_npy("<f8", kK, kN, b));
  write_file(path("c0.npy"), matrix_npy("<f8", kM, kN, c0));
  struct Expected {
    const char* precision;
    const char* type;
    double product;
  };
  for (const auto& [precision, type, product] :
       {Expected{"bf16", "bf16", 0.10009765625 * 0.69921875},
        Expected{"fp16", "f16", 0.0999755859375 * 0.7001953125}}) {
    const Json json = mul_json({"--precision", precision, "--beta", "2", "--c", path("c0.npy")});
    EXPECT_EQ(json["operation"]["precision"], precision);
    EXPECT_EQ(json["operation"]["input_dtype"], type);
    EXPECT_EQ(json["operation"]["compute_dtype"], "f32");
    EXPECT_EQ(json["operation"]["rounded_on_reading"], Json({"A", "B", "C0"}));
    EXPECT_EQ(json["c"]["dtype"], "f32");
    EXPECT_EQ(json["check"]["passed"], true);
    const std::string kernel = json["kernel"]["id"];
    EXPECT_EQ(kernel.substr(kernel.rfind('.') + 1), type);
    EXPECT_NEAR(read_npy<float>(out(), "<f4", kM, kN)[0], kK * product + 0.6, 2e-6);
    for (const char* memory : {"", "8M"}) {
      std::vector<std::string> args = {"mul", path("a.npy"), path("b.npy"), "-o",
                                       out(), "--precision", precision};
      if (*memory != 0) args.insert(args.end(), {"--memory", memory});
      const Ran text = run_tessera(args);
      expect_ok(text);
      const std::string said = fmt::format(
          "in {}, with products and sums in fp32; A, B rounded to {} on reading, and checked as "
          "rounded",
          precision, type);
      EXPECT_NE(text.out.find(said), std::string::npos) << text.out;
      expect_ok(
          run_tessera({"verify", path("a.npy"), path("b.npy"), out(), "--precision", precision}));
      // Not the FP32 product of the same files.
      EXPECT_EQ(
          run_tessera({"verify", path("a.npy"), path("b.npy"), out(), "--precision", "fp32"}).code,
          5);
    }
  }
}

TEST_F(CliMul, OperandsOfSixteenBitsAreKeptExactly) {
  // As multiples of 1/16: exact in both types; f16 in .npy, bf16 in .safetensors.
  std::vector<float> a = a_, b = b_, c = c_;
  for (float& x : a) x /= 16;
  for (float& x : c) x /= 16;
  const auto halves = [](const std::vector<float>& x) {
    std::vector<Float16> out;
    for (const float value : x) out.emplace_back(value);
    return out;
  };
  write_file(path("a.npy"), matrix_npy("<f2", kM, kK, halves(a)));
  write_file(path("b.npy"), matrix_npy("<f2", kK, kN, halves(b)));
  const Json json = mul_json({"--precision", "fp16"});
  EXPECT_EQ(json["operation"]["rounded_on_reading"], Json::array());
  EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), c);

  std::vector<BFloat16> data;
  for (const std::vector<float>* x : {&a, &b}) {
    for (const float value : *x) data.emplace_back(value);
  }
  const std::size_t end_a = 2 * a.size(), end = end_a + 2 * b.size();
  write_file(path("m.safetensors"),
             safetensors(fmt::format(R"({{"a":{{"dtype":"BF16","shape":[{},{}],"data_offsets":[0,)"
                                     R"({}]}},"b":{{"dtype":"BF16","shape":[{},{}],)"
                                     R"("data_offsets":[{},{}]}}}})",
                                     kM, kK, end_a, kK, kN, end_a, end),
                         bytes_of(data)));
  const std::string file = path("m.safetensors");
  const Ran ran =
      run_tessera({"mul", file + ":a", file + ":b", "-o", out(), "--precision", "bf16"});
  expect_ok(ran);
  EXPECT_EQ(ran.out.find("rounded"), std::string::npos) << ran.out;
  EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), c);
}

TEST_F(CliMul, JsonHoldsTheReport) {
  write_pair();
  const Json json = mul_json({"--explain", "--threads", "1", "--device", "cpu"});
  EXPECT_EQ(json["operation"]["m"], kM);
  EXPECT_EQ(json["operation"]["n"], kN);
  EXPECT_EQ(json["operation"]["k"], kK);
  EXPECT_EQ(json["operation"]["precision"], "fp32");
  EXPECT_EQ(json["a"]["dtype"], "f32");
  EXPECT_EQ(json["a"]["layout"], "row-major");
  EXPECT_EQ(json["a"]["file"], path("a.npy"));
  EXPECT_EQ(json["c"]["dtype"], "f32");
  EXPECT_EQ(json["device"]["kind"], "cpu");
  EXPECT_EQ(json["device"]["threads"], 1);
  EXPECT_TRUE(json["device"]["simd"].is_string());
  EXPECT_TRUE(json["gflops"].is_number());
  const double bytes = 4.0 * (kM * kK + kK * kN + kM * kN);
  EXPECT_DOUBLE_EQ(json["flop_per_byte"].get<double>(), 2.0 * kM * kN * kK / bytes);
  EXPECT_EQ(json["check"]["method"], "freivalds");
  EXPECT_EQ(json["check"]["passed"], true);
  EXPECT_TRUE(json["check"]["detectable_error"].is_number());
  EXPECT_TRUE(json["time"]["product_s"].is_number());
  EXPECT_EQ(json["result"], out());
  EXPECT_TRUE(json["provenance"]["version"].is_string());
  EXPECT_EQ(json["explanation"]["chosen"], json["kernel"]["id"]);
  EXPECT_GE(json["explanation"]["candidates"].size(), 1U);
  EXPECT_TRUE(json["explanation"]["unlocks"].is_array());
}

TEST_F(CliMul, VerifyFullAndOff) {
  write_pair();
  EXPECT_EQ(mul_json({"--verify", "full"})["check"]["method"], "full");
  EXPECT_TRUE(mul_json({"--verify", "off"})["check"].is_null());
  const Ran off =
      run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out(), "--verify", "off"});
  EXPECT_NE(off.out.find("not proved"), std::string::npos) << off.out;
  EXPECT_EQ(off.out.find("PASS"), std::string::npos) << off.out;
}

TEST_F(CliMul, ExplainNamesTheChoiceAndQuietSaysNothing) {
  write_pair();
  const Ran explained = run_tessera(
      {"mul", path("a.npy"), path("b.npy"), "-o", out(), "--explain", "--device", "cpu"});
  expect_ok(explained);
  EXPECT_NE(explained.out.find("smallest predicted time"), std::string::npos) << explained.out;
  const Ran quiet = run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out(), "--quiet"});
  expect_ok(quiet);
  EXPECT_EQ(quiet.out, "");
}

TEST_F(CliMul, NamedKernelIsUsed) {
  write_pair();
  const Json json = mul_json({"--kernel", "c01_naive"});
  EXPECT_EQ(json["kernel"]["id"], "cpu.naive.f32");
  EXPECT_EQ(json["device"]["reason"], "kernel c01_naive was named");
  EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), c_);
}

TEST_F(CliMul, AnOlderResultIsReplaced) {
  write_pair();
  write_file(out(), "something else");
  expect_ok(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", out()}));
  EXPECT_EQ(read_npy<float>(out(), "<f4", kM, kN), c_);
  EXPECT_EQ(files(), (std::vector<std::string>{"a.npy", "b.npy", "c.npy"}));
}

}  // namespace
}  // namespace tessera::test
