#include "bench_compare.h"

#include <fmt/format.h>

#include "bench/compare.h"
#include "cli.h"
#include "quantities.h"

namespace tessera::cli {

int run_bench_compare(const std::string& old_file, const std::string& new_file, bool json) {
  bench::Comparison comparison =
      bench::compare_results(bench::read_results(old_file), bench::read_results(new_file));
  if (json) {
    print_json(bench::comparison_json(comparison));
  } else {
    for (std::string* path : {&comparison.old_path, &comparison.new_path}) *path = printable(*path);
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
