#include "args.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include "core/threads.h"
#include "tessera/error.h"

namespace tessera::cli {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& text, const char* rule) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("{} \"{}\" {}", option, text, rule));
}

/// CLI11 wants its own exception from inside a parse.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, T& value,
                        const std::string& description, const char* type, Parse parse) {
  const auto store = [name, &value, parse](const std::string& text) {
    try {
      value = parse(name, text);
    } catch (const Error& e) {
      throw CLI::ValidationError(e.what());
    }
  };
  return app.add_option_function<std::string>(name, store, description)->type_name(type);
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::int64_t parse_size(const std::string& option, const std::string& text) {
  constexpr const char* kRule = "is not a size: digits, then K, M, G or T (multiples of 1024)";
  std::int64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, count);
  if (fault != std::errc() || count <= 0) refuse(option, text, kRule);
  std::string unit(stop, end);
  if (unit.size() == 3 && unit.substr(1) == "iB") unit.resize(1);
  if (unit.size() == 2 && unit[1] == 'B') unit.resize(1);
  if (unit.empty() || unit == "B") return count;
  const std::size_t power = unit.size() == 1 ? std::string("KMGTkmgt").find(unit[0]) : 8;
  if (power >= 8) refuse(option, text, kRule);
  const int shift = 10 * (static_cast<int>(power % 4) + 1);
  if (count > (std::numeric_limits<std::int64_t>::max() >> shift)) {
    refuse(option, text, "is more than 8 EiB");
  }
  return count << shift;
}

double parse_number(const std::string& option, const std::string& text) {
  const char* first = text.data();
  const char* const end = first + text.size();
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') ++first;
  double value = 0;
  const auto [stop, fault] = std::from_chars(first, end, value);
  if (fault == std::errc::result_out_of_range) refuse(option, text, "is outside the range of f64");
  if (fault != std::errc() || stop != end) refuse(option, text, "is not a number");
  return value;
}

DeviceRequest parse_device(const std::string& text) {
  DeviceRequest request;
  if (text == "auto") return request;
  if (text == "cpu") return {DeviceRequest::Kind::kCpu, 0};
  if (text == "cuda") return {DeviceRequest::Kind::kCuda, 0};
  if (text.rfind("cuda:", 0) == 0) {
    request.kind = DeviceRequest::Kind::kCuda;
    const char* const end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data() + 5, end, request.index);
    if (fault == std::errc() && stop == end && request.index >= 0) return request;
  }
  refuse("--device", text, "is not one of auto, cpu, cuda, cuda:N");
}

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

CLI::Option* add_number(CLI::App& app, const std::string& name, double& value,
                        const std::string& description) {
  return add_parsed(app, name, value, description, "X", parse_number);
}

CLI::Option* add_size(CLI::App& app, const std::string& name, std::int64_t& value,
                      const std::string& description) {
  return add_parsed(app, name, value, description, "SIZE", parse_size);
}

CLI::Option* add_file(CLI::App& app, const std::string& name, std::string& value,
                      const std::string& description) {
  return app.add_option(name, value, description)
      ->type_name("FILE")
      ->check([](const std::string& text) {
        return std::string(text.empty() ? "\"\" is not a file name" : "");
      });
}

std::string decimal_fault(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && (text.size() == 1 || text[0] != '0')
             ? std::string()
             : fmt::format("\"{}\" is not a whole decimal number", text);
}

CLI::Option* add_seconds(CLI::App& app, double& value, const std::string& description) {
  return app.add_option("--seconds", value, description)
      ->type_name("S")
      ->check([](const std::string& text) {
        // A range lets NaN pass, with which no timing ends.
        double seconds = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, fault] = std::from_chars(text.data(), end, seconds);
        const bool good = fault == std::errc() && stop == end && seconds >= 0 && seconds <= 3600;
        return good ? std::string() : fmt::format("\"{}\" is not a number from 0 to 3600", text);
      });
}

CLI::Option* add_threads(CLI::App& app, int& value) {
  return app
      .add_option("--threads", value,
                  "CPU threads (default: TESSERA_NUM_THREADS, else every core allowed)")
      ->type_name("N")
      ->check(decimal_fault)
      ->check(CLI::Range(1, kMostThreads));
}

CLI::Option* add_device(CLI::App& app, std::string& value) {
  return add_parsed(app, "--device", value,
                    "auto (a CUDA device when one is usable), cpu, cuda, cuda:N", "DEVICE",
                    [](const std::string&, const std::string& text) {
                      parse_device(text);
                      return text;
                    });
}

}  // namespace tessera::cli
