// SARIF 2.1.0 (OASIS standard): findings and warnings for code review tools.
#include <algorithm>
#include <filesystem>

#include "simt/report/json_text.h"
#include "simt/report/report.h"
#include "simt/report/rules.h"
#include "simt/report/source_text.h"
#include "simt/report/summary.h"
#include "simt/report/text.h"
#include "tessera/tessera.h"

namespace tessera::simt {
namespace {

constexpr char kBase[] = "SRCROOT";

// Percent-encodes what RFC 3986 does not allow in a path.
std::string uri_of(const std::string& path) {
  static const std::string kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&'()*+,;=@";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri;
  for (const char c : path) {
    if (kAllowed.find(c) != std::string::npos) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return uri;
}

// Relative to the working folder where the file lies below it.
Json artifact(const std::string& file) {
  std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  if (path.is_absolute()) {
    std::error_code failed;
    const auto here = std::filesystem::current_path(failed);
    const auto relative = path.lexically_relative(here);
    if (failed || relative.empty() || *relative.begin() == "..")
      return {{"uri", "file://" + uri_of(path.string())}};
    path = relative;
  }
  return {{"uri", uri_of(path.string())}, {"uriBaseId", kBase}};
}

class SarifReport {
 public:
  explicit SarifReport(const Report& report) : report_(report), source_(report) {}

  Json write() {
    Json run = {{"tool", {{"driver", driver()}}}};
    run["originalUriBaseIds"] = {
        {kBase, {{"description", {{"text", "The folder in which tessera check was run."}}}}}};
    run["columnKind"] = "unicodeCodePoints";
    run["invocations"] = Json::array({{{"executionSuccessful", true}}});
    run["results"] = results();
    return json_safe({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", Json::array({run})}});
  }

 private:
  static Json driver() {
    Json all = Json::array();
    for (const RuleText& r : rules()) {
      const std::string help = std::string(r.harm) + " " + r.remedy;
      all.push_back({{"id", r.id},
                     {"shortDescription", {{"text", r.title}}},
                     {"fullDescription", {{"text", std::string(r.meaning) + " " + r.harm}}},
                     {"help", {{"text", help}}},
                     {"defaultConfiguration", {{"level", r.is_error ? "error" : "warning"}}}});
    }
    return {{"name", "tessera check"}, {"version", tessera_version()}, {"rules", all}};
  }

  Json results() {
    Json all = Json::array();
    for (const Finding& f : report_.check.findings) {
      Json r = result(f.rule, "error", f.message, f.remedy, f.place);
      if (f.other_place) {
        Json other = location(*f.other_place);
        other["id"] = 1;
        other["message"] = {{"text", "the other access"}};
        r["relatedLocations"] = Json::array({other});
      }
      r["occurrenceCount"] = std::max<std::uint64_t>(f.count, 1);
      all.push_back(std::move(r));
    }
    for (const Warning& w : warnings(report_))
      all.push_back(result(w.rule, "warning", w.message, w.remedy, w.place));
    return all;
  }

  Json result(const std::string& rule, const char* level, const std::string& message,
              const std::string& remedy, const Place& place) {
    Json r = {{"ruleId", rule}, {"level", level}};
    for (std::size_t i = 0; i < rules().size(); ++i)
      if (rule == rules()[i].id) r["ruleIndex"] = i;
    r["message"] = {{"text", remedy.empty() ? message : message + " " + remedy}};
    r["locations"] = Json::array({location(place)});
    return r;
  }

  Json location(const Place& place) {
    Json physical = {
        {"artifactLocation",
         artifact(place.file.empty() || source_.is_main(place) ? report_.path : place.file)}};
    if (place.line > 0) {
      physical["region"] = {{"startLine", place.line}};
      if (place.column > 0) physical["region"]["startColumn"] = column(place);
    }
    Json l = {{"physicalLocation", physical}};
    if (!place.function.empty())
      l["logicalLocations"] =
          Json::array({{{"fullyQualifiedName", place.function}, {"kind", "function"}}});
    return l;
  }

  // The compiler counts bytes, SARIF characters.
  int column(const Place& place) {
    const std::string* text = source_.line(place);
    return text == nullptr ? place.column : characters_before(*text, place.column - 1) + 1;
  }

  const Report& report_;
  SourceText source_;
};

}  // namespace

Json sarif_report(const Report& report) { return SarifReport(report).write(); }

}  // namespace tessera::simt
