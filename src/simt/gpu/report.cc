#include <fmt/format.h>

#include <algorithm>

#include "simt/gpu/trial.h"
#include "simt/report/text.h"

namespace tessera::simt {
namespace {

constexpr int kWidth = 100;

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  return seconds >= 1e-3 ? fmt::format("{:.3f} ms", seconds * 1e3)
                         : fmt::format("{:.2f} us", seconds * 1e6);
}

/// What the two results together say.
std::string comparison(const GpuProduct& p) {
  if (!p.ran) return "fails: " + p.fault;
  if (!p.right()) {
    std::string out = p.findings[0].message;
    if (p.differing > 0) {
      out += fmt::format("; {} of {} elements differ from the executor's", p.differing, p.m * p.n);
    } else if (p.executor_ran) {
      out += "; the executor's result is the same";
    }
    return out;
  }
  if (!p.executor_ran) return "right";
  if (p.differing > 0) {
    return fmt::format(
        "right here, but {} of {} elements differ from the executor's result: what the check found "
        "did not show this time",
        p.differing, p.m * p.n);
  }
  if (!p.executor_clean) return "right here, although the check finds a fault: luck, not proof";
  return "right, as in the executor";
}

}  // namespace

std::string to_text(const GpuReport& report) {
  std::string out =
      fmt::format("on {}, {}\n", printable(report.device.name), report.device.architecture);
  for (const GpuProduct& p : report.products) {
    const std::string size = fmt::format("{}x{}x{}: ", p.m, p.n, p.k);
    for (const std::string& l : wrap(printable(size + comparison(p)), kWidth, 2)) out += l + "\n";
  }
  if (!report.times.empty()) {
    const auto timed = std::find_if(report.times.begin(), report.times.end(),
                                    [](const GpuTime& t) { return !t.timer.empty(); });
    out += fmt::format("  times at {}x{}x{}{}\n", report.m, report.n, report.k,
                       timed == report.times.end() ? "" : ", " + timed->timer);
    out += fmt::format("    {} {:>11} {:>9} {:>10} {:>7}\n", pad("kernel", 22), "time", "TFLOP/s",
                       "of cuBLAS", "noise");
    for (const GpuTime& t : report.times) {
      if (t.seconds <= 0) {
        out += fmt::format("    {} {}: {}\n", pad(printable(t.name), 22), t.disposition,
                           printable(t.detail));
        continue;
      }
      const std::string share =
          t.of_cublas > 0 ? fmt::format("{:.1f}%", 100 * t.of_cublas) : std::string("-");
      out += fmt::format("    {} {:>11} {:>9.3g} {:>10} {:>6.1f}%\n", pad(printable(t.name), 22),
                         time_text(t.seconds), t.tflops, share, 100 * t.noise);
    }
  }
  for (const std::string& note : report.notes) {
    for (const std::string& l : wrap(printable(note), kWidth, 2)) out += l + "\n";
  }
  return out;
}

Json to_json(const GpuReport& report) {
  Json products = Json::array(), times = Json::array();
  for (const GpuProduct& p : report.products) {
    RunResult findings;
    findings.findings = p.findings;
    products.push_back({{"m", p.m},
                        {"n", p.n},
                        {"k", p.k},
                        {"ran", p.ran},
                        {"fault", p.fault},
                        {"right", p.right()},
                        {"findings", to_json(findings).at("findings")},
                        {"executor_ran", p.executor_ran},
                        {"executor_right", p.executor_right},
                        {"differing", p.differing},
                        {"text", comparison(p)}});
  }
  for (const GpuTime& t : report.times) {
    times.push_back({{"name", t.name},
                     {"kernel", t.kernel},
                     {"disposition", t.disposition},
                     {"detail", t.detail},
                     {"seconds", t.seconds},
                     {"tflops", t.tflops},
                     {"of_cublas", t.of_cublas},
                     {"noise", t.noise},
                     {"timer", t.timer}});
  }
  return {{"device", report.device.name},
          {"architecture", report.device.architecture},
          {"failed", report.failed()},
          {"products", products},
          {"m", report.m},
          {"n", report.n},
          {"k", report.k},
          {"times", times},
          {"notes", report.notes}};
}

}  // namespace tessera::simt
