#include "bench_cases.h"

#include <fmt/format.h>

#include "args.h"
#include "bench/suite.h"
#include "tessera/error.h"

namespace tessera::cli {

void add_case_options(CLI::App& app, CaseArgs& args) {
  app.add_option("SIZES", args.sizes, "M N K, once or several times")
      ->type_name("M N K ...")
      ->expected(1, 3000)  // at least 1, or CLI11 takes none after a "--"
      ->check(decimal_fault)
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31));
  app.add_option("--suite", args.suites,
                 "shapes in CSV, by file or name (square, awkward, ...), or a log of "
                 "TESSERA_LOG=calls:FILE; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--ops", args.ops, "op(A) op(B) of M N K (default NN)")
      ->check(CLI::IsMember(std::vector<std::string>{"NN", "NT", "TN", "TT"}));
  app.add_option("--dtype", args.dtype,
                 "element type (default f32); bf16 and f16: of A and B, on the CPU, with an f32 C")
      ->check(CLI::IsMember(std::vector<std::string>{"f32", "f64", "bf16", "f16"}));
}

std::vector<bench::Case> cases_of(const CaseArgs& args, std::vector<std::string>* faults) {
  if (args.sizes.size() % 3 != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} sizes: they must come in threes, M N K", args.sizes.size()));
  }
  const DType dtype = parse_dtype(args.dtype);
  std::vector<bench::Case> cases;
  for (std::size_t i = 0; i < args.sizes.size(); i += 3) {
    cases.push_back(bench::dense_case(op_of(args.ops[0] == 'T'), op_of(args.ops[1] == 'T'),
                                      args.sizes[i], args.sizes[i + 1], args.sizes[i + 2], dtype));
  }
  for (const std::string& name : args.suites) {
    const bench::Suite suite = bench::read_suite(bench::find_suite(name), dtype);
    cases.insert(cases.end(), suite.cases.begin(), suite.cases.end());
    faults->insert(faults->end(), suite.faults.begin(), suite.faults.end());
  }
  if (cases.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "nothing to time: give M N K or --suite");
  }
  return cases;
}

}  // namespace tessera::cli
