#include "simt/nvcc_source.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "simt/source/edits.h"
#include "simt/source/words.h"

namespace tessera::simt {

NvccSource nvcc_source(const CheckOptions& options, const std::string& source,
                       const std::string& appended, const std::string& folder) {
  if (appended.empty()) return {options.path, options.flags};
  const std::filesystem::path own = std::filesystem::path(folder) / "nvcc";
  std::filesystem::create_directories(own);
  for (const Word& word : words()) {
    if (word.name == "simt_drive.h") std::ofstream(own / word.name) << word.text;
  }
  NvccSource result{(own / "kernel.cu").string(), options.flags};
  std::ofstream out(result.path);
  const auto full = std::filesystem::absolute(options.path);
  out << fmt::format("#line 1 {}\n", c_string(full.string())) << source << "\n" << appended;
  result.flags.push_back("-I" + full.parent_path().string());
  result.flags.push_back("-I" + own.string());
  return result;
}

}  // namespace tessera::simt
