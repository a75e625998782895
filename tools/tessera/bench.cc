// `tessera bench`: options, cases, order of work.
#include <fmt/format.h>

#include <algorithm>

#include "args.h"
#include "bench_cases.h"
#include "bench_compare.h"
#include "bench_session.h"
#include "io/tensor.h"
#include "tessera/error.h"
#include "text_file.h"

namespace tessera::cli {
namespace {

using bench::CacheState;
using bench::Case;

struct BenchArgs {
  CaseArgs cases;
  std::vector<std::string> compared;
  std::string cache = "warm";
  SessionOptions session;
  bool json = false, once = false, counters = false, cost = false, checker = false;
  std::string json_file;
};

std::vector<CacheState> states_of(const BenchArgs& args) {
  if (args.cache == "warm") return {CacheState::kWarm};
  if (args.cache == "cold") return {CacheState::kCold};
  return {CacheState::kWarm, CacheState::kCold};
}

/// Adds counts to the rows of the session's last case, which are `rows`.
void count(BenchSession& session, std::vector<bench::Row>& rows) {
  auto& all = session.report().rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string missing = add_counts(rows[i], session.field().device);
    if (!missing.empty() && rows[i].disposition == bench::Disposition::kPassed) {
      session.leave_out(fmt::format("counters of {} on {}: {}", rows[i].requested,
                                    case_text(rows[i].what), missing),
                        session.field().space == Space::kCuda ? kCannotRun : kOk);
    }
    all[all.size() - rows.size() + i] = rows[i];
  }
}

/// Before hours of work, not after them.
void check_output(const BenchArgs& args) {
  for (const std::string& suite : args.cases.suites) {
    if (args.json_file.empty() || !io::same_file(suite, args.json_file)) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--json-file {} is the same file as suite {}; they must differ",
                            args.json_file, suite));
  }
  check_output_file(args.json_file);
}

/// What is measured instead of products.
int run_apart(const BenchArgs& args) {
  const Json json = args.cost ? cost_json(args.session.device) : checker_json();
  if (args.json) {
    print_json(json);
  } else if (args.cost) {
    print_cost(json);
  } else {
    print_checker(json);
  }
  if (!args.json_file.empty()) write_json_file(args.json_file, json);
  return kOk;
}

/// Refuses options that would have no effect beside `mode`: somebody expects one.
void refuse_idle(const CLI::App& app, const std::string& mode,
                 const std::vector<std::string>& idle) {
  if (app.get_option(mode)->count() == 0) return;
  for (const std::string& name : idle) {
    if (app.get_option(name)->count() == 0) continue;
    throw Error(ErrorCode::kInvalidArgument, fmt::format("{} takes no {}: it would have no effect",
                                                         mode, name == "SIZES" ? "M N K" : name));
  }
}

int run_bench(BenchArgs args) {
  if (!args.compared.empty()) {
    return run_bench_compare(args.compared[0], args.compared[1], args.json);
  }
  check_output(args);
  if (args.cost || args.checker) return run_apart(args);
  std::vector<std::string> faults;
  const std::vector<Case> cases = cases_of(args.cases, &faults);
  if (args.session.kernels.empty()) args.session.kernels = {"auto"};
  if (args.session.peers.empty()) args.session.peers = {"all"};
  args.session.peaks = !args.once;
  args.session.f64 = std::any_of(cases.begin(), cases.end(),
                                 [](const Case& c) { return c.desc.dtype == DType::kF64; });
  BenchSession session("bench", args.session);
  for (const std::string& fault : faults) session.leave_out(fault, kBadInput);
  if (args.once) {
    for (const Case& c : cases) session.run_once(c);
    session.judge();
    return kOk;
  }
  if (!args.json) print_conditions(session, session.report());
  for (const Case& c : cases) {
    for (const CacheState state : states_of(args)) {
      std::vector<bench::Row> rows = session.run(c, state);
      if (args.counters) count(session, rows);
      if (!args.json) print_case(session.report(), rows);
      std::fflush(stdout);
    }
  }
  session.finish();
  const Json json = bench::report_json(session.report());
  if (args.json) {
    print_json(json);
  } else {
    print_summary(session.report());
  }
  if (!args.json_file.empty()) write_json_file(args.json_file, json);
  session.judge();
  return kOk;
}

}  // namespace

Verb add_bench(CLI::App& root) {
  CLI::App* app = root.add_subcommand("bench", "time kernels and peers, each verified");
  const auto args = std::make_shared<BenchArgs>();
  SessionOptions& session = args->session;
  session.peers.clear();
  add_case_options(*app, args->cases);
  app->add_option("--kernel", session.kernels,
                  "kernels to time, tuned, all, or none; may be repeated (default: auto)")
      ->type_name("KERNEL")
      ->allow_extra_args(false);
  app->add_option("--peer", session.peers,
                  "libraries to compare with: cublas, openblas, mkl, onednn, blis, all (default), "
                  "none; may be repeated")
      ->type_name("PEER")
      ->allow_extra_args(false);
  add_threads(*app, session.threads);
  add_device(*app, session.device);
  app->add_option("--cache", args->cache,
                  "warm: operands stay where they are (default); cold: sets in turn, more than the "
                  "last cache holds; both")
      ->check(CLI::IsMember(std::vector<std::string>{"warm", "cold", "both"}));
  app->add_option("--data", session.data, "normal (default), integers, zeros")
      ->check(CLI::IsMember(std::vector<std::string>{"normal", "integers", "zeros"}));
  add_seconds(*app, session.seconds, "timed seconds for each kernel and case, at most (default 1)");
  app->add_flag("--counters", args->counters,
                "also count requests, sectors, bytes, wavefronts: by the algorithm and, on a GPU "
                "with ncu, by the hardware");
  app->add_option("--compare", args->compared, "two results of --json-file: what became faster")
      ->type_name("OLD NEW")
      ->expected(2);
  app->add_flag("--cost", args->cost, "size, build time and first product instead of speed");
  app->add_flag("--checker", args->checker, "how long `tessera check` takes, instead of speed");
  app->add_flag("--once", args->once, "one product of each and nothing else, for profilers");
  app->add_flag("--json", args->json, "report as one JSON object");
  add_file(*app, "--json-file", args->json_file, "also write that object to a file");
  app->footer(
      "Every row is verified before and after it is timed; rows take turns. A run that fails or "
      "is\n"
      "wrong shows that and no speed (exit 5); what could not be run is listed at the end.\n\n"
      "Examples:\n"
      "  tessera bench 1024 1024 1024\n"
      "  tessera bench 512 512 512 1000 1001 1003 --kernel auto --kernel cpu.naive --threads 1\n"
      "  tessera bench --suite awkward --cache both --json-file awkward.json\n"
      "  TESSERA_LOG=calls:log program; tessera bench --suite log\n");
  return {app, [app, args] {
            refuse_idle(*app, "--compare",
                        {"SIZES", "--suite", "--kernel", "--peer", "--counters", "--cost", "--once",
                         "--json-file"});
            refuse_idle(
                *app, "--cost",
                {"SIZES", "--suite", "--kernel", "--peer", "--cache", "--counters", "--once"});
            refuse_idle(*app, "--checker",
                        {"SIZES", "--suite", "--kernel", "--peer", "--cache", "--counters",
                         "--cost", "--once"});
            refuse_idle(*app, "--once", {"--cache", "--counters", "--json", "--json-file"});
            return run_bench(*args);
          }};
}

}  // namespace tessera::cli
