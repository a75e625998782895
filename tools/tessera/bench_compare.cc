#include "bench_compare.h"

#include <fmt/format.h>

#include "bench/compare.h"
#include "cli.h"
#include "quantities.h"

namespace tessera::cli {

int run_bench_compare(const std::string& old_file, const std::string& new_file, bool json) {
  bench::ResultsFile before = bench::read_results(old_file), after = bench::read_results(new_file);
  if (!json) {
    for (std::string* path : {&before.path, &after.path}) *path = printable(*path);
  }
  const bench::Comparison comparison = bench::compare_results(before, after);
  if (json) {
    print_json(bench::comparison_json(comparison));
  } else {
    fmt::print("{}", bench::comparison_text(comparison));
  }
  if (comparison.broken > 0) {
    throw CheckFailed(fmt::format("{} row{} that had passed {} now incorrect", comparison.broken,
                                  comparison.broken == 1 ? "" : "s",
                                  comparison.broken == 1 ? "is" : "are"));
  }
  return kOk;
}

}  // namespace tessera::cli
