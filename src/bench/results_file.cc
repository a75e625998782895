#include "bench/results_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/json_reader.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

/// What older files say once for all rows.
struct Defaults {
  std::string ops = "NN", dtype = "f32", cache = "warm", timer;
  double alpha = 1, beta = 0;
};

Defaults read_defaults(const JsonReader& file) {
  Defaults all;
  all.ops = file.text("ops", all.ops);
  all.dtype = file.text("dtype", all.dtype);
  all.cache = file.text("cache", all.cache);
  all.timer = file.text("timer");
  all.alpha = file.number_or("alpha", 1);
  all.beta = file.number_or("beta", 0);
  file.object("conditions",
              [&](const JsonReader& inside) { all.dtype = inside.text("dtype", all.dtype); });
  if (all.ops.size() != 2) file.fault("ops", fmt::format(" is \"{}\": NN, NT, TN or TT", all.ops));
  return all;
}

Op read_op(const JsonReader& row, const char* name, char fallback) {
  const std::string text = row.text(name, std::string(1, fallback));
  if (text == "N") return Op::kN;
  if (text == "T") return Op::kT;
  row.fault(name, fmt::format(" is \"{}\": N or T", text));
}

DType read_dtype(const JsonReader& row, const std::string& fallback) {
  const std::string text = row.text("dtype", fallback);
  try {
    return parse_dtype(text);
  } catch (const Error&) {
    row.fault("dtype", fmt::format(" is \"{}\": no such element type", text));
  }
}

/// "row col row": the layouts of A, B and C.
void read_layouts(const JsonReader& row, GemmDesc& desc) {
  const std::string text = row.text("layouts", "row row row");
  std::size_t at = 0;
  for (OperandDesc* x : {&desc.a, &desc.b, &desc.c}) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(std::min(at, end), end - std::min(at, end));
    if (word != "row" && word != "col") {
      row.fault("layouts", fmt::format(" is \"{}\": three of row and col", text));
    }
    x->layout = word == "row" ? Layout::kRowMajor : Layout::kColMajor;
    at = end + 1;
  }
  if (at <= text.size()) row.fault("layouts", fmt::format(" is \"{}\": three words", text));
}

void read_ld(const JsonReader& row, const char* name, OperandDesc& x) {
  const std::int64_t dense = x.layout == Layout::kRowMajor ? x.cols : x.rows;
  x.ld = row.whole(name, dense, dense);
}

Case read_case(const JsonReader& row, const Defaults& defaults) {
  const auto size = [&](const char* name) {
    if (!row.has(name)) row.fault(name, " is missing");
    return row.whole(name, 0, 1);
  };
  const std::int64_t m = size("m"), n = size("n"), k = size("k");
  Case c = dense_case(read_op(row, "op_a", defaults.ops[0]), read_op(row, "op_b", defaults.ops[1]),
                      m, n, k, read_dtype(row, defaults.dtype));
  c.suite = row.text("suite");
  c.calls = row.whole("calls", 1, 1);
  c.alpha = row.number_or("alpha", defaults.alpha);
  c.beta = row.number_or("beta", defaults.beta);
  c.desc.batch = row.whole("batch", 1, 1);
  read_layouts(row, c.desc);
  read_ld(row, "lda", c.desc.a);
  read_ld(row, "ldb", c.desc.b);
  read_ld(row, "ldc", c.desc.c);
  // The file does not say whether members share an operand; each has its own in all suites.
  // Nothing but whether a stride is 0 is asked of it, and rows * cols may not fit 64 bits.
  for (OperandDesc* x : {&c.desc.a, &c.desc.b, &c.desc.c}) x->batch_stride = 1;
  return c;
}

void read_disposition(const JsonReader& in, FileRow& row) {
  row.disposition_text = in.text("disposition");
  if (const auto known = parse_disposition(row.disposition_text)) {
    row.disposition = *known;
    return;
  }
  in.fault("disposition", row.disposition_text.empty()
                              ? " is missing"
                              : fmt::format(" is \"{}\": passed, incorrect, failed, not supported "
                                            "or implausible",
                                            row.disposition_text));
}

void read_times(const JsonReader& in, FileRow& row) {
  constexpr double kLeast_s = 1e-12;
  row.median_s = in.number("median_s", kLeast_s);
  row.min_s = in.number("min_s", kLeast_s);
  row.max_s = in.number("max_s", kLeast_s);
  row.noise = in.number("noise", 0);
  if (!row.passed()) return;
  if (!row.median_s) in.fault("median_s", " is missing: a row that passed has a time");
  if (row.min_s.value_or(*row.median_s) > *row.median_s) in.fault("min_s", " is above median_s");
  if (row.max_s.value_or(*row.median_s) < *row.median_s) in.fault("max_s", " is below median_s");
}

gpu::Launch read_launch(const JsonReader& in) {
  gpu::Launch launch;
  launch.function = in.text("function");
  launch.registers = static_cast<int>(in.whole("registers", 0, 0));
  launch.local_bytes = in.whole("local_bytes", 0, 0);
  launch.shared_bytes = in.whole("shared_bytes", 0, 0);
  launch.blocks_per_sm = static_cast<int>(in.whole("blocks_per_sm", 0, 0));
  launch.occupancy = in.number("occupancy", 0).value_or(0);
  const auto three = [&](const char* name, int* out) {
    const std::vector<std::int64_t> sizes = in.wholes(name);
    for (std::size_t i = 0; i < sizes.size() && i < 3; ++i) out[i] = static_cast<int>(sizes[i]);
  };
  three("grid", launch.grid);
  three("block", launch.block);
  return launch;
}

FileRow read_row(const JsonReader& in, const Defaults& defaults) {
  FileRow row;
  row.what = read_case(in, defaults);
  row.cache = in.text("cache", defaults.cache);
  row.requested = in.text("requested");
  row.kernel = in.text("kernel");
  if (row.name().empty()) in.fault("requested", " is missing, and so is kernel");
  row.is_peer = in.flag("peer", false);
  row.rung = in.text("rung");
  row.why = in.text("why");
  read_disposition(in, row);
  row.detail = in.text("detail");
  read_times(in, row);
  row.gbps = in.number("gbps", 0);
  row.of_fma_peak = in.number("of_fma_peak", 0);
  row.of_roofline = in.number("of_roofline", 0);
  row.error_ratio = in.number("error_ratio", 0);
  row.bound = in.text("bound");
  row.timer = in.text("timer", defaults.timer);
  row.ratio_to = in.numbers("ratio_to");
  row.remarks = in.texts("remarks");
  in.objects("launches",
             [&](const JsonReader& each) { row.launches.push_back(read_launch(each)); });
  row.counters = in.numbers("counters");
  row.analytic = in.numbers("analytic");
  return row;
}

FilePeaks read_peaks(const JsonReader& file) {
  constexpr double kLeast = 1e-6;
  FilePeaks peaks;
  peaks.fma_gflops = file.number("fma_peak_gflops", kLeast);  // older files of the CPU
  file.object("peaks", [&](const JsonReader& in) {
    const auto take = [&](std::optional<double>& to, const char* name) {
      if (const auto value = in.number(name, 0); value && *value >= kLeast) to = value;
    };
    take(peaks.fma_gflops, "fma_gflops");
    take(peaks.fma_f64_gflops, "fma_f64_gflops");
    take(peaks.outer_product_gflops, "outer_product_gflops");
    take(peaks.shared_gbps, "shared_gbps");
    take(peaks.l2_gbps, "l2_gbps");
    take(peaks.l3_gbps, "l3_gbps");
    take(peaks.memory_gbps, "memory_gbps");
  });
  return peaks;
}

void read_peers(const JsonReader& file, ResultsFile& out) {
  file.objects("peers", [&](const JsonReader& in) {
    out.peers.push_back(
        {in.text("name"), in.text("version"), in.text("library"), in.texts("notes")});
  });
  out.absent_peers = file.texts("absent_peers");
}

void read_facts(const JsonReader& file, const Defaults& defaults, ResultsFile& out) {
  const auto take = [&](const char* name, Facts& facts) {
    file.object(name, [&](const JsonReader& in) { facts = in.facts(); });
  };
  take("device", out.device);
  take("provenance", out.provenance);
  take("conditions", out.conditions);
  take("clocks", out.clocks);
  if (out.conditions.empty()) {
    out.conditions = {{"dtype", defaults.dtype}, {"ops", defaults.ops}, {"cache", defaults.cache}};
    for (const char* name : {"data", "timer"}) {
      if (file.has(name)) out.conditions.emplace_back(name, file.text(name));
    }
  }
  file.object("device", [&](const JsonReader& in) {
    out.device_kind = in.text("kind");
    out.device_name = in.text("name");
  });
}

FileGeomean read_geomean(const JsonReader& in) {
  return {in.text("suite"),
          in.text("cache"),
          in.text("requested"),
          in.whole("cases", 0, 0),
          in.number("of_roofline", 0),
          in.numbers("ratio_to")};
}

}  // namespace

std::string fact(const Facts& facts, const std::string& name) {
  for (const auto& [key, value] : facts) {
    if (key == name) return value;
  }
  return "";
}

ResultsFile read_results(const std::string& path) {
  const Json json = read_json(path);
  const JsonReader file(path, json, "");
  const Defaults defaults = read_defaults(file);
  ResultsFile out;
  out.path = path;
  out.kind = file.text("kind", "bench");
  out.date = file.text("date");
  read_facts(file, defaults, out);
  out.peaks = read_peaks(file);
  read_peers(file, out);
  if (!file.has("results")) file.fault("results", " is missing: not a file of `tessera bench`");
  file.objects("results",
               [&](const JsonReader& in) { out.rows.push_back(read_row(in, defaults)); });
  if (out.rows.empty()) file.fault("results", " is empty: there is nothing to show");
  file.objects("cpu_results",
               [&](const JsonReader& in) { out.cpu_rows.push_back(read_row(in, defaults)); });
  file.objects("geomeans", [&](const JsonReader& in) { out.geomeans.push_back(read_geomean(in)); });
  out.left_out = file.texts("left_out");
  return out;
}

}  // namespace tessera::bench
