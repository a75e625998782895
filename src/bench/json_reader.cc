#include "bench/json_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "bench/text_file.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Texts of the file end in terminals, chart scripts and pages.
std::string cleaned(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == '\n' || byte == '\r' || byte == '\t') {
      out += ' ';
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // C1 controls in UTF-8
      out += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string shown(const Json& value) {
  constexpr std::size_t kMost = 40;
  std::string text = value.dump(-1, ' ', true);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

std::string fact_text(const Json& value) {
  if (value.is_string()) return cleaned(value.get<std::string>());
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& item : value) {
    if (!text.empty()) text += ", ";
    text += item.is_string() ? cleaned(item.get<std::string>()) : item.dump();
  }
  return text;
}

void add_facts(const Json& object, const std::string& prefix, Facts& facts) {
  for (const auto& [name, value] : object.items()) {
    const std::string full = prefix + cleaned(name);
    if (value.is_object()) {
      // One level: what nests deeper is shown as JSON.
      if (prefix.empty()) {
        add_facts(value, full + ".", facts);
      } else {
        facts.emplace_back(full, value.dump());
      }
    } else if (!value.is_null()) {
      facts.emplace_back(full, fact_text(value));
    }
  }
}

}  // namespace

JsonReader::JsonReader(const std::string& file, const Json& object, std::string where)
    : file_(file), object_(object), where_(std::move(where)) {
  if (object_.is_object()) return;
  throw Error(ErrorCode::kBadFile,
              fmt::format("{}: {} is {}: it must be an object", file_,
                          where_.empty() ? "the content" : where_, object_.type_name()));
}

std::string JsonReader::place(const std::string& name) const {
  return where_.empty() ? name : where_ + "." + name;
}

void JsonReader::fault(const std::string& name, const std::string& what) const {
  throw Error(ErrorCode::kBadFile, fmt::format("{}: {}{}", file_, place(name), what));
}

const Json* JsonReader::find(const char* name) const {
  const auto at = object_.find(name);
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

std::string JsonReader::text(const char* name, const std::string& fallback) const {
  const Json* value = find(name);
  if (value == nullptr) return fallback;
  if (!value->is_string()) fault(name, fmt::format(" is {}: it must be a text", shown(*value)));
  return cleaned(value->get<std::string>());
}

bool JsonReader::flag(const char* name, bool fallback) const {
  const Json* value = find(name);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) fault(name, fmt::format(" is {}: true or false", shown(*value)));
  return value->get<bool>();
}

std::optional<double> JsonReader::number(const char* name, double least) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  const bool good = value->is_number() && std::isfinite(value->get<double>());
  if (!good) fault(name, fmt::format(" is {}: it must be a finite number", shown(*value)));
  if (!(value->get<double>() >= least)) {
    fault(name, fmt::format(" is {}: it must be at least {}", shown(*value), least));
  }
  return value->get<double>();
}

double JsonReader::number_or(const char* name, double fallback) const {
  return number(name, std::numeric_limits<double>::lowest()).value_or(fallback);
}

std::int64_t JsonReader::whole(const char* name, std::int64_t fallback, std::int64_t least) const {
  constexpr std::int64_t kMost = std::int64_t{1}
                                 << 48;  // elements of any memory; exact as a double
  const Json* value = find(name);
  if (value == nullptr) return fallback;
  const bool good =
      value->is_number_integer() && value->get<double>() <= static_cast<double>(kMost);
  if (!good || value->get<std::int64_t>() < least) {
    fault(name, fmt::format(" is {}: it must be a whole number, {} to 2^48", shown(*value), least));
  }
  return value->get<std::int64_t>();
}

std::vector<std::int64_t> JsonReader::wholes(const char* name) const {
  std::vector<std::int64_t> all;
  const Json* value = find(name);
  if (value == nullptr) return all;
  if (!value->is_array()) fault(name, fmt::format(" is {}: it must be a list", shown(*value)));
  for (const Json& item : *value) {
    if (!item.is_number_integer()) fault(name, fmt::format(" holds {}: numbers", shown(item)));
    all.push_back(item.get<std::int64_t>());
  }
  return all;
}

std::vector<std::string> JsonReader::texts(const char* name) const {
  std::vector<std::string> all;
  const Json* value = find(name);
  if (value == nullptr) return all;
  if (!value->is_array()) fault(name, fmt::format(" is {}: it must be a list", shown(*value)));
  for (const Json& item : *value) {
    if (!item.is_string()) fault(name, fmt::format(" holds {}: texts only", shown(item)));
    all.push_back(cleaned(item.get<std::string>()));
  }
  return all;
}

std::vector<std::pair<std::string, double>> JsonReader::numbers(const char* name) const {
  std::vector<std::pair<std::string, double>> all;
  object(name, [&](const JsonReader& inside) {
    for (const auto& [key, value] : inside.object_.items()) {
      const std::optional<double> number =
          inside.number(key.c_str(), std::numeric_limits<double>::lowest());
      if (number) all.emplace_back(cleaned(key), *number);
    }
  });
  return all;
}

void JsonReader::objects(const char* name,
                         const std::function<void(const JsonReader&)>& each) const {
  const Json* value = find(name);
  if (value == nullptr) return;
  if (!value->is_array()) fault(name, fmt::format(" is {}: it must be a list", shown(*value)));
  for (std::size_t i = 0; i < value->size(); ++i) {
    each(JsonReader(file_, (*value)[i], fmt::format("{}[{}]", place(name), i)));
  }
}

void JsonReader::object(const char* name,
                        const std::function<void(const JsonReader&)>& inside) const {
  if (const Json* value = find(name)) inside(JsonReader(file_, *value, place(name)));
}

Facts JsonReader::facts() const {
  Facts facts;
  add_facts(object_, "", facts);
  return facts;
}

Json read_json(const std::string& file) {
  check_is_file(file);
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kBadFile, fmt::format("{}: {}", file, what));
  };
  // What is read takes several times its size in memory.
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;
  std::error_code ignored;
  const std::uintmax_t size = std::filesystem::file_size(file, ignored);
  if (!ignored && size > kMostBytes) {
    refuse(fmt::format("{} bytes: at most {} are read", size, kMostBytes));
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse("cannot be opened");
  std::string bytes;
  bytes.assign(std::istreambuf_iterator<char>(in), {});
  if (bytes.empty()) refuse("is empty or cannot be read");
  try {
    // Printing a value recurses, so that its depth must be bounded.
    constexpr int kDeepest = 32;
    return Json::parse(bytes, [&](int depth, Json::parse_event_t, Json&) {
      if (depth > kDeepest) refuse(fmt::format("nested deeper than {} levels", kDeepest));
      return true;
    });
  } catch (const Json::parse_error& e) {
    refuse(fmt::format("damaged JSON at byte {} of {}", e.byte, bytes.size()));
  } catch (const Json::exception&) {
    refuse("damaged JSON: a number is too large");
  }
  return {};
}

}  // namespace tessera::bench
