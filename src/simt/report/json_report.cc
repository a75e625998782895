#include <cmath>

#include "simt/report/json_text.h"
#include "simt/report/quality.h"
#include "simt/report/report.h"
#include "simt/report/rules.h"
#include "simt/report/summary.h"
#include "simt/report/text.h"

namespace tessera::simt {

Json json_safe(const Json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return nullptr;
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& item : value) out.push_back(json_safe(item));
    return out;
  }
  if (value.is_object()) {
    Json out = Json::object();
    for (const auto& [key, item] : value.items()) out[key] = json_safe(item);
    return out;
  }
  return value;
}

namespace {

Json place_json(const Place& p) {
  return {{"file", p.file}, {"line", p.line}, {"column", p.column}, {"function", p.function}};
}

Json warnings_json(const std::vector<Warning>& all) {
  Json out = Json::array();
  for (const Warning& w : all)
    out.push_back({{"rule", w.rule},
                   {"message", w.message},
                   {"remedy", w.remedy},
                   {"array", w.array},
                   {"place", place_json(w.place)}});
  return out;
}

Json sites_json(const Report& report) {
  RunResult sorted;
  sorted.sites = sorted_sites(report);
  Json out = to_json(sorted).at("sites");
  for (std::size_t i = 0; i < sorted.sites.size(); ++i) {
    out[i]["excess"] = excess(sorted.sites[i]);
    out[i]["note"] = site_note(sorted.sites[i]);
  }
  return out;
}

Json totals_json(const Totals& t) {
  return {{"kernel", t.kernel},
          {"global_requests", t.global_requests},
          {"sectors", t.sectors},
          {"ideal_sectors", t.ideal_sectors},
          {"useful_bytes", t.useful_bytes},
          {"moved_bytes", t.moved_bytes},
          {"requested_bytes", t.requested_bytes},
          {"shared_requests", t.shared_requests},
          {"wavefronts", t.wavefronts},
          {"ideal_wavefronts", t.ideal_wavefronts}};
}

Json theory_json(const Theory& y) {
  return {{"flop", y.flop},
          {"compulsory_bytes", y.compulsory_bytes},
          {"loads", y.loads},
          {"naive_loads", y.naive_loads},
          {"tile", y.tile},
          {"flop_per_requested_byte", y.intensity_requested},
          {"flop_per_moved_byte", y.intensity_moved},
          {"flop_per_compulsory_byte", y.intensity_compulsory},
          {"counted_share", y.share}};
}

Json totals_json(const Report& report) {
  Json out = {{"all", totals_json(total(report.count.sites, ""))}, {"kernels", Json::array()}};
  for (const KernelSummary& s : summaries(report)) {
    Json kernel = totals_json(s.totals);
    if (s.theory) kernel["theory"] = theory_json(*s.theory);
    out["kernels"].push_back(std::move(kernel));
  }
  return out;
}

Json compiled_json(const std::vector<Compiled>& all) {
  Json out = Json::array();
  for (const Compiled& c : all)
    out.push_back({{"kernel", c.kernel},
                   {"architecture", c.architecture},
                   {"registers", c.registers},
                   {"spill_bytes", c.spill_bytes},
                   {"stack_bytes", c.stack_bytes},
                   {"static_shared_bytes", c.static_shared_bytes},
                   {"blocks_per_sm", c.blocks_per_sm},
                   {"occupancy", c.occupancy},
                   {"limited_by", c.limited_by}});
  return out;
}

}  // namespace

Json json_report(const Report& report) {
  const std::vector<Warning> remarks = warnings(report);
  RunResult launched;
  launched.launches = launches_of(report);
  Json j = {{"schema", "tessera-check-1"},
            {"path", report.path},
            {"verdict",
             {{"failed", report.failed()},
              {"findings", report.check.findings.size()},
              {"warnings", remarks.size()},
              {"text", verdict_text(report, remarks.size())}}},
            {"how", report.how}};
  j["findings"] = to_json(report.check).at("findings");
  j["warnings"] = warnings_json(remarks);
  j["launches"] = to_json(launched).at("launches");
  // Counting samples blocks of its own.
  for (std::size_t i = 0; i < j["launches"].size() && i < report.count.launches.size(); ++i) {
    const Launch& counted = report.count.launches[i];
    if (j["launches"][i]["kernel"] != counted.kernel) continue;
    j["launches"][i]["blocks_counted"] = counted.blocks_checked;
  }
  j["sites"] = sites_json(report);
  j["totals"] = totals_json(report);
  j["compiled"] = compiled_json(report.compiled);
  j["notes"] = notes_of(report);
  j["program"] = {{"exit_code", report.check.exit_code},
                  {"accesses", report.check.accesses},
                  {"check_s", report.check.elapsed_s},
                  {"count_s", report.count.elapsed_s}};
  j["elapsed_s"] = report.elapsed_s;
  return json_safe(j);
}

}  // namespace tessera::simt
