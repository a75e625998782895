#include "simt/model.h"

#include <fmt/format.h>

namespace tessera::simt {
namespace {

std::string triple(const std::array<unsigned, 3>& x) {
  if (x[2] != 0) return fmt::format("({},{},{})", x[0], x[1], x[2]);
  return fmt::format("({},{})", x[0], x[1]);
}

Json place_json(const Place& p) {
  return {{"file", p.file}, {"line", p.line}, {"column", p.column}, {"function", p.function}};
}
Place place_from(const Json& j) {
  return {j.at("file"), j.at("line"), j.at("column"), j.at("function")};
}
Json thread_json(const Thread& t) { return {{"block", t.block}, {"thread", t.thread}}; }
Thread thread_from(const Json& j) {
  return {j.at("block").get<std::array<unsigned, 3>>(),
          j.at("thread").get<std::array<unsigned, 3>>()};
}

Json to_json(const Finding& f) {
  Json j = {{"rule", f.rule},
            {"message", f.message},
            {"remedy", f.remedy},
            {"kernel", f.kernel},
            {"place", place_json(f.place)}};
  if (f.other_place) j["other_place"] = place_json(*f.other_place);
  j["array"] = f.array;
  j["element"] = f.element;
  if (f.thread) j["thread"] = thread_json(*f.thread);
  if (f.other_thread) j["other_thread"] = thread_json(*f.other_thread);
  j["phase"] = f.phase;
  j["phase_text"] = f.phase_text;
  j["count"] = f.count;
  if (!f.at_fault.empty()) j["at_fault"] = f.at_fault;
  if (!f.cause.empty()) j["cause"] = f.cause;
  if (f.proof != Proof::kRegion) j["proof"] = static_cast<int>(f.proof);
  return j;
}

Finding finding_from(const Json& j) {
  Finding f;
  f.rule = j.at("rule");
  f.message = j.at("message");
  f.remedy = j.at("remedy");
  f.kernel = j.at("kernel");
  f.place = place_from(j.at("place"));
  if (j.contains("other_place")) f.other_place = place_from(j.at("other_place"));
  f.array = j.at("array");
  f.element = j.at("element");
  if (j.contains("thread")) f.thread = thread_from(j.at("thread"));
  if (j.contains("other_thread")) f.other_thread = thread_from(j.at("other_thread"));
  f.phase = j.at("phase");
  f.phase_text = j.at("phase_text");
  f.count = j.at("count");
  f.at_fault = j.value("at_fault", "");
  f.cause = j.value("cause", "");
  f.proof = static_cast<Proof>(j.value("proof", 0));
  return f;
}

Json to_json(const Site& s) {
  return {{"kernel", s.kernel},
          {"array", s.array},
          {"place", place_json(s.place)},
          {"space", s.space == Space::kShared ? "shared" : "global"},
          {"access", s.is_write ? "store" : "load"},
          {"bytes", s.bytes},
          {"width_is_compiled", s.width_is_compiled},
          {"is_part", s.is_part},
          {"requests", s.requests},
          {"lanes", s.lanes},
          {"wavefronts", s.wavefronts},
          {"ideal_wavefronts", s.ideal_wavefronts},
          {"worst_degree", s.worst_degree},
          {"sectors", s.sectors},
          {"ideal_sectors", s.ideal_sectors},
          {"useful_bytes", s.useful_bytes},
          {"lane_stride", s.lane_stride},
          {"row_pitch", s.row_pitch},
          {"lane_offsets", s.lane_offsets}};
}

Site site_from(const Json& j) {
  Site s;
  s.kernel = j.at("kernel");
  s.array = j.at("array");
  s.place = place_from(j.at("place"));
  s.space = j.at("space") == "shared" ? Space::kShared : Space::kGlobal;
  s.is_write = j.at("access") == "store";
  s.bytes = j.at("bytes");
  s.width_is_compiled = j.at("width_is_compiled");
  s.is_part = j.at("is_part");
  s.requests = j.at("requests");
  s.lanes = j.at("lanes");
  s.wavefronts = j.at("wavefronts");
  s.ideal_wavefronts = j.at("ideal_wavefronts");
  s.worst_degree = j.at("worst_degree");
  s.sectors = j.at("sectors");
  s.ideal_sectors = j.at("ideal_sectors");
  s.useful_bytes = j.at("useful_bytes");
  s.lane_stride = j.at("lane_stride");
  s.row_pitch = j.at("row_pitch");
  s.lane_offsets = j.at("lane_offsets").get<std::vector<std::int64_t>>();
  return s;
}

Json to_json(const Launch& l) {
  return {{"kernel", l.kernel},
          {"place", place_json(l.place)},
          {"grid", l.grid},
          {"block", l.block},
          {"static_shared_bytes", l.static_shared_bytes},
          {"dynamic_shared_bytes", l.dynamic_shared_bytes},
          {"blocks_total", l.blocks_total},
          {"blocks_checked", l.blocks_checked},
          {"blocks_run", l.blocks_run},
          {"repeats", l.repeats},
          {"barriers", l.barriers},
          {"accesses", l.accesses},
          {"elapsed_s", l.elapsed_s},
          {"gemm", l.gemm},
          {"m", l.m},
          {"n", l.n},
          {"k", l.k}};
}

Launch launch_from(const Json& j) {
  Launch l;
  l.kernel = j.at("kernel");
  l.place = place_from(j.at("place"));
  l.grid = j.at("grid").get<std::array<unsigned, 3>>();
  l.block = j.at("block").get<std::array<unsigned, 3>>();
  l.static_shared_bytes = j.at("static_shared_bytes");
  l.dynamic_shared_bytes = j.at("dynamic_shared_bytes");
  l.blocks_total = j.at("blocks_total");
  l.blocks_checked = j.at("blocks_checked");
  l.blocks_run = j.at("blocks_run");
  l.repeats = j.at("repeats");
  l.barriers = j.at("barriers");
  l.accesses = j.at("accesses");
  l.elapsed_s = j.at("elapsed_s");
  l.gemm = j.at("gemm");
  l.m = j.at("m");
  l.n = j.at("n");
  l.k = j.at("k");
  return l;
}

}  // namespace

std::string to_string(const Thread& t) {
  return "thread " + triple(t.thread) + " of block " + triple(t.block);
}

std::string to_string(const Place& place) {
  if (place.line == 0) return place.file.empty() ? "?" : place.file;
  return fmt::format("{}:{}", place.file, place.line);
}

Json to_json(const RunResult& r) {
  Json j = {{"findings", Json::array()},      {"sites", Json::array()},
            {"launches", Json::array()},      {"notes", r.notes},
            {"launch_notes", r.launch_notes}, {"exit_code", r.exit_code},
            {"elapsed_s", r.elapsed_s},       {"accesses", r.accesses}};
  for (const Finding& f : r.findings) j["findings"].push_back(to_json(f));
  for (const Site& s : r.sites) j["sites"].push_back(to_json(s));
  for (const Launch& l : r.launches) j["launches"].push_back(to_json(l));
  return j;
}

RunResult run_result_from_json(const Json& j) {
  RunResult r;
  for (const Json& f : j.at("findings")) r.findings.push_back(finding_from(f));
  for (const Json& s : j.at("sites")) r.sites.push_back(site_from(s));
  for (const Json& l : j.at("launches")) r.launches.push_back(launch_from(l));
  r.notes = j.at("notes").get<std::vector<std::string>>();
  r.launch_notes = j.at("launch_notes").get<std::vector<std::string>>();
  r.exit_code = j.at("exit_code");
  r.elapsed_s = j.at("elapsed_s");
  r.accesses = j.at("accesses");
  return r;
}

}  // namespace tessera::simt
