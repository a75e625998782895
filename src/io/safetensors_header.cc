// The JSON header, taken as a stream of events: no tree is built, nesting deeper than the format
// has is refused where it begins, and a repeated key cannot hide behind a map.
#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "io/message.h"
#include "io/safetensors.h"

namespace tessera::io {
namespace {

class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(const std::string& file) : file_(file) {}

  std::vector<SafetensorsEntry> take() { return std::move(entries_); }

  bool start_object(std::size_t) override {
    if (depth_ < 2) {
      ++depth_;
      seen_fields_ = 0;
      return true;
    }
    return refuse_value("an object");
  }

  bool end_object() override {
    if (--depth_ == 1 && !metadata_) finish_entry();
    return true;
  }

  bool key(std::string& name) override {
    if (depth_ == 1) {
      begin_entry(name);
    } else if (metadata_) {
      once(metadata_keys_, name, "__metadata__ key ");
    } else {
      begin_field(name);
    }
    return true;
  }

  bool string(std::string& text) override {
    if (depth_ == 2 && metadata_) return true;
    if (depth_ != 2 || in_array_ || field_ != kDtype) return refuse_value("a string");
    entries_.back().dtype = text;
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || metadata_ || in_array_ || (field_ != kShape && field_ != kOffsets)) {
      return refuse_value("an array");
    }
    in_array_ = true;
    return true;
  }

  bool end_array() override {
    in_array_ = false;
    return true;
  }

  bool number_unsigned(std::uint64_t value) override {
    if (!in_array_) return refuse_value(std::to_string(value));
    if (field_ == kShape) {
      if (value > static_cast<std::uint64_t>(INT64_MAX)) {
        bad_file(file_, fmt::format("{}size {} in shape: must be below 2^63", where(), value));
      }
      entries_.back().shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (offsets_ < 2) (offsets_ == 0 ? entries_.back().begin : entries_.back().end) = value;
    ++offsets_;
    return true;
  }

  bool number_integer(std::int64_t value) override { return refuse_value(std::to_string(value)); }
  bool number_float(double, const std::string& text) override {
    return refuse_value(text.substr(0, 40));
  }
  bool null() override { return refuse_value("null"); }
  bool boolean(bool value) override { return refuse_value(value ? "true" : "false"); }
  bool binary(nlohmann::json::binary_t&) override { return refuse_value("binary data"); }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception&) override {
    bad_file(file_, fmt::format("header is not valid JSON at byte {}", position));
  }

 private:
  enum Field : unsigned { kDtype = 1, kShape = 2, kOffsets = 4 };

  /// "tensor "x": dtype: ", as far as the reader has come.
  std::string where() const {
    if (depth_ == 0) return "header: ";
    std::string out = metadata_ ? "__metadata__: " : fmt::format("tensor {}: ", in_quotes(tensor_));
    if (depth_ == 2 && !metadata_) {
      out += field_ == kDtype ? "dtype: " : field_ == kShape ? "shape: " : "data_offsets: ";
    }
    return out;
  }

  bool refuse_value(const std::string& value) const {
    const char* rule = "must be an object";
    if (depth_ == 2) {
      rule = metadata_          ? "must be a string"
             : field_ == kDtype ? "must be a string"
             : field_ == kShape ? "must be an array of whole numbers >= 0"
                                : "must be an array of two whole numbers >= 0";
    }
    bad_file(file_, fmt::format("{}{}: {}", where(), value, rule));
  }

  void once(std::unordered_set<std::string>& seen, const std::string& name, const char* what) {
    if (!seen.insert(name).second) {
      bad_file(file_, fmt::format("{}{} appears twice", what, in_quotes(name)));
    }
  }

  void begin_entry(const std::string& name) {
    once(names_, name, "tensor ");
    metadata_ = name == "__metadata__";
    tensor_ = name;
    offsets_ = 0;
    if (!metadata_) entries_.emplace_back().name = name;
  }

  void begin_field(const std::string& name) {
    if (name != "dtype" && name != "shape" && name != "data_offsets") {
      bad_file(file_, fmt::format("tensor {}: field {} is not one of dtype, shape, data_offsets",
                                  in_quotes(tensor_), in_quotes(name)));
    }
    field_ = name == "dtype" ? kDtype : name == "shape" ? kShape : kOffsets;
    if (seen_fields_ & field_) {
      bad_file(file_, fmt::format("tensor {}: field {} appears twice", in_quotes(tensor_),
                                  in_quotes(name)));
    }
    seen_fields_ |= field_;
  }

  void finish_entry() const {
    for (const auto& [field, name] :
         {std::pair{kDtype, "dtype"}, {kShape, "shape"}, {kOffsets, "data_offsets"}}) {
      if (!(seen_fields_ & field)) {
        bad_file(file_, fmt::format("tensor {}: has no {}", in_quotes(tensor_), name));
      }
    }
    if (offsets_ != 2) {
      bad_file(file_, fmt::format("tensor {}: data_offsets holds {} numbers: must be two",
                                  in_quotes(tensor_), offsets_));
    }
  }

  const std::string& file_;
  std::vector<SafetensorsEntry> entries_;
  std::unordered_set<std::string> names_, metadata_keys_;
  std::string tensor_;
  int depth_ = 0;  // of objects; arrays nest no further than one
  bool metadata_ = false, in_array_ = false;
  Field field_ = kDtype;
  unsigned seen_fields_ = 0;
  std::size_t offsets_ = 0;
};

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(std::span<const std::byte> json,
                                                       const std::string& file) {
  const auto* text = reinterpret_cast<const char*>(json.data());
  if (json.empty() || text[0] != '{') bad_file(file, "header does not begin with '{'");
  // The JSON reader takes NUL for the end of its input and would not see what follows.
  const void* nul = std::memchr(text, 0, json.size());
  if (nul != nullptr) {
    bad_file(file, fmt::format("header holds a NUL at byte {}: padding is by spaces",
                               static_cast<const char*>(nul) - text));
  }
  HeaderReader reader(file);
  nlohmann::json::sax_parse(text, text + json.size(), &reader);
  return reader.take();
}

}  // namespace tessera::io
