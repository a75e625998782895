// `tessera report` as a program, and the engine of `bench --compare`.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "bench/gnuplot.h"
#include "bench_compare.h"
#include "exit_code.h"
#include "support/cli.h"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::string kOld = TEST_DATA "/bench_old.json", kNew = TEST_DATA "/bench_new.json";

bool contains(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

/// Every element that opens is closed, in order.
bool is_balanced(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = xml.find('<', at)) != std::string::npos;) {
    const bool comment = xml.compare(at, 4, "<!--") == 0;
    const std::size_t end = comment ? xml.find("-->", at) : xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    at = end + 1;
    if (comment || tag.empty() || tag[0] == '?' || tag[0] == '!' || tag.back() == '/') continue;
    const std::string name = tag.substr(0, tag.find_first_of(" \n\t"));
    if (name[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

class CliReport : public CliTest {
 protected:
  std::string out() const { return path("out"); }
  std::string page() const { return read_file(out() + "/index.html"); }
  Ran report(std::vector<std::string> more, const Limits& limits = {}) const {
    more.insert(more.begin(), "report");
    more.insert(more.end(), {"-o", out()});
    return run_tessera(more, limits);
  }
  /// The made-up results with some changes.
  std::string changed(const std::function<void(Json&)>& change) const {
    Json json = Json::parse(read_file(kOld));
    change(json);
    write_file(path("changed.json"), json.dump());
    return path("changed.json");
  }
  std::vector<std::string> written() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(out()))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  void expect_page(const std::vector<std::string>& pieces) const {
    const std::string html = page();
    for (const std::string& piece : pieces) EXPECT_TRUE(contains(html, piece)) << piece;
    // One file, nothing from elsewhere, nothing that runs.
    for (const char* piece : {"http", "<script", "<link", "url("}) {
      EXPECT_FALSE(contains(html, piece)) << piece;
    }
  }
};

/// A gnuplot that is not the real one, first on PATH.
Limits fake_gnuplot(const std::string& directory, const std::string& body) {
  write_file(directory + "/gnuplot", "#!/bin/sh\n" + body + "\n");
  fs::permissions(directory + "/gnuplot", fs::perms::owner_all);
  Limits limits;
  limits.environment = {"PATH=" + directory + ":/usr/bin:/bin"};
  return limits;
}

TEST_F(CliReport, HelpAndCompletion) {
  const Ran help = run_tessera({"report", "--help"});
  expect_ok(help);
  EXPECT_TRUE(contains(help.out, "Examples:") && contains(help.out, "--no-charts"));
  for (const char* shell : {"bash", "fish"}) {
    const Ran ran = run_tessera({"completion", shell});
    expect_ok(ran);
    EXPECT_TRUE(contains(ran.out, "report") && contains(ran.out, "no-charts")) << shell;
  }
}

TEST_F(CliReport, PageWithoutCharts) {
  const Ran ran = report({"--no-charts", kOld, kNew});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(written(), std::vector<std::string>{"index.html"});
  expect_page({"made up for tests", "5 rows: 4 passed, 1 not supported", "cuda.naive.f32",
               "1024x1024x1024 NN", "not supported",
               "made up &lt;rule&gt; &amp; &quot;reason&quot;", "noisy: made up", "power cap",
               "libcublas.so.13", "cublaslt: not opened", "square.csv:4: made up", "1.200\u00d7",
               "graph replay", "l2_read_bytes", "16\u00d716\u00d71", "60000", "aaaaaaaaaaaa",
               "bbbbbbbbbbbb", "incorrect"});
  EXPECT_FALSE(contains(page(), "<rule>"));
}

TEST_F(CliReport, WithoutGnuplotThePageIsWritten) {
  Limits limits;
  limits.environment = {"PATH=/nonexistent"};
  const Ran ran = report({kOld}, limits);
  EXPECT_EQ(ran.code, 4);
  EXPECT_TRUE(contains(ran.err, "gnuplot-nox") && contains(ran.err, "index.html")) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_EQ(written(), std::vector<std::string>{"index.html"});
  expect_page({"cuda.naive.f32", "gnuplot-nox"});
  const Ran plain = report({kOld, "--no-charts"}, limits);
  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_TRUE(contains(plain.err, "gnuplot-nox")) << plain.err;
}

TEST_F(CliReport, AGnuplotThatFailsCostsNoTables) {
  const std::string version = "[ \"$1\" != --version ] || { echo gnuplot 5.4; exit 0; }\n";
  for (const char* body : {"echo 'no such terminal' >&2; exit 3", "exit 0", "kill -9 $$",
                           // No picture, and one without an end.
                           "echo '<script>x</script>'", "exec yes", "echo 1 >&2; exec yes >&2"}) {
    const Ran ran = report({kOld}, fake_gnuplot(path(""), version + body));
    EXPECT_EQ(ran.code, 4) << body;
    EXPECT_TRUE(contains(ran.err, "gnuplot") && contains(ran.err, "index.html")) << ran.err;
    EXPECT_EQ(written(), std::vector<std::string>{"index.html"}) << body;
    expect_page({"cuda.naive.f32"});
  }
  for (const char* body :
       {"echo gnuplot 4.6", "kill -SEGV $$", "exec yes gnuplot 5", "printf 'gnuplot \\033[31m'"}) {
    const Ran ran = report({kOld}, fake_gnuplot(path(""), body));
    EXPECT_EQ(ran.code, 4) << body;
    EXPECT_FALSE(contains(ran.out + ran.err + page(), "\033")) << body;
  }
}

TEST_F(CliReport, OnlyFilesAreRead) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::ofstream(path("huge.json")) << "{";
  fs::resize_file(path("huge.json"), std::uintmax_t{1} << 34);
  const std::vector<std::pair<std::string, std::string>> files = {
      {path("pipe"), "not a regular file"},
      {"/dev/zero", "not a regular file"},
      {path("huge.json"), "17179869184 bytes"},
      {path(""), "folder"}};
  Limits limits;
  limits.environment = {"TESSERA_TUNE_CACHE=" + path("tune.json")};
  for (const auto& [file, rule] : files) {
    expect_error(report({file}), 3, {rule});
    expect_error(run_tessera({"bench", "--compare", file, kOld}), 3, {rule});
    expect_error(run_tessera({"tune", "--import", file}, limits), 3, {rule});
  }
}

TEST_F(CliReport, FileNamesDriveNoTerminal) {
  const std::string name = path("a\033[31m<b>.json");
  fs::copy_file(kOld, name);
  const Ran ran = report({name, "--no-charts"});
  const Ran compared = run_tessera({"bench", "--compare", name, kOld});
  for (const std::string& text : {ran.out + ran.err, page(), compared.out + compared.err}) {
    EXPECT_FALSE(contains(text, "\033"));
  }
  EXPECT_TRUE(contains(page(), "a\\x1b[31m&lt;b&gt;.json"));
}

TEST_F(CliReport, ScriptsHoldNoTextThatGnuplotWouldRun) {
  // The "image" is the script itself.
  const Limits limits = fake_gnuplot(
      path(""),
      "[ \"$1\" != --version ] || { echo gnuplot 5.4; exit 0; }\n"
      "cat > s\ngrep -q png s && printf '\\211PNG\\r\\n\\032\\n' || printf '<?xml'\ncat s; rm s");
  const std::string evil = "`touch pwned` '); system(\"x\") $(x) \"\\ {/:Bold x} \u00e9";
  const std::string file = changed([&](Json& json) {
    json["device"]["name"] = evil;
    json["provenance"]["commit"] = evil;
    for (Json& row : json["results"]) {
      row["suite"] = evil;
      if (row["kernel"].is_string()) row["kernel"] = evil;
      row["requested"] = evil;
    }
  });
  const Ran ran = report({file}, limits);
  EXPECT_EQ(ran.code, 0) << ran.err;
  int scripts = 0;
  for (const std::string& name : written()) {
    EXPECT_FALSE(contains(name, "`") || contains(name, "/")) << name;
    if (name == "index.html") continue;
    ++scripts;
    const std::string script = read_file(out() + "/" + name);
    for (const char* piece : {"`", "system(\"", "$(x", "\"", "'')"}) {
      EXPECT_FALSE(contains(script, piece)) << piece << " in " << name;
    }
    EXPECT_EQ(std::count(script.begin(), script.end(), '\'') % 2, 0) << name;
    EXPECT_TRUE(contains(script, "\u00e9")) << name;
  }
  EXPECT_GT(scripts, 8);
  expect_page({"`touch pwned` &#39;); system(&quot;x&quot;)"});
}

TEST_F(CliReport, RealCharts) {
  const std::string missing = bench::gnuplot_missing();
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Ran ran = report({kOld});
  expect_ok(ran);
  std::vector<std::string> expected = {"index.html"};
  for (const char* chart :
       {"roofline", "roofline-literature", "ladder", "ladder-largest", "speedup-square",
        "roofline-cold", "roofline-literature-cold", "ladder-cold", "ladder-largest-cold"}) {
    for (const char* suffix : {".svg", ".png", "-dark.svg", "-dark.png"}) {
      expected.push_back(std::string(chart) + suffix);
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(written(), expected);
  for (const std::string& name : written()) {
    const std::string file = read_file(out() + "/" + name);
    if (fs::path(name).extension() == ".png") {
      EXPECT_EQ(file.rfind("\x89PNG", 0), 0U) << name;
    } else if (name != "index.html") {
      EXPECT_TRUE(contains(file, "<svg") && is_balanced(file)) << name;
      EXPECT_TRUE(contains(file, "made up for tests")) << name;
    }
  }
  const std::string roofline = read_file(out() + "/roofline.svg");
  for (const char* text : {"k01 naive", "k06 warp_tiled", "cublas", "60.0 TFLOP/s", "4.00 TB/s"}) {
    EXPECT_TRUE(contains(roofline, text)) << text;
  }
  EXPECT_TRUE(contains(read_file(out() + "/roofline-literature.svg"), "V100"));
  EXPECT_TRUE(contains(read_file(out() + "/speedup-square.svg"), "geometric mean 1.20"));
  const std::string html = page();
  expect_page({"prefers-color-scheme: dark", "data:image/svg+xml;base64,", "alt=\"Roofline"});
  EXPECT_TRUE(contains(ran.out, "speedup-cold: no case has both")) << ran.out;
}

TEST_F(CliReport, OldFilesAndFilesWithoutPasses) {
  const std::string missing = bench::gnuplot_missing();
  if (!missing.empty()) GTEST_SKIP() << missing;
  const Ran old = report({RESULTS "/2026-11-30_h200_k01-k06_square.json"});
  expect_ok(old);
  EXPECT_TRUE(contains(old.out, "roofline: ")) << old.out;
  EXPECT_TRUE(fs::exists(out() + "/ladder.svg"));
  EXPECT_FALSE(fs::exists(out() + "/roofline.svg"));
  fs::remove_all(out());
  const Ran none = report({changed([](Json& json) {
    for (Json& row : json["results"]) row["disposition"] = "failed";
  })});
  expect_ok(none);
  EXPECT_EQ(written(), std::vector<std::string>{"index.html"});
  EXPECT_TRUE(contains(none.out, "no row passed")) << none.out;
  EXPECT_FALSE(contains(page(), "5.000")) << "a speed beside a failed row";
}

TEST_F(CliReport, BadInputsLeaveNothing) {
  write_file(path("bad.json"), "{\"results\": [");
  expect_error(report({path("bad.json")}), 3, {"bad.json", "byte"});
  expect_error(report({kOld, path("none.json")}), 3, {"none.json"});
  expect_error(report({changed([](Json& j) { j["results"][1]["median_s"] = "1"; })}), 3,
               {"changed.json", "results[1].median_s"});
  EXPECT_FALSE(fs::exists(out()));
  write_file(out(), "mine");
  expect_error(report({kOld, "--no-charts"}), 4, {"out", "is a file"});
  EXPECT_EQ(read_file(out()), "mine");
  EXPECT_EQ(run_tessera({"report", kOld}).code, 2);
  EXPECT_EQ(run_tessera({"report", "-o", path("x")}).code, 2);
}

TEST_F(CliReport, CompareThrowsForWhatBroke) {
  testing::internal::CaptureStdout();
  EXPECT_THROW(cli::run_bench_compare(kOld, kNew, false), cli::CheckFailed);
  std::fflush(stdout);
  const std::string text = testing::internal::GetCapturedStdout();
  for (const char* piece : {"warning: driver differs: 1.0, then 2.0", "incorrect", "faster",
                            "1.250x", "only in", "geometric mean"}) {
    EXPECT_TRUE(contains(text, piece)) << piece << "\n" << text;
  }
  testing::internal::CaptureStdout();
  EXPECT_EQ(cli::run_bench_compare(kNew, kOld, true), 0);
  std::fflush(stdout);
  const Json json = Json::parse(testing::internal::GetCapturedStdout());
  EXPECT_EQ(json["passed_then_incorrect"], 0);
  EXPECT_EQ(json["slower"], 1);
  EXPECT_THROW(cli::run_bench_compare(kOld, path("none.json"), false), Error);
}

}  // namespace
}  // namespace tessera::test
