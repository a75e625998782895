// Reports of made-up results: every rule in text, JSON, SARIF and HTML.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "simt/report/lost_lines.h"
#include "simt/report/rules.h"
#include "simt/report/summary.h"
#include "simt/report/text.h"
#include "simt_report_support.h"
#include "support/errors.h"

namespace tessera::simt::test {
namespace {

using tessera::test::contains;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// Every tag that is opened is closed, in order, and no text holds a bare bracket.
std::string html_problem(const std::string& html) {
  static const std::set<std::string> kVoid = {"meta", "br", "hr"};
  std::vector<std::string> open;
  for (std::size_t at = 0; at < html.size(); ++at) {
    if (html[at] == '>') return "bare > at " + std::to_string(at);
    if (html[at] != '<') continue;
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return "unfinished tag";
    const std::string tag = html.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return "< within a tag: " + tag;
    at = end;
    if (tag[0] == '!') continue;
    const bool closes = tag[0] == '/';
    const std::string name = tag.substr(closes, tag.find(' ') - closes);
    if (closes) {
      if (open.empty() || open.back() != name) return "unexpected </" + name + ">";
      open.pop_back();
    } else if (name == "style") {
      at = html.find("</style>", at);
      if (at == std::string::npos) return "unfinished style";
      at += 7;
    } else if (kVoid.count(name) == 0) {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "left open: " + open.back();
}

TEST(Rules, EveryIdHasItsTexts) {
  const std::vector<std::string> ids = {
      rule::kSharedRaw,
      rule::kSharedWar,
      rule::kSharedWaw,
      rule::kWarpSync,
      rule::kGlobalRace,
      rule::kBlockRace,
      rule::kBarrierDivergence,
      rule::kEarlyReturn,
      rule::kDeadlock,
      rule::kTimeLimit,
      rule::kGlobalBounds,
      rule::kSharedBounds,
      rule::kIndexBounds,
      rule::kRowOverrun,
      rule::kMisaligned,
      rule::kUninitialisedShared,
      rule::kUninitialisedGlobal,
      rule::kNeverWritten,
      rule::kInputWritten,
      rule::kCopyInFlight,
      rule::kLaunch,
      rule::kWrongResult,
      rule::kCrash,
      rule::kBankConflict,
      rule::kUncoalesced,
      rule::kFewUsefulBytes,
  };
  EXPECT_EQ(rules().size(), ids.size());
  for (const std::string& id : ids) {
    const RuleText* text = find_rule(id);
    ASSERT_NE(text, nullptr) << id;
    for (const char* part : {text->title, text->meaning, text->harm, text->remedy})
      EXPECT_GE(std::string(part).size(), 5u) << id;
  }
  EXPECT_EQ(find_rule("no-such-rule"), nullptr);
}

TEST(TextReport, AFindingNamesEverything) {
  const std::string text = text_report(full_report(), false);
  EXPECT_EQ(lines_of(text)[0], "tiled.cu: 1 finding, 2 warnings");
  EXPECT_SAYS(text, "tiled.cu:3:3: error: shared-write-after-read on As[3][5]\n");
  EXPECT_SAYS(text, "tiled.cu:6:12: the other access\n");
  EXPECT_SAYS(text, "thread (4,1) of block (1,2) and thread (3,0) of block (1,2)");
  EXPECT_SAYS(text, "K step 2: the third time between");
  EXPECT_SAYS(text, "seen 512 times");
  EXPECT_SAYS(text, "remedy: Put __syncthreads() after the loop at line 6.");
  EXPECT_SAYS(text, "grid (4,4), block (16,16), 2048 bytes of shared memory, 16 of 16 blocks");
  EXPECT_SAYS(text, "C(64x64) = A(64x64) * B(64x64)");
  EXPECT_SAYS(text, "tiled<16> for sm_90: 32 registers, 0 bytes spilled");
  EXPECT_SAYS(text, "occupancy 100%, limited by threads");
  EXPECT_EQ(times(text, "Blocks were sampled."), 1) << "a note is given once";
}

TEST(TextReport, TheCaretStandsUnderItsColumn) {
  Report r = full_report();
  r.source = "\n\n\tx[i] = 1;\n\n\n  // 矩阵 y[i] = 2;\n";
  r.count.sites.clear();
  r.check.findings[0].place.column = 2;
  r.check.findings[0].other_place = place(6, 13);  // bytes: each Chinese character takes three
  const std::vector<std::string> lines = lines_of(text_report(r, false));
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    const std::size_t bar = lines[i].find(" | ");
    if (bar == std::string::npos) continue;
    if (contains(lines[i], "x[i]")) {
      EXPECT_EQ(lines[i + 1].find('^'), lines[i].find("x[i]"));
    }
    if (contains(lines[i], "y[i]")) {
      EXPECT_EQ(display_width(lines[i + 1].substr(0, lines[i + 1].find('^'))),
                display_width(lines[i].substr(0, lines[i].find("y[i]"))));
    }
  }
  EXPECT_EQ(times(text_report(r, false), "^"), 2);
}

TEST(TextReport, EveryRuleIsPrinted) {
  for (const RuleText& rule : rules()) {
    if (!rule.is_error) continue;
    Report r = full_report();
    r.check.findings[0].rule = rule.id;
    EXPECT_SAYS(text_report(r, false), std::string("error: ") + rule.id + " on As[3][5]");
  }
}

TEST(TextReport, StaysWithinItsWidth) {
  Report r = full_report();
  r.check.findings[0].message = std::string(250, 'm') + " and more words " + std::string(90, 'n');
  r.check.findings[0].remedy = "Make it 对齐 " + std::string(300, 'x');
  r.source = "\n\n" + std::string(500, 's') + "\n";
  r.count.sites[0].array = std::string(200, 'a');
  r.count.sites[1].place.file = "a/very/long/path/to/some_header_with_a_long_name.cuh";
  r.count.sites[2].requests = r.count.sites[2].sectors = 99'999'999'999;
  r.count.sites[3].width_is_compiled = true;
  for (const std::string& line : lines_of(text_report(r, false))) {
    // A place and what is said of it stay on one line, which tools parse.
    if (contains(line, "warning:") || contains(line, "error:")) continue;
    EXPECT_LE(display_width(line), 100) << line;
  }
}

TEST(TextReport, HeadingsAreWhole) {
  Report r = full_report();
  const std::string name = "product<float, 128, 128, 16, 8, 8, (Layout)0, 4, true>";
  for (Site& site : r.count.sites) site.kernel = name;
  std::string flat = text_report(r, false);
  std::replace(flat.begin(), flat.end(), '\n', ' ');
  EXPECT_SAYS(flat, "Accesses of warps in " + name + ": sectors of global and wavefronts");
  EXPECT_SAYS(flat, "of shared memory, for each request");
}

TEST(LostLines, AreThoseOfTheSameArraysOtherAccesses) {
  const Site a = shared_site("As", 6, 4, 1, 1), again = shared_site("As", 6, 16, 2, 2);
  Site lost = shared_site("As", 0, 4, 1, 1), of_another = shared_site("Bs", 0, 4, 1, 1);
  Site store = lost;
  store.is_write = true;
  std::vector<Site> sites = {lost, a, of_another, again, store};
  find_lost_lines(sites);
  EXPECT_EQ(sites[0].place.line, 6);
  EXPECT_EQ(sites[0].place.column, 0);
  EXPECT_EQ(sites[2].place.line, 0) << "no other access of Bs";
  EXPECT_EQ(sites[4].place.line, 0) << "no other store";
  sites = {lost, a, shared_site("As", 7, 4, 1, 1)};
  find_lost_lines(sites);
  EXPECT_EQ(sites[0].place.line, 0) << "one of two lines";
  EXPECT_SAYS(text_report(with_sites(sites), false), "  (no line)");
}

TEST(TextReport, ColourOnlyWhenAsked) {
  EXPECT_FALSE(contains(text_report(full_report(), false), "\x1b"));
  EXPECT_TRUE(contains(text_report(full_report(), true), "\x1b[1;31m"));
  Report r = full_report();
  r.source = "\n\n\x1b[2J\xff evil\n";
  EXPECT_FALSE(contains(text_report(r, false), "\x1b"));
  EXPECT_FALSE(contains(text_report(r, false), "\xff"));
}

TEST(TextReport, ACleanRunSaysSo) {
  Report r;
  r.path = "tiled.cu";
  EXPECT_EQ(text_report(r, false), "tiled.cu: no finding\n");
  EXPECT_FALSE(contains(text_report(r, false), "nan"));
}

TEST(Totals, AddUpByKernel) {
  const Report r = full_report();
  const Totals t = total(r.count.sites, "");
  EXPECT_EQ(t.global_requests, 300u);
  EXPECT_EQ(t.sectors, 400u + 3200 + 500);
  EXPECT_EQ(t.moved_bytes, 32u * 4100);
  EXPECT_EQ(t.requested_bytes, 3u * 3200 * 4);
  EXPECT_EQ(t.shared_requests, 200u);
  EXPECT_EQ(t.wavefronts, 3300u);
  EXPECT_EQ(t.ideal_wavefronts, 200u);
  EXPECT_EQ(total(r.count.sites, "other").sectors, 0u);
}

// A tile of 16 loads 2MNK/16 elements.
TEST(Theory, FindsTheTileFromTheLoads) {
  Report r = full_report();
  for (Site& s : r.count.sites)
    if (s.space == Space::kGlobal && !s.is_write) s.lanes = 64 * 64 * 64 / 16;
  const auto all = summaries(r);
  ASSERT_EQ(all.size(), 1u);
  ASSERT_TRUE(all[0].theory);
  EXPECT_DOUBLE_EQ(all[0].theory->tile, 16);
  EXPECT_DOUBLE_EQ(all[0].theory->flop, 2.0 * 64 * 64 * 64);
  EXPECT_DOUBLE_EQ(all[0].theory->compulsory_bytes, 3.0 * 64 * 64 * 4);
  EXPECT_DOUBLE_EQ(all[0].theory->intensity_moved, 2.0 * 64 * 64 * 64 / (4100 * 32));
}

TEST(Theory, SampledBlocksCountForTheirShare) {
  Report r = full_report();
  r.count.launches[0].blocks_checked = 4;
  const auto all = summaries(r);
  ASSERT_TRUE(all[0].theory);
  EXPECT_DOUBLE_EQ(all[0].theory->share, 0.25);
  EXPECT_DOUBLE_EQ(all[0].theory->flop, 0.5 * 64 * 64 * 64);
  EXPECT_SAYS(text_report(r, false), "25.0% of the blocks");
}

TEST(Theory, NeedsAProduct) {
  Report r = full_report();
  r.count.launches[0].m = r.check.launches[0].m = 0;
  EXPECT_FALSE(summaries(r)[0].theory);
}

TEST(JsonReport, RoundTripsAndKeepsItsNames) {
  const Report r = full_report();
  const Json j = Json::parse(json_report(r).dump());
  EXPECT_EQ(j, json_report(r));
  for (const char* name : {"schema", "path", "verdict", "how", "findings", "warnings", "launches",
                           "sites", "totals", "compiled", "notes", "program", "elapsed_s"})
    EXPECT_TRUE(j.contains(name)) << name;
  EXPECT_EQ(j["verdict"]["failed"], true);
  EXPECT_EQ(j["verdict"]["findings"], 1);
  EXPECT_EQ(j["findings"][0]["other_place"]["line"], 6);
  EXPECT_EQ(j["sites"].size(), 5u);
  EXPECT_EQ(j["sites"][0]["array"], "A") << "sorted by line and column";
  EXPECT_EQ(j["totals"]["all"]["sectors"], 4100);
  EXPECT_TRUE(j["totals"]["kernels"][0]["theory"].contains("tile"));
  EXPECT_EQ(j["compiled"][0]["registers"], 32);
  // What the executor wrote is found again.
  RunResult again;
  again.findings = {war_finding()};
  again.sites = r.count.sites;
  again.sites[0].lane_offsets = {0, 64, -1};
  const RunResult read = run_result_from_json(Json::parse(to_json(again).dump()));
  EXPECT_EQ(to_json(read), to_json(again));
}

TEST(JsonReport, NeverThrowsAndNeverHoldsNan) {
  Report r = full_report();
  r.path = "\xff\xfe.cu";
  r.check.findings[0].message = "bad \xc3\x28 bytes";
  r.notes = {std::string("\x80")};
  r.elapsed_s = std::numeric_limits<double>::quiet_NaN();
  r.compiled[0].occupancy = std::numeric_limits<double>::infinity();
  const Json j = json_report(r);
  std::string text;
  ASSERT_NO_THROW(text = j.dump());
  EXPECT_TRUE(j["elapsed_s"].is_null());
  EXPECT_TRUE(j["compiled"][0]["occupancy"].is_null());
  EXPECT_EQ(Json::parse(text), j);
  ASSERT_NO_THROW(sarif_report(r).dump());
  EXPECT_EQ(html_problem(html_report(r)), "");
}

TEST(SarifReport, HasRulesResultsAndRelativePlaces) {
  Report r = full_report();
  r.path = "./my code/tiled#1.cu";
  r.check.findings[0].place.file = r.check.findings[0].other_place->file = "my code/tiled#1.cu";
  const Json j = sarif_report(r);
  EXPECT_EQ(j["version"], "2.1.0");
  const Json& run = j["runs"][0];
  const Json& driver = run["tool"]["driver"];
  EXPECT_EQ(driver["name"], "tessera check");
  EXPECT_EQ(driver["rules"].size(), rules().size());
  for (const Json& rule : driver["rules"]) {
    EXPECT_FALSE(rule["shortDescription"]["text"].get<std::string>().empty());
    EXPECT_FALSE(rule["fullDescription"]["text"].get<std::string>().empty());
    EXPECT_FALSE(rule["help"]["text"].get<std::string>().empty());
  }
  const Json& result = run["results"][0];
  EXPECT_EQ(result["level"], "error");
  EXPECT_EQ(driver["rules"][result["ruleIndex"].get<int>()]["id"], result["ruleId"]);
  const Json& where = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(where["artifactLocation"]["uri"], "my%20code/tiled%231.cu");
  EXPECT_EQ(where["region"]["startLine"], 3);
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 6);
  EXPECT_EQ(result["occurrenceCount"], 512);
  EXPECT_EQ(run["results"].size(), 3u);
  EXPECT_EQ(run["results"][1]["level"], "warning");
}

TEST(SarifReport, ColumnsCountCharacters) {
  Report r = full_report();
  r.source = "\n\n/*\xe7\x9f\xa9*/ x\n";
  r.check.findings[0].place = place(3, 9);  // the x: its ninth byte, its seventh character
  const Json j = sarif_report(r);
  EXPECT_EQ(j["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startColumn"],
            7);
}

TEST(SarifReport, AFindingWithoutALineHasNoRegion) {
  Report r = full_report();
  r.check.findings[0].place = {};
  r.check.findings[0].other_place.reset();
  const Json j = sarif_report(r)["runs"][0]["results"][0];
  EXPECT_FALSE(j["locations"][0]["physicalLocation"].contains("region"));
  EXPECT_FALSE(j.contains("relatedLocations"));
}

TEST(HtmlReport, IsWellFormedAndSelfContained) {
  const std::string html = html_report(full_report());
  EXPECT_EQ(html_problem(html), "");
  for (const char* outside : {"http:", "https:", "<script", "<link", "@import", "url("})
    EXPECT_FALSE(contains(html, outside)) << outside;
  EXPECT_SAYS(html, "prefers-color-scheme: dark");
  EXPECT_SAYS(html, "&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;");
  EXPECT_SAYS(html, "class=\"row finding\" id=\"L3\"");
  EXPECT_SAYS(html, "heat3\" id=\"L6\"");
  EXPECT_SAYS(html, "<summary>shared-write-after-read on As[3][5]</summary>");
  EXPECT_SAYS(html, "<a href=\"#L6\">tiled.cu:6</a>");
  EXPECT_EQ(times(html, " id=\"L"), 9) << "each line once";
}

TEST(HtmlReport, ShowsWhatLiesElsewhere) {
  Report r = full_report();
  r.check.findings[0].place.file = "<b>.cuh";
  r.check.findings[0].array = "<i>";
  r.how = "</main>";
  const std::string html = html_report(r);
  EXPECT_EQ(html_problem(html), "");
  EXPECT_SAYS(html, "In other files");
  EXPECT_SAYS(html, "&lt;b&gt;.cuh:3");
  Report empty;
  EXPECT_EQ(html_problem(html_report(empty)), "");
}

TEST(HtmlProblem, SeesWhatIsWrong) {
  EXPECT_EQ(html_problem("<p>a</p>"), "");
  EXPECT_NE(html_problem("<p>a"), "");
  EXPECT_NE(html_problem("<p><b></p></b>"), "");
  EXPECT_NE(html_problem("<p>1 > 0</p>"), "");
}

TEST(Text, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(printable("a\xff z"), "a\xEF\xBF\xBD z");
  EXPECT_EQ(printable("\xc0\xaf"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "surrogate";
  EXPECT_EQ(printable("\xe7\x9f"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "cut short";
  EXPECT_EQ(printable("a\r\nb\x07"), "a\nb\xEF\xBF\xBD");
  EXPECT_EQ(printable("\xe2\x80\xae"), "\xEF\xBF\xBD") << "right-to-left override";
  EXPECT_EQ(printable("\xe7\x9f\xa9\xe9\x98\xb5 \xf0\x9f\x98\x80"),
            "\xe7\x9f\xa9\xe9\x98\xb5 \xf0\x9f\x98\x80");
}

TEST(Text, WrapsAndClips) {
  EXPECT_EQ(wrap("aa bb cc", 7, 2), (std::vector<std::string>{"  aa bb", "  cc"}));
  EXPECT_EQ(wrap("abcdefgh", 6, 2), (std::vector<std::string>{"  abcd", "  efgh"}));
  EXPECT_EQ(wrap("a\nb", 80, 0), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(wrap("", 80, 0).empty());
  EXPECT_EQ(clip("abcdef", 5), "ab...");
  EXPECT_EQ(clip("abcde", 5), "abcde");
  EXPECT_EQ(plural(2, "access"), "2 accesses");
}

}  // namespace
}  // namespace tessera::simt::test
