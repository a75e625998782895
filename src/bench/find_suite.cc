#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "bench/suite.h"
#include "io/message.h"

namespace tessera::bench {
namespace {

namespace fs = std::filesystem;

/// Relative to the program, so that an installed tree may be moved.
fs::path installed_folder() {
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  return unknown ? fs::path{} : program.parent_path() / TESSERA_SUITES_FROM_BIN;
}

std::vector<fs::path> folders() {
  std::vector<fs::path> out;
  const char* chosen = std::getenv("TESSERA_SUITES");
  if (chosen != nullptr && *chosen != '\0') out.emplace_back(chosen);
  out.emplace_back(TESSERA_SOURCE_SUITES);
  out.push_back(installed_folder());
  return out;
}

std::set<std::string> names_in(const std::vector<fs::path>& places) {
  std::set<std::string> names;
  for (const fs::path& folder : places) {
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing)) {
      if (entry.path().extension() == ".csv") names.insert(entry.path().stem().string());
    }
  }
  return names;
}

}  // namespace

std::string find_suite(const std::string& name_or_path) {
  std::error_code missing;
  if (!name_or_path.empty() && fs::exists(name_or_path, missing)) return name_or_path;
  const std::vector<fs::path> places = folders();
  if (!name_or_path.empty() && name_or_path.find('/') == std::string::npos) {
    for (const fs::path& folder : places) {
      for (const char* suffix : {".csv", ""}) {
        const fs::path file = folder / (name_or_path + suffix);
        if (fs::is_regular_file(file, missing)) return file.string();
      }
    }
  }
  const std::set<std::string> names = names_in(places);
  throw Error(
      ErrorCode::kBadFile,
      fmt::format("suite {}: is no file and no suite's name; suites: {}",
                  io::in_quotes(name_or_path),
                  names.empty() ? "none found" : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace tessera::bench
