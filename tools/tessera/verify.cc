// `tessera verify`: is C the product it is said to be?
#include "tessera/verify.h"

#include <fmt/format.h>

#include <chrono>

#include "args.h"
#include "inputs.h"
#include "progress.h"
#include "quantities.h"

namespace tessera::cli {
namespace {

struct VerifyArgs {
  ProductArgs product;
  std::string c;
  std::string method = "freivalds";
  int rounds = VerifyOptions{}.rounds;
  std::uint64_t seed = VerifyOptions{}.seed;
  int threads = 0;
  bool json = false, quiet = false;
};

void check_result_shape(const Inputs& in, const io::FileMatrix& c) {
  if (c.rows == in.m && c.cols == in.n) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("C {} is {} x {}; the product of A and B is {} x {}", c.name, c.rows,
                          c.cols, in.m, in.n));
}

void report(const VerifyArgs& args, const Inputs& in, const io::FileMatrix& c,
            const VerifyReport& found, const VerifyOptions& options, double elapsed_s) {
  if (args.json) {
    Json json;
    json["operation"] = operation_json(in);
    json["a"] = matrix_json(in.a);
    json["b"] = matrix_json(in.b);
    json["c0"] = in.c0 ? matrix_json(*in.c0) : Json(nullptr);
    json["c"] = matrix_json(c);
    json["check"] = check_json(found, options, elapsed_s);
    json["provenance"] = provenance();
    print_json(json);
    return;
  }
  fmt::print("product  C = {}\n", operation_text(in));
  fmt::print("A        {}\n", matrix_text(in.a));
  fmt::print("B        {}\n", matrix_text(in.b));
  if (in.c0) fmt::print("C0       {}\n", matrix_text(*in.c0));
  fmt::print("C        {}\n", matrix_text(c));
  fmt::print("against  {} arithmetic{}\n", to_string(in.precision),
             in.rounded.empty() ? "" : fmt::format(", {} on reading", rounding_text(in)));
  fmt::print("check    {}  {}, {}\n", verdict(found.passed), found.to_string(),
             format_seconds(elapsed_s));
}

int run_verify(const VerifyArgs& args) {
  const Inputs in = open_inputs(args.product);
  const io::FileMatrix c = io::open_matrix(args.c);
  check_result_shape(in, c);
  VerifyOptions options = verify_options(args.method, args.rounds, args.seed, args.threads);
  Progress progress("checking", !args.quiet);
  options.progress = [&](double fraction) {
    progress.update(fraction, 0);
    return true;
  };
  const auto start = std::chrono::steady_clock::now();
  const VerifyReport found = verify(verify_problem(in, c, false), options);
  const double elapsed_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  progress.finish();
  if (!args.quiet || args.json) report(args, in, c, found, options, elapsed_s);
  if (found.passed) return kOk;
  throw CheckFailed(fmt::format("{} is not the product: {}", args.c, found.to_string()));
}

}  // namespace

Verb add_verify(CLI::App& root) {
  CLI::App* app = root.add_subcommand("verify", "check a product that is already in a file");
  const auto args = std::make_shared<VerifyArgs>();
  add_product_options(*app, args->product);
  add_file(*app, "C", args->c, "the product to check")->required();
  app->add_option("--method", args->method, "freivalds (default) or full: every element in FP64")
      ->check(CLI::IsMember(std::vector<std::string>{"freivalds", "full"}));
  app->add_option("--rounds", args->rounds,
                  "random vectors; a wrong element is missed with probability 2^-N (default 20)")
      ->type_name("N")
      ->check(decimal_fault)
      ->check(CLI::Range(1, 60));
  app->add_option("--seed", args->seed, "seed of the random vectors")
      ->type_name("N")
      ->check(decimal_fault);
  add_threads(*app, args->threads);
  app->add_flag("--json", args->json, "report as one JSON object");
  app->add_flag("--quiet", args->quiet, "no report and no progress, only errors");
  app->footer(
      "Passes (exit 0) when C equals alpha * op(A) * op(B) + beta * C0 within the rounding that\n"
      "--precision allows; else exit 5, naming the first wrong element.\n\n"
      "Examples:\n"
      "  tessera verify a.npy b.npy c.npy\n"
      "  tessera verify a.npy b.npy c.npy --trans-b --method full\n"
      "  tessera verify a.npy b.npy c.npy --alpha 2 --beta 0.5 --c c0.npy --json\n");
  return {app, [args] { return run_verify(*args); }};
}

}  // namespace tessera::cli
