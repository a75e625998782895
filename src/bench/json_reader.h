// Fields of a JSON object whose writer is not trusted, each checked as it is taken.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/result.h"

namespace tessera::bench {

/// An object inside a file, with its place for messages. A field that is null counts as absent.
/// Every fault is an Error(kBadFile) that names file, field and rule.
class JsonReader {
 public:
  /// `where` is "" for the whole file, else such as "results[3]".
  JsonReader(const std::string& file, const Json& object, std::string where);

  bool has(const char* name) const { return find(name) != nullptr; }
  /// Line breaks become blanks and other control characters \xNN.
  std::string text(const char* name, const std::string& fallback = "") const;
  bool flag(const char* name, bool fallback) const;
  /// Finite and not below `least`.
  std::optional<double> number(const char* name, double least) const;
  double number_or(const char* name, double fallback) const;
  std::int64_t whole(const char* name, std::int64_t fallback, std::int64_t least) const;
  std::vector<std::int64_t> wholes(const char* name) const;
  std::vector<std::string> texts(const char* name) const;
  std::vector<std::pair<std::string, double>> numbers(const char* name) const;
  /// Calls `each` for every object of an array, which may be absent.
  void objects(const char* name, const std::function<void(const JsonReader&)>& each) const;
  /// Calls `inside` for an object, which may be absent.
  void object(const char* name, const std::function<void(const JsonReader&)>& inside) const;
  /// All that the object says, inner ones as "outer.inner".
  std::vector<std::pair<std::string, std::string>> facts() const;
  [[noreturn]] void fault(const std::string& name, const std::string& what) const;

 private:
  const Json* find(const char* name) const;
  std::string place(const std::string& name) const;

  const std::string& file_;
  const Json& object_;
  std::string where_;
};

/// The JSON of a file. Throws Error(kBadFile).
Json read_json(const std::string& file);

}  // namespace tessera::bench
