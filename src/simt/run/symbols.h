// From instructions of the checked program's image to places in its source.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "simt/model.h"

namespace tessera::simt {

/// "tiled<16>" of "void ns::tiled<16>(float const*, int)".
std::string demangle(const char* name);
std::string short_name(const std::string& demangled);
/// The same without blanks, so that names of two compilers compare.
std::string comparable_name(const std::string& demangled);

struct Symbol {
  std::string name;  ///< demangled
  std::uint64_t offset = 0, bytes = 0;
  bool is_function = false;
};

class Symbols {
 public:
  /// `own_folder`: headers there are the checker's; an access in one of them belongs to the line
  /// that called it. `source_path` is how places in the main file are spelled.
  Symbols(const std::string& image, std::string own_folder, std::string source_path);
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// May be called by several threads.
  const Place& place(std::uint32_t offset);
  /// Functions and data objects, sorted by offset.
  const std::vector<Symbol>& all() const { return symbols_; }
  const Symbol* find(std::uint64_t offset) const;

 private:
  struct Dwarf;
  Place look_up(std::uint64_t offset);
  std::string spelled(const std::string& file) const;

  std::unique_ptr<Dwarf> dwarf_;
  std::string own_folder_, source_path_, real_source_path_;
  std::vector<Symbol> symbols_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, Place> known_;
};

}  // namespace tessera::simt
