#include "simt/memory_need.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "simt/run/cell.h"
#include "tessera/error.h"

namespace tessera::simt {
namespace {

/// The rest is for the compilers, and for shadows of what several workers touch.
constexpr double kShare = 0.75;

std::string size_text(double bytes) { return fmt::format("{:.1f} GiB", bytes / (1 << 30)); }

/// The number that a line of the file begins with, or that stands behind `name`; 0 without one.
double number_in(const char* path, const std::string& name) {
  std::ifstream in(path);
  for (std::string word; in >> word;) {
    if (!name.empty() && word != name) continue;
    double number = 0;
    if (name.empty())
      return word.find_first_not_of("0123456789") == std::string::npos ? std::stod(word) : 0;
    return in >> number ? number : 0;
  }
  return 0;
}

}  // namespace

double bytes_needed(const MemoryNeed& need) {
  const auto [m, n, k] = need.sizes;
  const double inputs = double(m) * double(k) + double(k) * double(n);
  const double outputs = double(m) * double(n) * (need.has_d ? 2 : 1);
  // Each element and its flags, the inputs as they were, and C as doubles.
  double bytes = 3 * inputs * double(need.element) + outputs * (2 * double(need.element_c) + 8);
  if (need.counts) bytes *= 2;
  const bool is_sampled =
      2 * double(m) * double(n) * double(k) > static_cast<double>(need.max_accesses);
  if (!is_sampled) {
    // The judge's doubles, and who touched what.
    const auto granules = [](double elements, std::int64_t size) {
      return elements * std::max(1.0, double(size) / 4);
    };
    bytes += 8 * (inputs + 2 * outputs) +
             sizeof(Cell) * (granules(inputs, need.element) + granules(outputs, need.element_c));
  }
  return bytes;
}

double bytes_available() {
  double available = 1024 * number_in("/proc/meminfo", "MemAvailable:");
  const double most = number_in("/sys/fs/cgroup/memory.max", "");
  if (most > 0) {
    available =
        std::min(available, std::max(1.0, most - number_in("/sys/fs/cgroup/memory.current", "")));
  }
  return available;
}

void check_memory(const MemoryNeed& need, double available) {
  const double bytes = bytes_needed(need);
  if (available <= 0 || bytes <= kShare * available) return;
  throw Error(ErrorCode::kOutOfMemory,
              fmt::format("check: --gemm {},{},{}: the matrices and what is known of their "
                          "elements need about {}, and only {} of {} available may be used",
                          need.sizes[0], need.sizes[1], need.sizes[2], size_text(bytes),
                          size_text(kShare * available), size_text(available)));
}

}  // namespace tessera::simt
