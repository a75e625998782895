// `tessera tune`: options, cases, budget, order of work.
#include "tune.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>

#include "args.h"
#include "bench_session.h"
#include "core/threads.h"
#include "quantities.h"
#include "tessera/plan.h"
#include "text_file.h"
#include "tune_store.h"

namespace tessera::cli {
namespace {

using bench::TuneResult;

double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Refuses names that mean nothing here; a run of the others would not be what was asked for.
void check_kernels(const std::vector<std::string>& kernels) {
  for (const std::string& request : kernels) {
    const bool rule = request == "auto" || request == kTuned || request == "all";
    if (rule) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("--kernel {}: name a family, a file or a kernel (without --kernel, "
                              "all take part)",
                              request));
    }
    if (const auto fault = kernel_fault(request)) {
      throw Error(fault->exit_code == kUsage ? ErrorCode::kInvalidArgument : ErrorCode::kNoDevice,
                  "kernel " + fault->what);
    }
  }
}

class TuneRun {
 public:
  TuneRun(const TuneArgs& args, const TuneEngines& engines)
      : args_(args),
        engines_(engines),
        budget_s_(parse_duration("--budget", args.budget)),
        cases_(cases_of(args.cases, &faults_)) {
    check_kernels(args.kernels);
    device_ = choose_device(args.device, args.kernels.empty() ? "auto" : args.kernels.front(),
                            parse_dtype(args.cases.dtype));
    settings_.threads = resolve_threads(args.threads);
    key_ = device_key(device_, settings_.threads);
    check_tune_cache_is_writable();
    cache_ = load_tune_cache("tune");
    for (const std::string& fault : faults_) left_out_.push_back({fault, kBadInput});
  }

  int run() {
    if (!args_.json) print_head();
    const double start = now_s();
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const double left = start + budget_s_ - now_s();
      tune(cases_[i], left / static_cast<double>(cases_.size() - i));
    }
    report();
    if (wrong_ > 0) {
      throw CheckFailed(
          fmt::format("{} kernel{} failed, {} wrong or implausible: no time of {} "
                      "counts",
                      wrong_, wrong_ == 1 ? "" : "s", wrong_ == 1 ? "was" : "were",
                      wrong_ == 1 ? "it" : "them"));
    }
    judge_left_out(left_out_);
    return kOk;
  }

 private:
  /// Setting up does not count against the budget.
  double now_s() const { return (engines_.now_s ? engines_.now_s() : steady_s()) - setup_s_; }

  void tune(const bench::Case& c, double budget_s) {
    const bench::Case here = bench::placed(c, device_.space, device_.index);
    for (const std::string& kernel : args_.kernels) name_if_unable(here, kernel);
    try {
      bench::TuneOptions options;
      options.fresh = args_.fresh;
      options.seconds = args_.seconds;
      options.budget_s = budget_s;
      options.now_s = [this] { return now_s(); };
      options.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
      const bench::TunedShape* known = cache_.find(key_, bench::tune_shape(here));
      keep(
          bench::tune_case(here, bench::tune_field(here, args_.kernels), known, options, runner()));
    } catch (const Error& e) {
      if (e.code() == ErrorCode::kOutputFailure) throw;
      left_out_.push_back({fmt::format("{}: {}", case_text(c), e.what()), kCannotRun});
    }
  }

  /// A kernel that was asked for and cannot take the case, with the rule.
  void name_if_unable(const bench::Case& c, const std::string& kernel) {
    GemmOptions options;
    options.kernel = kernel;
    try {
      const Plan plan(c.desc, options);
    } catch (const Error& e) {
      if (e.code() != ErrorCode::kUnsupported) throw;
      left_out_.push_back(
          {fmt::format("{} on {}: {}", kernel, case_text(c), e.what()), kCannotRun});
    }
  }

  bench::TuneRunner runner() {
    if (engines_.run) return engines_.run;
    return [this](const bench::Case& c, const std::vector<std::string>& kernels, double seconds) {
      BenchSession& session = open_session();
      session.run(c, bench::CacheState::kWarm, kernels, seconds);
      session.doubt_peaks();
      auto& rows = session.report().rows;
      for (auto row = rows.end() - static_cast<std::ptrdiff_t>(kernels.size()); row != rows.end();
           ++row) {
        bench::judge(*row, session.report().roofs);
      }
      return std::vector<bench::Row>(rows.end() - static_cast<std::ptrdiff_t>(kernels.size()),
                                     rows.end());
    };
  }

  /// Not before something must run: it measures peaks.
  BenchSession& open_session() {
    if (session_) return *session_;
    const double start = now_s();
    SessionOptions options;
    options.device = device_.space == Space::kHost ? "cpu" : fmt::format("cuda:{}", device_.index);
    options.kernels = options.peers = {"none"};
    options.threads = settings_.threads;
    options.seconds = args_.seconds;
    options.f64 = std::any_of(cases_.begin(), cases_.end(),
                              [](const bench::Case& c) { return c.desc.dtype == DType::kF64; });
    session_ = std::make_unique<BenchSession>("tune", options);
    setup_s_ += now_s() - start;
    return *session_;
  }

  /// Every case is on disk before the next begins.
  void keep(TuneResult result) {
    const bench::TunedShape contest = result.contest();
    if (!contest.kernels.empty()) {
      update_tune_cache([&](bench::TuneCache& cache) { cache.put(key_, result.shape, contest); });
      cache_.put(key_, result.shape, contest);
    }
    for (const bench::TunedKernel& kernel : result.kernels) {
      if (kernel.measured_now && !kernel.timing.passed()) ++wrong_;
    }
    for (const bench::Untimed& item : result.not_reached) {
      left_out_.push_back({fmt::format("{} on {}: not reached in the budget of {}: {}", item.id,
                                       to_string(result.shape), args_.budget, item.reason),
                           kOk});
    }
    if (!args_.json) print_tune_case(result);
    std::fflush(stdout);
    results_.push_back(std::move(result));
  }

  void print_head() const {
    const DeviceInfo& d = device_.info();
    fmt::print("{}; {}{}\n", version_line(), compiler_text(),
               cuda_build_text().empty() ? "" : "; " + cuda_build_text());
    if (!slow_build_reason().empty()) fmt::print("{}: times mean little\n", slow_build_reason());
    fmt::print("device  {}; {}\n", key_.device, device_.reason);
    if (device_.space == Space::kCuda) {
      fmt::print("        cuda:{}, {} multiprocessors, driver {}\n", d.index, d.sm_count,
                 key_.driver);
    }
    std::size_t here = 0, elsewhere = 0;
    for (const auto& [key, shapes] : cache_.entries()) {
      (key == key_ ? here : elsewhere) += shapes.size();
    }
    fmt::print("cache   {}: {} shape{} of this program on this device",
               printable(tune_cache_path()), here, here == 1 ? "" : "s");
    if (elsewhere > 0) {
      fmt::print("; {} of other programs, devices or drivers, kept and not used", elsewhere);
    }
    fmt::print("\ndata    {}; caches warm\n", key_.data);
  }

  void report() {
    bench::RunReport report;
    if (session_) report = session_->report();
    report.head = report_head("tune", device_, settings_, args_.seconds);
    report.head["conditions"]["cache"] = {key_.cache};
    report.head["conditions"]["budget_s"] = budget_s_;
    report.left_out = left_out_;
    Json json = bench::report_json(report);
    json["tune_cache"] = tune_cache_path();
    json["tuned"] = Json::array();
    for (const TuneResult& result : results_) json["tuned"].push_back(tune_json(result));
    if (args_.json) {
      print_json(json);
    } else {
      print_tune_summary(results_, args_.kernels);
      if (!left_out_.empty()) fmt::print("\nleft out\n");
      for (const bench::LeftOut& item : left_out_) fmt::print("  {}\n", printable(item.what));
    }
    if (!args_.json_file.empty()) write_json_file(args_.json_file, json);
  }

  const TuneArgs& args_;
  const TuneEngines& engines_;
  double budget_s_;
  std::vector<std::string> faults_;
  std::vector<bench::Case> cases_;
  DeviceChoice device_;
  bench::Settings settings_;
  bench::DeviceKey key_;
  bench::TuneCache cache_;
  std::unique_ptr<BenchSession> session_;
  double setup_s_ = 0;
  std::vector<TuneResult> results_;
  std::vector<bench::LeftOut> left_out_;
  int wrong_ = 0;
};

void import_cache(const TuneArgs& args) {
  const bench::TuneCache other = read_tune_cache_file("tune", args.import_from);
  update_tune_cache([&](bench::TuneCache& cache) { cache.merge(other); });
  if (args.json) return;
  std::size_t shapes = 0;
  for (const auto& entry : other.entries()) shapes += entry.second.size();
  fmt::print("imported {} shape{} from {}\n", shapes, shapes == 1 ? "" : "s",
             printable(args.import_from));
}

void list_cache(const TuneArgs& args, const bench::TuneCache& cache) {
  if (args.json) return print_json(bench::tune_cache_json(cache));
  const DeviceChoice device = choose_device(args.device, "auto", DType::kF32);
  fmt::print("cache   {}\n", printable(tune_cache_path()));
  print_tune_cache(cache, device_key(device, resolve_threads(args.threads)));
}

}  // namespace

int run_tune(const TuneArgs& args, const TuneEngines& engines) {
  const bool on_the_cache = args.list || !args.export_to.empty() || !args.import_from.empty();
  if (args.cases.empty() && !on_the_cache) {
    throw Error(ErrorCode::kInvalidArgument,
                "nothing to tune: give M N K or --suite, or --list, --export, --import");
  }
  if (args.list && !args.cases.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "--list shows the cache: it takes no M N K or suite");
  }
  check_output_file(args.json_file);
  check_output_file(args.export_to);
  if (!args.import_from.empty()) import_cache(args);
  const int code = args.cases.empty() ? int{kOk} : TuneRun(args, engines).run();
  if (!args.list && args.export_to.empty()) return code;
  // What cannot be used has been said by the run, if there was one.
  const bench::TuneCache cache = load_tune_cache(args.cases.empty() ? "tune" : "");
  if (args.list) list_cache(args, cache);
  if (!args.export_to.empty()) write_json_file(args.export_to, bench::tune_cache_json(cache));
  return code;
}

double parse_duration(const std::string& option, const std::string& text) {
  const std::string units = "smh";
  const std::size_t unit = text.empty() ? std::string::npos : units.find(text.back());
  const double scale[] = {1, 60, 3600};
  constexpr double kMost = 1000 * 3600;
  const std::string number = unit == std::string::npos ? text : text.substr(0, text.size() - 1);
  const bool digits =
      !number.empty() && number.find_first_not_of("0123456789.") == std::string::npos;
  const double value =
      digits ? parse_number(option, number) * (unit == std::string::npos ? 1 : scale[unit]) : 0;
  if (!digits || !(value > 0) || value > kMost) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} {}: a time such as 90, 90s, 2m or 1h: more than 0, at most 1000h",
                            option, text));
  }
  return value;
}

Verb add_tune(CLI::App& root) {
  CLI::App* app = root.add_subcommand("tune", "find the fastest kernel by shape, and remember it");
  const auto args = std::make_shared<TuneArgs>();
  add_case_options(*app, args->cases);
  app->add_option("--kernel", args->kernels,
                  "only these kernels, by family, file or id; may be repeated (default: all)")
      ->type_name("KERNEL")
      ->allow_extra_args(false);
  add_device(*app, args->device);
  add_threads(*app, args->threads);
  app->add_option("--budget", args->budget,
                  "time for everything, shared out among the cases: 90s, 2m, 1h (default 60s)")
      ->type_name("TIME");
  add_seconds(*app, args->seconds, "timed seconds for each kernel and case, at most (default 0.2)");
  app->add_flag("--fresh", args->fresh, "time kernels again that the cache has times of");
  app->add_flag("--list", args->list, "show what the cache holds");
  add_file(*app, "--export", args->export_to, "write the whole cache to a file");
  add_file(*app, "--import", args->import_from, "take in a cache that was exported, first");
  app->add_flag("--json", args->json, "report as one JSON object");
  add_file(*app, "--json-file", args->json_file, "also write that object to a file");
  app->footer(
      "Every kernel is verified before and after it is timed; one that fails or is wrong cannot\n"
      "win (exit 5). Times are kept for this program, device and driver, so that only kernels\n"
      "without one run. bench and mul use them with --kernel tuned.\n\n"
      "Examples:\n"
      "  tessera tune 1024 1024 1024\n"
      "  tessera tune --suite awkward --budget 5m\n"
      "  tessera tune 512 512 512 4096 4096 4096 --kernel k02_tiled\n"
      "  tessera tune --list; tessera tune --export tune.json\n");
  return {app, [args] { return run_tune(*args); }};
}

}  // namespace tessera::cli
