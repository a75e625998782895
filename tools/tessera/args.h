// Option values: numbers, sizes, devices, near names; all with one-line refusals.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/matrix.h"
#include "tessera/precision.h"

namespace tessera::cli {

/// "512M", "2G", "64MiB", "1000": binary multiples (K = 1024), at least 1 byte. Throws
/// Error(kInvalidArgument) that names `option`.
std::int64_t parse_size(const std::string& option, const std::string& text);

/// A whole decimal number, also "nan", "inf", "-inf". Throws as parse_size.
double parse_number(const std::string& option, const std::string& text);

/// What --device asks for.
struct DeviceRequest {
  enum class Kind { kAuto, kCpu, kCuda } kind = Kind::kAuto;
  int index = 0;
};
DeviceRequest parse_device(const std::string& text);

/// The candidate within a third of the word's length in edits; empty when none is that near.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

/// An option whose value goes through parse_number or parse_size.
CLI::Option* add_number(CLI::App& app, const std::string& name, double& value,
                        const std::string& description);
CLI::Option* add_size(CLI::App& app, const std::string& name, std::int64_t& value,
                      const std::string& description);
/// -o style file arguments: type name FILE, which shell completion knows.
CLI::Option* add_file(CLI::App& app, const std::string& name, std::string& value,
                      const std::string& description);
/// A check for whole numbers: what the parser would take as octal or hexadecimal is refused.
std::string decimal_fault(const std::string& text);
/// Seconds of timing: 0 to 3600.
CLI::Option* add_seconds(CLI::App& app, double& value, const std::string& description);
CLI::Option* add_threads(CLI::App& app, int& value);
CLI::Option* add_device(CLI::App& app, std::string& value);

inline Op op_of(bool transposed) { return transposed ? Op::kT : Op::kN; }

}  // namespace tessera::cli
