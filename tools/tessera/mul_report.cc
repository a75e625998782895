// The report of `tessera mul`: the same facts for people and as JSON.
#include <fmt/format.h>

#include "mul.h"
#include "quantities.h"

namespace tessera::cli {
namespace {

double rate(double flops, double seconds) { return seconds > 0 ? flops / seconds / 1e9 : 0; }

/// Multiply-adds were done: otherwise a speed means nothing.
bool multiplied(const Inputs& in) { return in.flops() > 0 && in.alpha != 0; }

const Kernel* find_kernel(const std::string& id) {
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.name == id) return &kernel;
  }
  return nullptr;
}

void line(const char* label, const std::string& text) { fmt::print("{:<9}{}\n", label, text); }

std::string kernel_text(const MulOutcome& outcome) {
  const Kernel* kernel = find_kernel(outcome.panel.kernel);
  if (kernel == nullptr) return outcome.panel.kernel;
  const std::string config =
      kernel->id.config.empty() ? "" : fmt::format(", configuration {}", kernel->id.config);
  return fmt::format("{} ({}{})", kernel->name, kernel->stem, config);
}

std::string device_text(const MulOutcome& outcome) {
  const DeviceInfo& info = outcome.device.info();
  if (outcome.device.space == Space::kHost) {
    return fmt::format("cpu: {}, {}, {} thread{}; {}", info.name, info.simd, outcome.threads,
                       outcome.threads == 1 ? "" : "s", outcome.device.reason);
  }
  return fmt::format("cuda:{}: {}, compute capability {}.{}; {}", info.index, info.name,
                     info.compute_major, info.compute_minor, outcome.device.reason);
}

std::string precision_text(const Inputs& in) {
  std::string text(to_string(in.precision));
  if (in.input != in.compute) text += ", with products and sums in fp32";
  if (!in.rounded.empty()) {
    text += fmt::format("; {} on reading, and checked as rounded", rounding_text(in));
  }
  return text;
}

std::string time_text(const MulOutcome& outcome) {
  std::string text = fmt::format("product {} (kernel {})", format_seconds(outcome.panel.elapsed_s),
                                 format_seconds(outcome.panel.kernel_s));
  if (outcome.checked) text += ", check " + format_seconds(outcome.check_s);
  return text + ", total " + format_seconds(outcome.total_s);
}

std::string speed_text(const Inputs& in, const PanelReport& panel) {
  if (!multiplied(in)) return "none: nothing to multiply";
  return fmt::format(
      "{:.1f} GFLOP/s in the kernel, {:.1f} with conversion and copies, {:.3g} "
      "FLOP/byte",
      rate(in.flops(), panel.kernel_s), rate(in.flops(), panel.elapsed_s), in.intensity());
}

std::string check_text(const MulOutcome& outcome) {
  if (!outcome.checked) return "off: this product is not proved";
  return fmt::format(
      "{}  {}{}", verdict(outcome.check.passed), outcome.check.to_string(),
      outcome.check_forced ? "; made although off: the kernel was tuned on another shape" : "");
}

void print_report(const Inputs& in, const MulArgs& args, const MulOutcome& outcome) {
  const PanelReport& panel = outcome.panel;
  line("product", "C = " + operation_text(in));
  line("A", matrix_text(in.a));
  line("B", matrix_text(in.b));
  if (in.c0) line("C0", matrix_text(*in.c0));
  line("C", fmt::format("{:<14} {:<8} {:<13} {}", fmt::format("{} x {}", in.m, in.n),
                        to_string(outcome.out_dtype), "row-major",
                        outcome.written ? printable(args.out) : "not written"));
  line("computed", "in " + precision_text(in));
  line("kernel", kernel_text(outcome));
  line("device", device_text(outcome));
  if (panel.panels > 1) {
    line("panels", fmt::format("{} of at most {} x {} x {} (m x n x k), {} of buffers",
                               panel.panels, panel.panel_m, panel.panel_n, panel.panel_k,
                               format_bytes(static_cast<double>(panel.buffer_bytes))));
  }
  line("time", time_text(outcome));
  line("speed", speed_text(in, panel));
  line("check", check_text(outcome));
  line("result", outcome.written ? fmt::format("{} ({})", printable(args.out),
                                               format_bytes(static_cast<double>(outcome.out_bytes)))
                                 : "not written");
  if (args.explain) fmt::print("\n{}", panel.explanation.to_string());
}

Json device_json(const MulOutcome& outcome) {
  const DeviceInfo& info = outcome.device.info();
  const bool cpu = outcome.device.space == Space::kHost;
  Json json;
  json["kind"] = cpu ? "cpu" : "cuda";
  json["index"] = outcome.device.index;
  json["name"] = info.name;
  if (cpu) {
    json["simd"] = info.simd;
    json["threads"] = outcome.threads;
  } else {
    json["compute_capability"] = fmt::format("{}.{}", info.compute_major, info.compute_minor);
  }
  json["reason"] = outcome.device.reason;
  return json;
}

Json kernel_json(const std::string& id) {
  const Kernel* kernel = find_kernel(id);
  if (kernel == nullptr) return {{"id", id}};
  return {{"id", kernel->name}, {"stem", kernel->stem}, {"config", kernel->id.config}};
}

Json explanation_json(const Explanation& explanation) {
  Json candidates = Json::array();
  for (const Candidate& c : explanation.candidates) {
    Json entry{{"id", c.id}, {"estimate_us", json_number(c.estimate_us)}};
    entry["rejected_because"] = c.rejection ? Json(c.rejection->rule) : Json(nullptr);
    if (c.rejection && !c.rejection->unlock.empty()) entry["unlock"] = c.rejection->unlock;
    candidates.push_back(std::move(entry));
  }
  return {{"chosen", explanation.chosen},
          {"reason", explanation.reason},
          {"candidates", std::move(candidates)},
          {"unlocks", explanation.unlocks}};
}

Json outcome_json(const Inputs& in, const MulArgs& args, const MulOutcome& outcome) {
  const PanelReport& panel = outcome.panel;
  Json json;
  json["operation"] = operation_json(in);
  json["a"] = matrix_json(in.a);
  json["b"] = matrix_json(in.b);
  json["c0"] = in.c0 ? matrix_json(*in.c0) : Json(nullptr);
  json["c"] = {{"file", args.out},      {"dtype", to_string(outcome.out_dtype)},
               {"rows", in.m},          {"cols", in.n},
               {"layout", "row-major"}, {"bytes", outcome.out_bytes}};
  json["kernel"] = kernel_json(panel.kernel);
  if (!outcome.tuned.empty()) json["kernel"]["source"] = outcome.tuned;
  json["device"] = device_json(outcome);
  json["panels"] = {{"count", panel.panels},
                    {"m", panel.panel_m},
                    {"n", panel.panel_n},
                    {"k", panel.panel_k},
                    {"buffer_bytes", panel.buffer_bytes}};
  json["time"] = {{"kernel_s", panel.kernel_s},
                  {"product_s", panel.elapsed_s},
                  {"check_s", outcome.checked ? Json(outcome.check_s) : Json(nullptr)},
                  {"total_s", outcome.total_s}};
  const bool speed = multiplied(in);
  json["gflops"] = speed ? Json(rate(in.flops(), panel.kernel_s)) : Json(nullptr);
  json["gflops_with_copies"] = speed ? Json(rate(in.flops(), panel.elapsed_s)) : Json(nullptr);
  json["flop_per_byte"] = in.intensity();
  json["check"] = outcome.checked
                      ? check_json(outcome.check, outcome.check_options, outcome.check_s)
                      : Json(nullptr);
  if (outcome.check_forced) json["check"]["forced_by"] = "tuned on another shape";
  json["result"] = outcome.written ? Json(args.out) : Json(nullptr);
  if (args.explain) json["explanation"] = explanation_json(panel.explanation);
  json["provenance"] = provenance();
  return json;
}

}  // namespace

void report_mul(const MulArgs& args, const Inputs& inputs, const MulOutcome& outcome) {
  if (args.json) {
    print_json(outcome_json(inputs, args, outcome));
  } else {
    print_report(inputs, args, outcome);
  }
}

}  // namespace tessera::cli
