// `tessera bench --counters`: what the hardware counted and what the algorithm says, for each row.
#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "args.h"
#include "bench/counters.h"
#include "bench/traffic.h"
#include "bench_session.h"
#include "core/canonical.h"

namespace tessera::cli {
namespace {

using bench::Row;

std::string this_program() {
  std::array<char, 4096> path{};
  const ::ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "tessera";
}

/// Whether M N K, ops and dtype say all of a case.
bool is_plain(const bench::Case& c) {
  const bench::Case plain =
      bench::dense_case(c.desc.op_a, c.desc.op_b, c.m, c.n, c.k, c.desc.input_dtype());
  return case_text(c) == case_text(plain);
}

std::vector<std::string> arguments_for(const Row& row, int device) {
  const bench::Case& c = row.what;
  return {"bench",
          fmt::format("{}", c.m),
          fmt::format("{}", c.n),
          fmt::format("{}", c.k),
          "--ops",
          {bench::letter(c.desc.op_a), bench::letter(c.desc.op_b)},
          "--dtype",
          std::string(to_string(c.desc.input_dtype())),
          "--device",
          fmt::format("cuda:{}", device),
          "--kernel",
          row.is_peer ? "none" : row.kernel,
          "--peer",
          row.is_peer ? row.requested : "none",
          "--once"};
}

std::vector<std::pair<std::string, double>> counted(const Row& row) {
  for (const Kernel& kernel : registry().kernels()) {
    if (kernel.name != row.kernel) continue;
    return bench::analytic_counts(kernel, canonicalise(row.what.desc, {}).problem);
  }
  return {};
}

}  // namespace

std::string add_counts(Row& row, int device) {
  if (row.disposition != bench::Disposition::kPassed) return "";
  row.analytic = counted(row);
  if (row.what.desc.space != Space::kCuda) return "hardware counters are read on a GPU only";
  if (!is_plain(row.what)) return "only dense row-major cases with alpha 1 and beta 0 are counted";
  const bench::CounterRun run = bench::measure_counters(this_program(), arguments_for(row, device));
  row.counters = run.values;
  return run.unavailable;
}

}  // namespace tessera::cli
