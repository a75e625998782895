// What `tessera` refuses: one line on stderr, the documented exit code, no output, nothing left.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "support/cli.h"

namespace tessera::test {
namespace {

class CliError : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    write_file(path("a.npy"), matrix_npy("<f4", 3, 2, std::vector<float>{1, 2, 3, 4, 5, 6}));
    write_file(path("b.npy"), matrix_npy("<f4", 2, 4, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
    before_ = files();
  }
  /// mul of these two with more arguments must fail so, and change nothing in the directory.
  void expect_refused(std::vector<std::string> more, int code,
                      const std::vector<std::string>& pieces, const std::string& a = "a.npy",
                      const std::string& b = "b.npy") {
    more.insert(more.begin(), {"mul", path(a), path(b)});
    if (std::find(more.begin(), more.end(), "-o") == more.end()) {
      more.insert(more.end(), {"-o", path("c.npy")});
    }
    before_ = files();
    SCOPED_TRACE(a + " " + b + " " + (pieces.empty() ? "" : pieces[0]));
    expect_error(run_tessera(more), code, pieces);
    EXPECT_EQ(files(), before_);
  }
  void expect_bad_file(const std::string& bytes, const std::vector<std::string>& pieces,
                       const std::string& name = "bad.npy") {
    write_file(path(name), bytes);
    expect_refused({}, 3, pieces, name);
  }
  std::vector<std::string> before_;
};

TEST_F(CliError, Usage) {
  expect_error(run_tessera({}), 2, {"a verb is needed"});
  expect_error(run_tessera({"mull"}), 2, {"\"mull\"", "did you mean \"mul\""});
  expect_error(run_tessera({"frobnicate"}), 2, {"is not a verb", "verify"});
  expect_error(run_tessera({"--frobnicate"}), 2, {"--frobnicate"});
  expect_error(run_tessera({"mul"}), 2, {"tessera mul:"});
  expect_error(run_tessera({"mul", path("a.npy"), path("b.npy")}), 2, {"--output"});
  expect_refused({"--tran-a"}, 2, {"--tran-a", "did you mean --trans-a?"});
  expect_refused({"--verify", "maybe"}, 2, {"--verify", "maybe", "freivalds"});
  expect_refused({"--dtype", "f99"}, 2, {"--dtype", "f99"});
  expect_refused({"--dtype", "i8"}, 2, {"--dtype", "i8"});
  expect_refused({"--threads", "0"}, 2, {"--threads", "0"});
  expect_refused({"--threads", "many"}, 2, {"--threads", "many"});
  expect_refused({"--alpha", "two"}, 2, {"--alpha", "\"two\"", "not a number"});
  expect_refused({"--alpha", "1e39"}, 2, {"--alpha", "range of fp32"});
  expect_refused({"--alpha", "1e999"}, 2, {"--alpha", "range of f64"});
  expect_refused({"--memory", "12Q"}, 2, {"--memory", "\"12Q\""});
  expect_refused({"--memory", "-1M"}, 2, {"--memory"});
  expect_refused({"--memory", "99999999999T"}, 2, {"--memory", "8 EiB"});
  expect_refused({"--device", "tpu"}, 2, {"mul: --device \"tpu\" is not", "cuda:N"});
  expect_refused({"--device", "cuda:x"}, 2, {"cuda:x"});
  expect_refused({"--beta", "2"}, 2, {"--beta 2", "--c"});
  expect_refused({"--beta", "nan"}, 2, {"--beta nan", "--c"});
}

TEST_F(CliError, NumbersAreDecimalAndNamesNotEmpty) {
  for (const char* text : {"010", "0x2", "+2", " 2", "2.0", ""}) {
    expect_refused({"--threads", text}, 2, {"--threads", text});
  }
  expect_error(run_tessera({"verify", path("a.npy"), path("b.npy"), path("a.npy"), "--seed", "-1"}),
               2, {"--seed", "\"-1\""});
  expect_error(run_tessera({"bench", "8", "010", "8"}), 2, {"\"010\""});
  expect_refused({"-o", ""}, 2, {"--output", "\"\" is not a file name"});
  expect_error(run_tessera({"mul", "", path("b.npy"), "-o", path("c.npy")}), 2,
               {"A", "\"\" is not a file name"});
}

TEST_F(CliError, ControlCharactersInNamesAreEscaped) {
  const Ran ran = run_tessera({"show", path("\x1b[31mred\x7f.npy")});
  expect_error(ran, 3, {"\\x1b[31mred\\x7f.npy"});
  write_file(path("\x1b[2J.npy"), matrix_npy("<f4", 3, 2, std::vector<float>(6)));
  const Ran good =
      run_tessera({"mul", path("\x1b[2J.npy"), path("b.npy"), "-o", path("\x1b]0;c.npy")});
  expect_ok(good);
  EXPECT_NE(good.out.find("\\x1b[2J.npy"), std::string::npos) << good.out;
  EXPECT_EQ(good.out.find('\x1b'), std::string::npos) << good.out;
}

TEST_F(CliError, Environment) {
  const auto refused_with = [&](const std::string& variable,
                                const std::vector<std::string>& pieces) {
    Limits limits;
    limits.environment = {variable};
    expect_error(run_tessera({"mul", path("a.npy"), path("b.npy"), "-o", path("c.npy")}, limits), 2,
                 pieces);
    EXPECT_EQ(files(), before_);
  };
  before_ = files();
  for (const char* threads : {"0", "-3", "abc", "4097", "99999", "99999999999"}) {
    refused_with(fmt::format("TESSERA_NUM_THREADS={}", threads),
                 {fmt::format("TESSERA_NUM_THREADS = \"{}\"", threads), "from 1 to 4096"});
  }
  refused_with("TESSERA_SIMD=junk", {"TESSERA_SIMD", "junk"});
  refused_with("TESSERA_LOG=junk", {"TESSERA_LOG = \"junk\"", "calls:FILE"});
  refused_with("TESSERA_LOG=calls:" + path("none/log"), {"TESSERA_LOG", "cannot open"});
}

TEST_F(CliError, KernelIsCheckedWhereNoneIsNeeded) {
  write_file(path("m0.npy"), npy("<f4", false, "(3, 0)", ""));
  write_file(path("k0.npy"), npy("<f4", false, "(0, 4)", ""));
  expect_refused({"--kernel", "nonsense"}, 2, {"nonsense"}, "m0.npy", "k0.npy");
  expect_refused({"--kernel", "nonsense", "--trans-a", "--trans-b"}, 2, {"nonsense"}, "k0.npy",
                 "m0.npy");
  expect_refused({"--kernel", "nonsense", "--alpha", "0"}, 2, {"nonsense"});
  expect_ok(run_tessera(
      {"mul", path("m0.npy"), path("k0.npy"), "-o", path("c.npy"), "--kernel", "cpu.naive"}));
  EXPECT_EQ(read_npy<float>(path("c.npy"), "<f4", 3, 4), std::vector<float>(12));
}

TEST_F(CliError, Shapes) {
  expect_refused({}, 2, {"A is 3 x 2", "B is 3 x 2", "2", "3"}, "a.npy", "a.npy");
  expect_refused({}, 2, {"with --trans-b"}, "a.npy", "a.npy");
  expect_refused({"--trans-a"}, 2, {"A^T is 2 x 3", "without --trans-a"});
  write_file(path("c0.npy"), matrix_npy("<f4", 4, 3, std::vector<float>(12)));
  expect_refused({"--c", path("c0.npy"), "--beta", "1"}, 2, {"4 x 3", "3 x 4"});
}

TEST_F(CliError, MissingAndUnknownFiles) {
  expect_refused({}, 3, {path("none.npy")}, "none.npy");
  expect_bad_file("", {"bad.npy"});
  expect_bad_file("neither format, and longer than any magic string", {"bad.npy"});
  std::filesystem::create_directory(path("folder"));
  expect_refused({}, 3, {"folder"}, "folder");
}

TEST_F(CliError, LyingNpyHeaders) {
  const std::string four(24, '\0');
  expect_bad_file(npy("<f4", false, "(3, 3)", four), {"bad.npy"});
  expect_bad_file(npy("<f4", false, "(4294967296, 4294967296)", four), {"bad.npy"});
  expect_bad_file(npy("<ixy", false, "(3, 2)", four), {"bad.npy", "<ixy"});
  expect_bad_file(npy("", false, "(3, 2)", four), {"bad.npy"});
  expect_bad_file(npy("|O", false, "(3, 2)", four), {"bad.npy", "O"});
  expect_bad_file(npy("<c8", false, "(3, 1)", four), {"bad.npy", "c8"});
  expect_bad_file(npy("<f4", false, "(3, 2)", four).substr(0, 40), {"bad.npy"});
  expect_bad_file(std::string("\x93NUMPY\x02\x00\xf0\xff\xff\xff", 12), {"bad.npy"});
  expect_bad_file(npy("<f4", false, "(3, 2, 1)", four), {"bad.npy"});
  expect_bad_file(npy("<f4", false, "(-3, 2)", four), {"bad.npy"});
}

TEST_F(CliError, LyingSafetensors) {
  const auto bad = [&](const std::string& offsets, const std::string& data) {
    expect_bad_file(
        safetensors(R"({"x":{"dtype":"F32","shape":[3,2],"data_offsets":)" + offsets + "}}", data),
        {"bad.safetensors"}, "bad.safetensors");
  };
  bad("[0,4]", std::string(4, '\0'));
  bad("[24,0]", std::string(24, '\0'));
  bad("[-8,16]", std::string(24, '\0'));
  bad("[0,24]", std::string(20, '\0'));
  std::string huge(8, '\xff');
  huge[0] = '\xf0';
  expect_bad_file(huge + "{}", {"bad.safetensors"}, "bad.safetensors");
}

TEST_F(CliError, MissingTensorListsNearNames) {
  write_file(path("m.safetensors"),
             safetensors(R"({"layer.weight":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},)"
                         R"("table":{"dtype":"I64","shape":[2],"data_offsets":[24,40]}})",
                         std::string(40, '\0')));
  expect_refused({}, 3, {"layer.weigth", "layer.weight"}, "m.safetensors:layer.weigth");
}

TEST_F(CliError, OutputEqualToAnInput) {
  expect_refused({"-o", path("a.npy")}, 2, {"same file", "input A"});
  expect_refused({"-o", path("./b.npy")}, 2, {"same file", "input B"});
  ASSERT_EQ(::symlink(path("a.npy").c_str(), path("link.npy").c_str()), 0);
  expect_refused({"-o", path("link.npy")}, 2, {"same file", "input A"});
  EXPECT_EQ(read_npy<float>(path("a.npy"), "<f4", 3, 2), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST_F(CliError, OutputThatCannotBeWritten) {
  expect_refused({"-o", path("none/c.npy")}, 4, {"none/c.npy"});
  expect_refused({"-o", path("")}, 4, {"a directory"});
  expect_refused({"-o", "/dev/null"}, 4, {"/dev/null"});
  if (::geteuid() != 0) {
    std::filesystem::create_directory(path("locked"));
    ASSERT_EQ(::chmod(path("locked").c_str(), 0500), 0);
    expect_refused({"-o", path("locked/c.npy")}, 4, {"locked/c.npy"});
  }
  expect_refused({"--dtype", "bf16"}, 4, {"bf16"});
}

TEST_F(CliError, KernelsAndPrecisionsThatDoNotExist) {
  expect_refused({"--kernel", "cpu.marvellous"}, 2, {"cpu.marvellous", "cpu.naive"});
  expect_refused({"--kernel", "cpu.naive.f64"}, 4, {"cpu.naive.f64"});
  expect_refused({"--precision", "tf32"}, 4, {"tf32", "bf16 and fp16"});
  expect_refused({"--precision", "bf16", "--kernel", "cpu.blocked.f32"}, 4, {"f32", "bf16"});
  expect_refused({"--precision", "fp16", "--kernel", "cpu.direct"}, 4, {"cpu.direct", "f16"});
  expect_refused({"--precision", "fp31"}, 2, {"--precision", "fp31"});
}

TEST_F(CliError, NoSuchDevice) { expect_refused({"--device", "cuda:99"}, 4, {"cuda:99"}); }

}  // namespace
}  // namespace tessera::test
