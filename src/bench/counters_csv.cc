#include "bench/counters_csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

namespace tessera::bench {
namespace {

/// "1,234.5" is 1234.5: ncu sets thousands apart in some locales.
std::optional<double> number_of(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

/// What one unit is in base units. ncu spelt them out before 2024; asked for base units it may
/// still not print them for every metric.
double scale_of(const std::string& unit) {
  static const auto& scales = *new std::map<std::string, double>{
      {"us", 1e3},     {"usecond", 1e3}, {"ms", 1e6},    {"msecond", 1e6}, {"s", 1e9},
      {"second", 1e9}, {"Kbyte", 1e3},   {"Mbyte", 1e6}, {"Gbyte", 1e9},   {"Tbyte", 1e12}};
  const auto found = scales.find(unit);
  return found == scales.end() ? 1 : found->second;
}

}  // namespace

std::vector<std::string> csv_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (is_quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else {
        is_quoted = false;
      }
    } else if (c == '"') {
      is_quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<std::map<std::string, double>> parse_ncu_csv(const std::string& text) {
  std::vector<std::map<std::string, double>> launches;
  std::vector<std::string> names, units;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields = csv_fields(line);
    if (names.empty()) {
      if (fields.size() > 1 && fields[0] == "ID" && fields[1] == "Process ID") names = fields;
      continue;
    }
    if (fields.size() != names.size()) continue;
    // The line after the names has no launch number.
    if (fields[0].empty()) {
      units = std::move(fields);
      continue;
    }
    std::map<std::string, double> launch;
    for (std::size_t i = 0; i < names.size(); ++i) {
      // The columns before the metrics describe the launch; no metric's name is without "__".
      if (names[i].find("__") == std::string::npos) continue;
      if (const auto value = number_of(fields[i])) {
        launch[names[i]] = *value * (i < units.size() ? scale_of(units[i]) : 1);
      }
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace tessera::bench
