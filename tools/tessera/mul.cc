#include "mul.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>

#include "core/threads.h"
#include "progress.h"
#include "tune_store.h"

namespace tessera::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The output replaces what has its name, so that must be nothing or an ordinary file, and not one
/// that is being read.
void check_output_path(const MulArgs& args) {
  struct stat out;
  if (::stat(args.out.c_str(), &out) != 0) return;
  if (!S_ISREG(out.st_mode)) {
    throw Error(ErrorCode::kOutputFailure,
                fmt::format("output {} is {}; it must be a file or not exist", args.out,
                            S_ISDIR(out.st_mode) ? "a directory" : "not an ordinary file"));
  }
  const std::pair<const char*, const std::string&> inputs[] = {
      {"A", args.product.a}, {"B", args.product.b}, {"--c", args.product.c0}};
  for (const auto& [name, spec] : inputs) {
    if (spec.empty() || !io::same_file(spec, args.out)) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("output {} is the same file as input {}, {}; they must differ",
                            args.out, name, spec));
  }
}

PanelOptions panel_options(const MulArgs& args, const Inputs& in, const DeviceChoice& device) {
  PanelOptions options;
  options.gemm.kernel = args.kernel;
  options.gemm.threads = args.threads;
  options.compute = in.compute;
  options.input = in.input;
  options.space = device.space;
  options.device = device.index;
  options.memory_bytes = args.memory_bytes;
  return options;
}

PanelReport multiply(const MulArgs& args, const Inputs& in, const DeviceChoice& device,
                     io::OutputMatrix& out, const MulEngines& engines) {
  PanelOptions options = panel_options(args, in, device);
  Progress progress("multiplying", !args.quiet);
  options.progress = [&](const PanelProgress& p) {
    progress.update(p.fraction, p.flops_done);
    return true;
  };
  return engines.multiply(in.op_a, in.op_b, in.alpha, in.a, in.b, in.beta,
                          in.c0 ? &*in.c0 : nullptr, out, options);
}

/// The product as the tuner's cache saw it: what is column-major in a file is a transpose.
bench::Case case_of(const Inputs& in, const DeviceChoice& device) {
  const auto seen = [](Op op, const io::FileMatrix& x) {
    return op_of((op == Op::kT) != (x.layout == Layout::kColMajor));
  };
  bench::Case c =
      bench::dense_case(seen(in.op_a, in.a), seen(in.op_b, in.b), in.m, in.n, in.k, in.input);
  c.beta = in.beta;
  c.desc.space = device.space;
  c.desc.device = device.space == Space::kCuda ? device.index : -1;
  return c;
}

/// Multiplies with the kernel that "tuned" comes to. Panels may be such that it refuses them; then
/// "auto" does it.
TunedRequest multiply_tuned(MulArgs args, const Inputs& in, MulOutcome& outcome,
                            io::OutputMatrix& out, const MulEngines& engines) {
  TunedRequest tuned = resolve_tuned(load_tune_cache("mul"), case_of(in, outcome.device),
                                     device_key(outcome.device, outcome.threads));
  try {
    args.kernel = tuned.kernel;
    outcome.panel = multiply(args, in, outcome.device, out, engines);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnsupported || tuned.kernel == "auto") throw;
    tuned = {"auto", fmt::format("tuned: {} refuses the product as it lies; as auto", args.kernel),
             false};
    args.kernel = tuned.kernel;
    outcome.panel = multiply(args, in, outcome.device, out, engines);
  }
  // Panels are shapes of their own.
  if (tuned.kernel != "auto" && outcome.panel.panels > 1) tuned.unproved = true;
  outcome.tuned = tuned.source;
  std::string& reason = outcome.panel.explanation.reason;
  reason = tuned.kernel == "auto" ? tuned.source + ": " + reason : tuned.source;
  return tuned;
}

VerifyReport check(const MulArgs& args, const Inputs& in, const io::OutputMatrix& out,
                   VerifyOptions options, const MulEngines& engines) {
  Progress progress("checking", !args.quiet);
  options.progress = [&](double fraction) {
    progress.update(fraction, 0);
    return true;
  };
  const io::FileMatrix c = out.as_input();
  return engines.check(verify_problem(in, c, args.memory_bytes > 0), options);
}

/// The backend that a kernel's name settles: by its id or family, or by its file's stem.
std::string backend_of(const std::string& kernel) {
  for (const char* backend : {"cpu", "cuda"}) {
    if (kernel.rfind(std::string(backend) + ".", 0) == 0) return backend;
  }
  for (const Kernel& known : registry().kernels()) {
    if (known.stem == kernel) return known.id.backend;
  }
  return "";
}

bool has_cuda_kernel(DType input) {
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.id.backend == "cuda" && kernel.id.dtype == input) return true;
  }
  return false;
}

DeviceChoice named_cuda(int index, std::string reason) {
  const auto count = static_cast<int>(cuda_devices().size());
  if (count == 0) {
    throw Error(ErrorCode::kNoDevice,
                fmt::format("device cuda:{}: {}", index, cuda_unavailable_reason()));
  }
  if (index >= count) {
    throw Error(ErrorCode::kNoDevice,
                fmt::format("device cuda:{} does not exist; this machine has cuda:0{}", index,
                            count > 1 ? fmt::format(" to cuda:{}", count - 1) : ""));
  }
  return {Space::kCuda, index, std::move(reason)};
}

DeviceChoice automatic(const std::string& kernel, DType input) {
  const std::string backend = backend_of(kernel);
  const std::string named = fmt::format("kernel {} was named", kernel);
  if (backend == "cpu") return {Space::kHost, 0, named};
  if (backend == "cuda") return named_cuda(0, named);
  if (cuda_devices().empty()) return {Space::kHost, 0, "no GPU: " + cuda_unavailable_reason()};
  if (!has_cuda_kernel(input)) {
    return {Space::kHost, 0, fmt::format("no CUDA kernel takes {}", to_string(input))};
  }
  return {Space::kCuda, 0, "a CUDA device is usable"};
}

}  // namespace

const DeviceInfo& DeviceChoice::info() const {
  return space == Space::kHost ? cpu_device() : cuda_devices()[static_cast<std::size_t>(index)];
}

DeviceChoice choose_device(const std::string& device, const std::string& kernel, DType input) {
  const DeviceRequest request = parse_device(device);
  switch (request.kind) {
    case DeviceRequest::Kind::kCpu:
      return {Space::kHost, 0, "device as asked"};
    case DeviceRequest::Kind::kCuda:
      return named_cuda(request.index, "device as asked");
    case DeviceRequest::Kind::kAuto:
      break;
  }
  return automatic(kernel, input);
}

int run_mul(const MulArgs& args, const MulEngines& engines) {
  const Clock::time_point start = Clock::now();
  const Inputs in = open_inputs(args.product);
  check_output_path(args);
  MulOutcome outcome;
  outcome.device = choose_device(args.device, args.kernel, in.input);
  if (outcome.device.space == Space::kCuda && !has_cuda_kernel(in.input)) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("--precision {}: no CUDA kernel of this version computes in it; "
                            "--device cpu does",
                            to_string(in.precision)));
  }
  outcome.threads = outcome.device.space == Space::kHost ? resolve_threads(args.threads) : 1;
  outcome.out_dtype = args.dtype.empty() ? in.compute : parse_dtype(args.dtype);
  {
    io::OutputMatrix out(args.out, outcome.out_dtype, in.m, in.n);
    const bool off = args.verify == "off";
    if (args.kernel == kTuned) {
      outcome.check_forced = multiply_tuned(args, in, outcome, out, engines).unproved && off;
    } else {
      outcome.panel = multiply(args, in, outcome.device, out, engines);
    }
    outcome.checked = !off || outcome.check_forced;
    if (outcome.checked) {
      const Clock::time_point check_start = Clock::now();
      const VerifyOptions defaults;
      outcome.check_options = verify_options(off ? "freivalds" : args.verify, defaults.rounds,
                                             defaults.seed, args.threads);
      outcome.check = check(args, in, out, outcome.check_options, engines);
      outcome.check_s = seconds_since(check_start);
    }
    // Without a commit the temporary goes with its owner.
    if (!outcome.checked || outcome.check.passed) {
      out.commit();
      outcome.written = true;
    }
  }
  outcome.out_bytes = static_cast<std::int64_t>(size_of(outcome.out_dtype)) * in.m * in.n;
  outcome.total_s = seconds_since(start);
  if (!args.quiet || args.json) report_mul(args, in, outcome);
  if (outcome.written) return kOk;
  throw CheckFailed(fmt::format("the product is wrong and {} was not written: {}", args.out,
                                outcome.check.to_string()));
}

Verb add_mul(CLI::App& root) {
  CLI::App* app = root.add_subcommand("mul", "multiply two matrices in files, and prove it");
  const auto args = std::make_shared<MulArgs>();
  add_product_options(*app, args->product);
  add_file(*app, "-o,--output", args->out, "result: X.npy, or X.safetensors (tensor C)")
      ->required();
  app->add_option("--dtype", args->dtype, "element type of the result (default: as computed)")
      ->check(CLI::IsMember(
          std::vector<std::string>{"f64", "f32", "f16", "bf16", "f8_e4m3", "f8_e5m2"}));
  add_device(*app, args->device);
  app->add_option("--kernel", args->kernel,
                  "a kernel, family or file stem of `tessera kernels`, or tuned: what tessera tune "
                  "found (default: auto)")
      ->type_name("KERNEL");
  add_threads(*app, args->threads);
  add_size(*app, "--memory", args->memory_bytes,
           "bound on memory, e.g. 512M or 2G (multiples of 1024)");
  app->add_option(
         "--verify", args->verify,
         "check of the result (default: freivalds); off does not hold where a tuned kernel "
         "meets a shape it was not tuned on")
      ->check(CLI::IsMember(std::vector<std::string>{"freivalds", "full", "off"}));
  app->add_flag("--json", args->json, "report as one JSON object");
  app->add_flag("--explain", args->explain, "say why this kernel, and why no other");
  app->add_flag("--quiet", args->quiet, "no report and no progress, only errors");
  app->footer(
      "C = alpha * op(A) * op(B) + beta * C0, checked before it is written.\n\n"
      "Examples:\n"
      "  tessera mul a.npy b.npy -o c.npy\n"
      "  tessera mul x.npy x.npy --trans-a -o gram.npy --precision fp64\n"
      "  tessera mul model.safetensors:w1 x.npy -o y.npy --dtype f16 --json\n"
      "  tessera mul a.npy b.npy --alpha 2 --beta 0.5 --c c0.npy -o c.npy\n"
      "  tessera mul big_a.npy big_b.npy -o c.npy --memory 2G --threads 8\n");
  return {app, [args] { return run_mul(*args); }};
}

}  // namespace tessera::cli
