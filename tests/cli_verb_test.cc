// The other verbs: help, version, verify, info, kernels, show, bench, completion.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "support/cli.h"

namespace tessera::test {
namespace {

using Json = nlohmann::json;
const std::vector<std::string> kVerbs = {"mul",   "verify", "info", "kernels", "show",
                                         "bench", "ladder", "tune", "report",  "completion"};

bool contains(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

class CliVerb : public CliTest {
 protected:
  void write_product() {
    write_file(path("a.npy"), matrix_npy("<f4", 2, 2, std::vector<float>{1, 2, 3, 4}));
    write_file(path("b.npy"), matrix_npy("<f4", 2, 2, std::vector<float>{5, 6, 7, 8}));
    write_c({19, 22, 43, 50});
  }
  void write_c(const std::vector<float>& c) {
    write_file(path("c.npy"), matrix_npy("<f4", 2, 2, c));
  }
  Ran verify(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"verify", path("a.npy"), path("b.npy"), path("c.npy")});
    return run_tessera(more);
  }
};

TEST_F(CliVerb, HelpEverywhereWithExamples) {
  const Ran root = run_tessera({"--help"});
  expect_ok(root);
  for (const std::string& verb : kVerbs) {
    EXPECT_TRUE(contains(root.out, verb)) << root.out;
    const Ran ran = run_tessera({verb, "--help"});
    expect_ok(ran);
    EXPECT_TRUE(contains(ran.out, "Examples:")) << verb;
    EXPECT_TRUE(contains(ran.out, "tessera " + verb)) << verb;
  }
  EXPECT_TRUE(contains(root.out, "Exit codes:")) << root.out;
  const Ran version = run_tessera({"--version"});
  expect_ok(version);
  EXPECT_EQ(version.out.rfind("tessera ", 0), 0U) << version.out;
}

TEST_F(CliVerb, VerifyPassesARightProduct) {
  write_product();
  const Ran ran = verify();
  expect_ok(ran);
  EXPECT_TRUE(contains(ran.out, "PASS")) << ran.out;
  expect_ok(verify({"--method", "full"}));
  // Large enough for random signs.
  write_file(path("a.npy"), matrix_npy("<f4", 20, 30, std::vector<float>(600, 2)));
  write_file(path("b.npy"), matrix_npy("<f4", 30, 25, std::vector<float>(750, 3)));
  write_file(path("c.npy"), matrix_npy("<i4", 20, 25, std::vector<std::int32_t>(500, 180)));
  const Ran json = verify({"--json", "--seed", "7", "--rounds", "30"});
  const Json report = Json::parse(json.out, nullptr, false);
  EXPECT_EQ(report["check"]["passed"], true) << json.out;
  EXPECT_EQ(report["check"]["method"], "freivalds");
  EXPECT_EQ(report["check"]["rounds"], 30);
  EXPECT_EQ(report["check"]["seed"], 7);
}

TEST_F(CliVerb, VerifyFailsAWrongOne) {
  write_product();
  for (const float wrong : {44.0f, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity(), 0.0f}) {
    write_c({19, 22, wrong, 50});
    for (const char* method : {"freivalds", "full"}) {
      const Ran ran = verify({"--method", method});
      EXPECT_EQ(ran.code, 5) << method;
      EXPECT_TRUE(contains(ran.out, "FAIL")) << ran.out;
      EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
      const Ran json = verify({"--method", method, "--json"});
      EXPECT_EQ(json.code, 5);
      const Json check = Json::parse(json.out, nullptr, false)["check"];
      EXPECT_EQ(check["passed"], false) << json.out;
      EXPECT_EQ(check["row"], 1) << json.out;
      EXPECT_EQ(check["col"], 0) << json.out;
    }
  }
  // The transposed product is as wrong as any other.
  write_c({19, 43, 22, 50});
  EXPECT_EQ(verify().code, 5);
  EXPECT_EQ(verify({"--quiet"}).out, "");
}

TEST_F(CliVerb, VerifyWithScalarsAndOps) {
  write_product();
  write_file(path("c0.npy"), matrix_npy("<f4", 2, 2, std::vector<float>{2, 4, 6, 8}));
  write_c({39, 46, 89, 104});  // 2 AB + 0.5 C0
  expect_ok(verify({"--alpha", "2", "--beta", "0.5", "--c", path("c0.npy")}));
  EXPECT_EQ(verify({"--alpha", "2"}).code, 5);
  write_c({17, 23, 39, 53});  // A B^T
  expect_ok(verify({"--trans-b"}));
}

TEST_F(CliVerb, VerifyRefusesAnotherShape) {
  write_product();
  write_file(path("c.npy"), matrix_npy("<f4", 4, 1, std::vector<float>{19, 22, 43, 50}));
  expect_error(verify(), 2, {"4 x 1", "2 x 2"});
  expect_error(run_tessera({"verify", path("a.npy"), path("b.npy")}), 2, {"C is required"});
}

TEST_F(CliVerb, Info) {
  const Ran text = run_tessera({"info"});
  expect_ok(text);
  for (const char* piece : {"version", "CPU", "caches", "SIMD", "memory"}) {
    EXPECT_TRUE(contains(text.out, piece)) << text.out;
  }
  const Ran ran = run_tessera({"info", "--json"});
  expect_ok(ran);
  const Json json = Json::parse(ran.out, nullptr, false);
  EXPECT_GE(json["cpu"]["cores"].get<int>(), 1);
  EXPECT_GT(json["cpu"]["memory_bytes"].get<double>(), 0);
  EXPECT_TRUE(json["cuda_devices"].is_array());
  EXPECT_EQ(json["cuda_devices"].empty(), json["cuda_unavailable_reason"].is_string());
}

TEST_F(CliVerb, Kernels) {
  const Ran text = run_tessera({"kernels"});
  expect_ok(text);
  const Ran ran = run_tessera({"kernels", "--json"});
  expect_ok(ran);
  const Json json = Json::parse(ran.out, nullptr, false);
  ASSERT_TRUE(json.is_array());
  ASSERT_GE(json.size(), 2U);
  for (const Json& kernel : json) {
    EXPECT_TRUE(contains(text.out, kernel["id"].get<std::string>()));
    for (const char* field : {"stem", "summary", "arch", "limits"}) {
      EXPECT_NE(kernel[field].get<std::string>(), "") << kernel;
    }
    EXPECT_GT(kernel["alignment_bytes"].get<int>(), 0);
  }
}

TEST_F(CliVerb, Show) {
  write_product();
  const Ran one = run_tessera({"show", path("a.npy")});
  expect_ok(one);
  EXPECT_TRUE(contains(one.out, "[2, 2]") && contains(one.out, "f32")) << one.out;
  write_file(path("m.safetensors"),
             safetensors(R"({"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},)"
                         R"("i":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}})",
                         bytes_of(std::vector<float>{1.5f, -2}) + std::string(8, '\0')));
  const Ran all = run_tessera({"show", path("m.safetensors")});
  expect_ok(all);
  EXPECT_TRUE(contains(all.out, "2 tensors") && contains(all.out, "I64")) << all.out;
  const Ran tensor = run_tessera({"show", path("m.safetensors") + ":w"});
  expect_ok(tensor);
  EXPECT_TRUE(contains(tensor.out, "1.5") && contains(tensor.out, "-2")) << tensor.out;
  expect_error(run_tessera({"show", path("none.npy")}), 3, {"none.npy"});
}

TEST_F(CliVerb, Completion) {
  const Ran bash = run_tessera({"completion", "bash"});
  expect_ok(bash);
  for (const std::string& verb : kVerbs) EXPECT_TRUE(contains(bash.out, verb)) << verb;
  for (const char* piece :
       {"--trans-a", "freivalds", "cpu.naive", "complete -F _tessera tessera", "compgen -f"}) {
    EXPECT_TRUE(contains(bash.out, piece)) << piece;
  }
  const Ran zsh = run_tessera({"completion", "zsh"});
  expect_ok(zsh);
  EXPECT_TRUE(contains(zsh.out, "#compdef tessera"));
  const Ran fish = run_tessera({"completion", "fish"});
  expect_ok(fish);
  EXPECT_TRUE(contains(fish.out, "-l trans-a"));
  expect_error(run_tessera({"completion", "cmd"}), 2, {"cmd"});
}

}  // namespace
}  // namespace tessera::test
