// The tuning cache as JSON, read with distrust: people edit it, and disks fill up.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "bench/json_reader.h"
#include "bench/tune_cache.h"
#include "tessera/error.h"
#include "tessera/kernel.h"

namespace tessera::bench {
namespace {

constexpr const char* kSchema = "tessera-tune-1";

std::string text_in(const JsonReader& json, const char* name, std::size_t least) {
  constexpr std::size_t kMost = 500;
  std::string text = json.text(name);
  if (text.size() < least || text.size() > kMost) {
    json.fault(name, fmt::format(" has {} characters: {} to {}", text.size(), least, kMost));
  }
  return text;
}

DeviceKey read_key(const JsonReader& json) {
  return {text_in(json, "device", 1), text_in(json, "driver", 0), text_in(json, "compiler", 1),
          text_in(json, "commit", 1), text_in(json, "data", 1),   text_in(json, "cache", 1)};
}

TuneShape read_shape(const JsonReader& json) {
  TuneShape shape{json.whole("m", 0, 1),  json.whole("n", 0, 1), json.whole("k", 0, 1),
                  json.text("ops", "NN"), DType::kF32,           text_in(json, "form", 0)};
  for (const auto& [name, size] : {std::pair{"m", shape.m}, {"n", shape.n}, {"k", shape.k}}) {
    if (size < 1) json.fault(name, " is missing");
  }
  const std::vector<std::string> ops = {"NN", "NT", "TN", "TT"};
  if (std::find(ops.begin(), ops.end(), shape.ops) == ops.end()) {
    json.fault("ops", fmt::format(" is \"{}\": NN, NT, TN or TT", shape.ops));
  }
  const std::string dtype = json.text("dtype", "f32");
  const std::vector<std::string> dtypes = {"f32", "f64", "bf16", "f16"};
  if (std::find(dtypes.begin(), dtypes.end(), dtype) == dtypes.end()) {
    json.fault("dtype", fmt::format(" is \"{}\": f32, f64, bf16 or f16", dtype));
  }
  shape.dtype = parse_dtype(dtype);
  return shape;
}

Disposition read_disposition(const JsonReader& json) {
  const std::string text = json.text("disposition", "passed");
  const std::optional<Disposition> known = parse_disposition(text);
  if (known && *known != Disposition::kNotSupported) return *known;
  json.fault("disposition", fmt::format(" is \"{}\": not one", text));
}

/// "2026-11-30T08:00:00Z": dates of one form are in order as texts are.
std::string read_date(const JsonReader& json) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  std::string text = json.text("date");
  bool good = text.size() == kForm.size();
  for (std::size_t i = 0; good && i < text.size(); ++i) {
    good = kForm[i] == '0' ? std::isdigit(static_cast<unsigned char>(text[i])) != 0
                           : text[i] == kForm[i];
  }
  if (!good) json.fault("date", fmt::format(" is \"{}\": it must be as {}", text, kForm));
  return text;
}

TuneTiming read_timing(const JsonReader& json) {
  constexpr double kShortest = 1e-9;
  TuneTiming timing;
  timing.disposition = read_disposition(json);
  timing.date = read_date(json);
  if (!timing.passed()) return timing;
  const std::optional<double> median = json.number("median_s", kShortest);
  if (!median) json.fault("median_s", " is missing");
  timing.median_s = *median;
  timing.noise = json.number("noise", 0).value_or(0);
  return timing;
}

class Reader {
 public:
  Reader(const std::string& file, const TuneReader& self, std::vector<std::string>* faults)
      : file_(file), self_(self), faults_(faults) {}

  TuneCache read(const Json& json) {
    const JsonReader top(file_, json, "");
    const std::string schema = top.text("schema");
    if (schema != kSchema) {
      top.fault("schema", fmt::format(" is \"{}\": this version reads {}", schema, kSchema));
    }
    TuneCache cache;
    each(json, "entries", "", [&](const Json& item, const std::string& where) {
      const JsonReader entry(file_, item, where);
      const DeviceKey key = read_key(entry);
      each(item, "shapes", where + ".", [&](const Json& inner, const std::string& place) {
        const TuneShape shape = read_shape(JsonReader(file_, inner, place));
        TunedShape tuned = read_kernels(key, shape, inner, place);
        if (!tuned.kernels.empty()) cache.put(key, shape, tuned);
      });
    });
    return cache;
  }

 private:
  /// Calls `read` for every item of an array; an item it refuses is left out.
  template <class Read>
  void each(const Json& object, const char* name, const std::string& prefix, const Read& read) {
    const auto list = object.find(name);
    if (list == object.end() || !list->is_array()) {
      throw Error(ErrorCode::kBadFile,
                  fmt::format("{}: {}{} is missing, or no list", file_, prefix, name));
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      guarded([&] { read((*list)[i], fmt::format("{}{}[{}]", prefix, name, i)); });
    }
  }

  template <class Step>
  void guarded(const Step& step) {
    try {
      step();
    } catch (const Error& e) {
      faults_->push_back(e.what());
    }
  }

  void check_kernel(const DeviceKey& key, const TuneShape& shape, const JsonReader& json,
                    const std::string& id) const {
    const std::optional<KernelId> parts = KernelId::parse(id);
    if (!parts || parts->dtype != shape.dtype) {
      json.fault(id, fmt::format(" is no kernel for {}", to_string(shape.dtype)));
    }
    const bool ours = key.compiler == self_.compiler && key.commit == self_.commit;
    if (ours && !self_.has_kernel(id)) json.fault(id, " is no kernel of this program");
  }

  TunedShape read_kernels(const DeviceKey& key, const TuneShape& shape, const Json& item,
                          const std::string& where) {
    TunedShape tuned;
    const JsonReader json(file_, item, where);
    const auto kernels = item.find("kernels");
    if (kernels == item.end()) json.fault("kernels", " is missing");
    const JsonReader inside(file_, *kernels, where + ".kernels");
    for (const auto& [id, value] : kernels->items()) {
      guarded([&, name = id, &timing = value] {
        check_kernel(key, shape, inside, name);
        const JsonReader one(file_, timing, where + ".kernels." + name);
        tuned.kernels[name] = read_timing(one);
      });
    }
    tuned.winner = json.text("winner");
    // Its own timing may have been left out: then the fastest of the others stands in.
    const std::vector<std::string> merit = tuned.by_merit();
    tuned.winner = merit.empty() ? "" : merit.front();
    return tuned;
  }

  const std::string& file_;
  const TuneReader& self_;
  std::vector<std::string>* faults_;
};

Json timing_json(const TuneTiming& timing) {
  Json json;
  json["disposition"] = to_string(timing.disposition);
  if (timing.passed()) {
    json["median_s"] = timing.median_s;
    json["noise"] = timing.noise;
  }
  json["date"] = timing.date;
  return json;
}

Json shape_json(const TuneShape& shape, const TunedShape& tuned) {
  Json json{{"m", shape.m},
            {"n", shape.n},
            {"k", shape.k},
            {"ops", shape.ops},
            {"dtype", to_string(shape.dtype)}};
  if (!shape.form.empty()) json["form"] = shape.form;
  if (!tuned.winner.empty()) json["winner"] = tuned.winner;
  json["kernels"] = Json::object();
  for (const auto& [id, timing] : tuned.kernels) json["kernels"][id] = timing_json(timing);
  return json;
}

}  // namespace

TuneCache read_tune_cache(const std::string& file, const Json& json, const TuneReader& reader,
                          std::vector<std::string>* faults) {
  return Reader(file, reader, faults).read(json);
}

Json tune_cache_json(const TuneCache& cache) {
  Json json{{"schema", kSchema}, {"entries", Json::array()}};
  for (const auto& [key, shapes] : cache.entries()) {
    Json entry{{"device", key.device}, {"driver", key.driver}, {"compiler", key.compiler},
               {"commit", key.commit}, {"data", key.data},     {"cache", key.cache}};
    entry["shapes"] = Json::array();
    for (const auto& [shape, tuned] : shapes) entry["shapes"].push_back(shape_json(shape, tuned));
    json["entries"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace tessera::bench
