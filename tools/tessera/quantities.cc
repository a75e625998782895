#include "quantities.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace tessera::cli {

std::string format_bytes(double bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

std::string format_binary(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string format_seconds(double seconds) {
  if (seconds >= 100) return fmt::format("{:.0f} s", seconds);
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} us", seconds * 1e6);
}

std::string_view layout_name(Layout layout) {
  return layout == Layout::kRowMajor ? "row-major" : "column-major";
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

bool colour_allowed() {
  const char* no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && ::isatty(STDOUT_FILENO) == 1;
}

std::string verdict(bool passed) {
  const char* word = passed ? "PASS" : "FAIL";
  if (!colour_allowed()) return word;
  return fmt::format("\033[{}m{}\033[0m", passed ? 32 : 31, word);
}

}  // namespace tessera::cli
