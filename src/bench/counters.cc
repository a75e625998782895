#include "bench/counters.h"

#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "bench/counters_csv.h"
#include "bench/run_program.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

enum class Merge { kSum, kMean, kLargest };

/// A counter under a name for people: metrics that are added. Several entries of one name are
/// alternatives, of which the first that the device has is taken.
struct Counter {
  std::string name;
  std::vector<std::string> metrics;
  Merge merge = Merge::kSum;
  double scale = 1;
};

constexpr const char* kTime = "gpu__time_duration.sum";

/// `what` is "requests" or "sectors". On compute capability 9.0 loads include cp.async (LDGSTS),
/// whether it goes through L1 or around it.
void add_global_accesses(std::vector<Counter>& list, const std::string& what) {
  const std::string t_stage = "l1tex__t_" + what + "_pipe_lsu_mem_global_op_";
  list.push_back({"global_load_" + what, {t_stage + "ld.sum"}});
  list.push_back({"global_store_" + what, {t_stage + "st.sum"}});
}

/// Metrics as Nsight Compute 2025 names them ("Metrics Reference"), for compute capability 8.0 and
/// newer.
std::vector<Counter> make_counters() {
  std::vector<Counter> list;
  add_global_accesses(list, "requests");
  add_global_accesses(list, "sectors");
  for (const std::string way : {"read", "write"}) {
    list.push_back({"l2_" + way + "_bytes", {"lts__t_bytes_op_" + way + ".sum"}});
    list.push_back(
        {"l2_" + way + "_bytes", {"lts__t_sectors_op_" + way + ".sum"}, Merge::kSum, 32});
  }
  for (const std::string way : {"read", "write"}) {
    list.push_back({"hbm_" + way + "_bytes", {"dram__bytes_" + way + ".sum"}});
    list.push_back({"hbm_" + way + "_bytes", {"dram__bytes_op_" + way + ".sum"}});
  }
  const std::string conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_";
  list.push_back({"shared_wavefronts", {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}});
  list.push_back({"shared_load_conflicts", {conflicts + "ld.sum"}});
  list.push_back({"shared_store_conflicts", {conflicts + "st.sum"}});
  list.push_back({"instructions", {"smsp__inst_executed.sum"}});
  const std::string executed = "smsp__sass_thread_inst_executed_op_";
  list.push_back({"multiply_adds",
                  {executed + "ffma_pred_on.sum", executed + "dfma_pred_on.sum"},
                  Merge::kSum,
                  1.0 / 32});
  list.push_back({"registers", {"launch__registers_per_thread"}, Merge::kLargest});
  list.push_back({"achieved_occupancy",
                  {"sm__warps_active.avg.pct_of_peak_sustained_active"},
                  Merge::kMean,
                  0.01});
  list.push_back({"gpu_time_ns", {kTime}});
  for (const std::string reason :
       {"long_scoreboard", "short_scoreboard", "barrier", "mio_throttle", "lg_throttle",
        "math_pipe_throttle", "dispatch_stall", "wait", "not_selected", "no_instruction"}) {
    list.push_back({"stall_" + reason,
                    {"smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio"},
                    Merge::kMean});
  }
  return list;
}

const std::vector<Counter>& counters() {
  static const auto& list = *new std::vector<Counter>(make_counters());
  return list;
}

using Metrics = std::set<std::string>;

/// What to ask for: of each counter's alternatives the first without an unknown metric.
Metrics wanted(const Metrics& unknown) {
  const auto is_unknown = [&](const std::string& metric) { return unknown.count(metric) > 0; };
  Metrics metrics;
  std::string done;
  for (const Counter& counter : counters()) {
    const std::vector<std::string>& parts = counter.metrics;
    if (counter.name == done || std::any_of(parts.begin(), parts.end(), is_unknown)) continue;
    metrics.insert(parts.begin(), parts.end());
    done = counter.name;
  }
  return metrics;
}

using Launch = std::map<std::string, double>;

/// The sum of a counter's metrics in one launch, where all are known.
std::optional<double> value_in(const Launch& launch, const Counter& counter) {
  double sum = 0;
  for (const std::string& metric : counter.metrics) {
    const auto found = launch.find(metric);
    if (found == launch.end()) return std::nullopt;
    sum += found->second;
  }
  return sum * counter.scale;
}

double weight_of(const Launch& launch) {
  const auto time = launch.find(kTime);
  return time != launch.end() && time->second > 0 ? time->second : 1;
}

/// Over all launches; none where one of them does not have it.
std::optional<double> merged(const std::vector<Launch>& launches, const Counter& counter) {
  double sum = 0, largest = 0, weighted = 0, weights = 0;
  for (const Launch& launch : launches) {
    const std::optional<double> value = value_in(launch, counter);
    if (!value) return std::nullopt;
    sum += *value;
    largest = std::max(largest, *value);
    weighted += *value * weight_of(launch);
    weights += weight_of(launch);
  }
  if (counter.merge == Merge::kMean) return weighted / weights;
  return counter.merge == Merge::kLargest ? largest : sum;
}

/// What ncu said last of why it failed.
std::string complaint(const std::string& out, const std::string& err) {
  for (const char* mark : {"==ERROR==", ""}) {
    for (const std::string* text : {&err, &out}) {
      if (std::string line = last_line(*text, mark); !line.empty()) return line;
    }
  }
  return "it printed nothing";
}

/// Does the text name this metric, with or without its last part (".sum")?
bool names(const std::string& text, const std::string& metric) {
  const std::string base = metric.substr(0, metric.find('.'));
  const auto is_part = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  for (std::size_t at = text.find(base); at != std::string::npos; at = text.find(base, at + 1)) {
    const std::size_t end = at + base.size();
    const bool begins = at == 0 || !is_part(text[at - 1]);
    const bool ends = end == text.size() || !is_part(text[end]);
    if (begins && ends) return true;
  }
  return false;
}

/// Metrics that this ncu does not know. Some versions then count nothing at all and name one in an
/// error, others print "n/a" in its place.
Metrics missing_in(const Printed& printed, const Metrics& asked) {
  Metrics missing;
  if (printed.exit_code != 0) {
    const std::string why = complaint(printed.out, printed.err);
    if (why.find("metric") == std::string::npos) return missing;
    std::copy_if(asked.begin(), asked.end(), std::inserter(missing, missing.end()),
                 [&](const std::string& metric) { return names(why, metric); });
    return missing;
  }
  for (const Launch& launch : parse_ncu_csv(printed.out)) {
    for (const std::string& metric : asked) {
      if (launch.count(metric) == 0) missing.insert(metric);
    }
  }
  return missing;
}

std::string find_ncu() {
  const char* named = std::getenv("TESSERA_NCU");
  if (named != nullptr && *named != '\0') return named;
  std::vector<std::string> files;
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) files.push_back(std::string(rest.substr(0, end)) + "/ncu");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  files.emplace_back("/usr/local/cuda/bin/ncu");
  glob_t found{};
  if (glob("/opt/nvidia/nsight-compute/*/ncu", 0, nullptr, &found) == 0) {
    // Folders are named by version: the last is the newest.
    for (std::size_t i = found.gl_pathc; i > 0; --i) files.emplace_back(found.gl_pathv[i - 1]);
  }
  globfree(&found);
  const auto runs = [](const std::string& file) { return access(file.c_str(), X_OK) == 0; };
  const auto first = std::find_if(files.begin(), files.end(), runs);
  return first == files.end() ? "" : *first;
}

}  // namespace

CounterRun read_counters(const std::string& out, const std::string& err, int exit_code) {
  CounterRun run;
  for (const std::string* text : {&out, &err}) {
    if (text->find("ERR_NVGPUCTRPERM") == std::string::npos) continue;
    run.unavailable =
        "ncu: the driver keeps GPU counters for administrators (ERR_NVGPUCTRPERM): load the "
        "module nvidia with NVreg_RestrictProfilingToAdminUsers=0, or run as root (in a container "
        "with CAP_SYS_ADMIN)";
    return run;
  }
  if (exit_code != 0) {
    const std::string how = exit_code < 0 ? "was killed" : fmt::format("exit code {}", exit_code);
    run.unavailable = fmt::format("ncu: {}: {}", how, complaint(out, err));
    return run;
  }
  const std::vector<Launch> launches = parse_ncu_csv(out);
  if (launches.empty()) {
    run.unavailable = "ncu: no kernel was profiled: " + complaint(out, err);
    return run;
  }
  for (const Counter& counter : counters()) {
    if (!run.values.empty() && run.values.back().first == counter.name) continue;
    if (const auto value = merged(launches, counter)) run.values.emplace_back(counter.name, *value);
  }
  if (run.values.empty()) run.unavailable = "ncu: none of the counters exists on this device";
  return run;
}

CounterRun measure_counters(const std::string& self_program, const std::vector<std::string>& args) {
  CounterRun run;
  const std::string ncu = find_ncu();
  if (ncu.empty()) {
    run.unavailable =
        "ncu: not found on PATH, in /usr/local/cuda/bin or in /opt/nvidia/nsight-compute; "
        "TESSERA_NCU may name it";
    return run;
  }
  try {
    Metrics unknown;
    for (;;) {  // each turn knows of more that are unknown, or is the last
      const Metrics metrics = wanted(unknown);
      std::vector<std::string> words = {ncu,   "--clock-control", "none", "--csv",    "--page",
                                        "raw", "--print-units",   "base", "--metrics"};
      words.push_back(fmt::format("{}", fmt::join(metrics, ",")));
      words.push_back(self_program);
      words.insert(words.end(), args.begin(), args.end());
      const Printed printed = run_program(words);
      const Metrics missing = missing_in(printed, metrics);
      unknown.insert(missing.begin(), missing.end());
      const Metrics next = wanted(unknown);
      const bool is_new = !std::includes(metrics.begin(), metrics.end(), next.begin(), next.end());
      const bool is_refused = printed.exit_code != 0 && !missing.empty();
      if (next.empty() || (!is_new && !is_refused)) {
        return read_counters(printed.out, printed.err, printed.exit_code);
      }
    }
  } catch (const Error& e) {
    run.unavailable = std::string("ncu: ") + e.what();
    return run;
  }
}

}  // namespace tessera::bench
