#include "bench_session.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <new>
#include <utility>

#include "core/threads.h"
#include "quantities.h"
#include "tessera/error.h"

namespace tessera::cli {
namespace {

using bench::CacheState;
using bench::ClockSample;
using bench::DataKind;
using bench::Disposition;
using bench::Row;

DataKind parse_data(const std::string& text) {
  return text == "zeros"      ? DataKind::kZeros
         : text == "integers" ? DataKind::kIntegers
                              : DataKind::kNormal;
}

Json device_json(const DeviceInfo& d, int threads) {
  if (d.space == Space::kHost) {
    return {{"kind", "cpu"},          {"name", d.name},         {"index", 0},
            {"simd", d.simd},         {"threads", threads},     {"cores", d.cores},
            {"l1_bytes", d.l1_bytes}, {"l2_bytes", d.l2_bytes}, {"l3_bytes", d.l3_bytes}};
  }
  const bench::gpu::Versions versions = bench::gpu::versions();
  return {{"kind", "cuda"},
          {"name", d.name},
          {"index", d.index},
          {"compute_capability", fmt::format("{}.{}", d.compute_major, d.compute_minor)},
          {"sm_count", d.sm_count},
          {"memory_bytes", d.memory_bytes},
          {"l2_bytes", d.l2_cache_bytes},
          {"shared_bytes_per_block", d.shared_bytes_per_block},
          {"driver", versions.driver},
          {"cuda_driver", versions.cuda_driver},
          {"cuda_runtime", versions.cuda_runtime}};
}

bool needs_absent_gpu(const std::string& request) {
  if (!cuda_devices().empty()) return false;
  const auto& kernels = registry().kernels();
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const Kernel& k) { return k.answers_to(request); });
  return found != kernels.end() && found->id.backend == "cuda";
}

/// A CUDA build is not needed to know that a name means a CUDA kernel.
bool is_cuda_name(const std::string& request) {
  return request.rfind("cuda.", 0) == 0 ||
         (request.size() > 1 && request[0] == 'k' && request[1] >= '0' && request[1] <= '9');
}

/// Notes clocks that moved while a case ran.
void remark_on_clocks(const std::vector<ClockSample>& seen, std::vector<Row>& rows) {
  int lowest = 0, highest = 0;
  std::vector<std::string> reasons;
  for (const ClockSample& s : seen) {
    if (s.sm_mhz == 0) continue;
    lowest = lowest == 0 ? s.sm_mhz : std::min(lowest, s.sm_mhz);
    highest = std::max(highest, s.sm_mhz);
    for (const std::string& reason : s.throttled) {
      if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
        reasons.push_back(reason);
      }
    }
  }
  constexpr double kDrop = 0.97;
  for (Row& row : rows) {
    if (row.disposition != Disposition::kPassed) continue;
    if (lowest < kDrop * highest) {
      row.remarks.push_back(fmt::format("the clock moved from {} to {} MHz", highest, lowest));
    }
    if (!reasons.empty()) {
      row.remarks.push_back(fmt::format("throttled: {}", fmt::join(reasons, ", ")));
    }
  }
}

void check_none(const char* option, const std::vector<std::string>& names) {
  if (names.size() < 2 || std::find(names.begin(), names.end(), "none") == names.end()) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} none: must stand alone, not beside {}", option,
                          names[0] == "none" ? names[1] : names[0]));
}

}  // namespace

std::optional<bench::LeftOut> kernel_fault(const std::string& request) {
  if (needs_absent_gpu(request)) {
    return bench::LeftOut{fmt::format("{}: needs a GPU: {}", request, cuda_unavailable_reason()),
                          kCannotRun};
  }
  if (bench::is_known_kernel(request)) return {};
  if (cuda_devices().empty() && is_cuda_name(request)) {
    return bench::LeftOut{fmt::format("{}: no such kernel in this build, and no GPU: {}", request,
                                      cuda_unavailable_reason()),
                          kCannotRun};
  }
  return bench::LeftOut{
      fmt::format("{}: no kernel of this build has that name (tessera kernels)", request), kUsage};
}

Json report_head(const std::string& verb, const DeviceChoice& device,
                 const bench::Settings& settings, double seconds) {
  Json head;
  head["schema"] = "tessera-bench-2";
  head["kind"] = verb;
  head["command"] = command_line();
  head["date"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  head["device"] = device_json(device.info(), settings.threads);
  head["provenance"] = provenance();
  head["conditions"] = {{"data", bench::describe(settings.data)},
                        {"seed", settings.seed},
                        {"seconds", seconds},
                        {"order", "interleaved"}};
  return head;
}

BenchSession::BenchSession(const std::string& verb, const SessionOptions& options)
    : with_f64_(options.f64) {
  check_none("--kernel", options.kernels);
  check_none("--peer", options.peers);
  choose_kernels(options);
  device_ = choose_device(options.device, field_.kernels.empty() ? "auto" : field_.kernels.front(),
                          DType::kF32);
  field_.space = device_.space;
  field_.device = device_.index;
  field_.settings.threads = resolve_threads(options.threads);
  field_.settings.data = parse_data(options.data);
  field_.timing.seconds = options.seconds;
  // An event is worth about half a microsecond, and a graph's start a few.
  field_.timing.shortest_sample_s = device_.space == Space::kCuda ? 10e-3 : 2e-3;
  open_the_peers(options);
  watch_clocks();
  report_.head = report_head(verb, device_, field_.settings, options.seconds);
  const auto& kernels = field_.kernels;
  if (std::find(kernels.begin(), kernels.end(), kTuned) != kernels.end()) {
    tuned_ = load_tune_cache(verb);
    key_ = device_key(device_, field_.settings.threads);
  }
  if (options.peaks) report_.roofs = measure_roofs(false);
}

void BenchSession::choose_kernels(const SessionOptions& options) {
  if (options.kernels == std::vector<std::string>{"none"}) return;
  for (const std::string& request : options.kernels) {
    const bool for_session = request == "all" || request == kTuned;
    const auto fault = for_session ? std::nullopt : kernel_fault(request);
    if (fault) {
      report_.left_out.push_back(*fault);
    } else {
      field_.kernels.push_back(request);
    }
  }
  if (!field_.kernels.empty()) return;
  const bench::LeftOut& first = report_.left_out.front();
  throw Error(first.exit_code == kUsage ? ErrorCode::kInvalidArgument : ErrorCode::kNoDevice,
              "kernel " + first.what);
}

void BenchSession::open_the_peers(const SessionOptions& options) {
  std::vector<std::string> names = options.peers;
  if (std::find(names.begin(), names.end(), "none") != names.end()) return;
  const bool all = std::find(names.begin(), names.end(), "all") != names.end();
  if (all) names.clear();
  const bench::Peers peers = bench::open_peers(field_.space, names, field_.settings.threads);
  field_.peers = peers.found;
  for (const auto& peer : peers.found) report_.peers.push_back(peer->info());
  report_.absent_peers = peers.absent;
  if (all) return;
  for (const std::string& absent : peers.absent) leave_out("peer " + absent, kCannotRun);
}

void BenchSession::watch_clocks() {
  if (field_.space != Space::kCuda) return;
  clocks_ = std::make_unique<bench::ClockWatch>(field_.device);
  report_.has_clocks = true;
  report_.clocks.unavailable = clocks_->unavailable();
}

bench::Roofs BenchSession::measure_roofs(bool again) const {
  if (field_.space == Space::kCuda) return bench::measure_cuda_roofs(device_.info());
  const int threads = field_.settings.threads;
  return again ? bench::measure_cpu_fma(threads, with_f64_)
               : bench::measure_cpu_roofs(threads, with_f64_);
}

TunedRequest BenchSession::tuned_for(const bench::Case& c) const {
  return resolve_tuned(tuned_, bench::placed(c, field_.space, field_.device), key_);
}

std::vector<std::string> BenchSession::requests_for(const bench::Case& c) const {
  std::vector<std::string> requests;
  for (const std::string& request : field_.kernels) {
    if (request == "all") {
      const auto ids = bench::every_kernel(field_.space, c.desc.input_dtype());
      requests.insert(requests.end(), ids.begin(), ids.end());
    } else {
      requests.push_back(request);
    }
  }
  return requests;
}

bench::Field BenchSession::field_for(const bench::Case& c) const {
  bench::Field field = field_;
  field.kernels = requests_for(c);
  for (std::string& request : field.kernels) {
    if (request == kTuned) request = tuned_for(c).kernel;
  }
  return field;
}

std::vector<Row> BenchSession::run(const bench::Case& c, CacheState cache) {
  const std::size_t first = report_.rows.size();
  if (!try_case(c, [&] { run(c, cache, field_for(c)); })) return {};
  const std::vector<std::string> requests = requests_for(c);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] != kTuned) continue;
    Row& row = report_.rows[first + i];
    row.requested = kTuned;
    row.remarks.push_back(tuned_for(c).source);
  }
  return {report_.rows.begin() + static_cast<std::ptrdiff_t>(first), report_.rows.end()};
}

std::vector<Row> BenchSession::run(const bench::Case& c, CacheState cache,
                                   const std::vector<std::string>& kernels, double seconds) {
  bench::Field field = field_;
  field.kernels = kernels;
  field.timing.seconds = seconds;
  return run(c, cache, std::move(field));
}

std::vector<Row> BenchSession::run(const bench::Case& c, CacheState cache, bench::Field field) {
  std::vector<ClockSample> seen;
  bool is_first = true;
  if (clocks_ && clocks_->unavailable().empty()) {
    field.timing.between_samples = [&] {
      const ClockSample sample = clocks_->sample();
      // The first one comes before the clock has risen.
      if (std::exchange(is_first, false)) return;
      seen.push_back(sample);
      report_.clocks.add(sample);
    };
  }
  std::vector<Row> rows = bench::run_case(c, cache, field);
  any_ran_ = true;
  remark_on_clocks(seen, rows);
  report_.rows.insert(report_.rows.end(), rows.begin(), rows.end());
  return rows;
}

void BenchSession::run_once(const bench::Case& c) {
  try_case(c, [&] {
    const std::vector<std::string> faults = bench::run_once(c, field_for(c));
    for (const std::string& fault : faults) leave_out(fault, kCannotRun);
    any_ran_ = any_ran_ || faults.size() < field_.kernels.size() + field_.peers.size();
  });
}

bool BenchSession::try_case(const bench::Case& c, const std::function<void()>& work) {
  std::string why;
  try {
    work();
    return true;
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kCancelled) throw;
    why = e.what();
  } catch (const std::bad_alloc&) {
    why = "out of memory: the host refused an allocation";
  }
  leave_out(fmt::format("{}: {}", case_text(c), why), kCannotRun);
  return false;
}

void BenchSession::leave_out(const std::string& what, int exit_code) {
  report_.left_out.push_back({what, exit_code});
}

void BenchSession::doubt_peaks() {
  constexpr int kMostAttempts = 3;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const bool believed =
        std::none_of(report_.rows.begin(), report_.rows.end(),
                     [&](const Row& row) { return bench::beats_the_peak(row, report_.roofs); });
    if (believed) return;
    report_.roofs = bench::best_of(report_.roofs, measure_roofs(true));
  }
}

void BenchSession::finish() {
  report_.peers.clear();  // running cases may have added notes
  for (const auto& peer : field_.peers) report_.peers.push_back(peer->info());
  report_.roofs = bench::best_of(report_.roofs, measure_roofs(true));
  doubt_peaks();
  for (Row& row : report_.rows) bench::judge(row, report_.roofs);
  for (const Row& row : report_.rows) {
    if (row.disposition != Disposition::kNotSupported) continue;
    const bool ran_elsewhere =
        std::any_of(report_.rows.begin(), report_.rows.end(), [&](const Row& other) {
          return other.requested == row.requested && other.disposition == Disposition::kPassed;
        });
    leave_out(fmt::format("{} on {}: {}", row.requested, case_text(row.what), row.detail),
              ran_elsewhere || row.is_peer ? kOk : kCannotRun);
  }
}

void BenchSession::judge() const {
  const auto wrong = std::count_if(report_.rows.begin(), report_.rows.end(), [](const Row& row) {
    return row.disposition != Disposition::kPassed && row.disposition != Disposition::kNotSupported;
  });
  if (wrong > 0) {
    throw CheckFailed(
        fmt::format("{} of {} rows failed, were wrong or implausible; they have no "
                    "speed",
                    wrong, report_.rows.size()));
  }
  judge_left_out(report_.left_out, any_ran_);
}

void judge_left_out(const std::vector<bench::LeftOut>& left_out, bool any_ran) {
  for (const bench::LeftOut& item : left_out) {
    if (item.exit_code == kOk) continue;
    throw Error(item.exit_code == kUsage      ? ErrorCode::kInvalidArgument
                : item.exit_code == kBadInput ? ErrorCode::kBadFile
                                              : ErrorCode::kUnsupported,
                fmt::format("{} left out{}: {}", left_out.size(),
                            any_ran ? ", the rest was run" : " and nothing run", item.what));
  }
}

}  // namespace tessera::cli
