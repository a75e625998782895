#include <filesystem>
#include <fstream>
#include <system_error>

#include "simt/exercise/exercise.h"
#include "tessera/error.h"

namespace tessera::simt {

std::vector<std::string> write_exercise(const std::string& folder) {
  namespace fs = std::filesystem;
  if (folder.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "check: --exercise: the name of the folder is empty");
  }
  std::error_code failure;
  std::vector<std::string> out;
  for (const ExerciseFile& file : exercise_files()) {
    const std::string path = (fs::path(folder) / file.name).string();
    // An answer is work that nobody wants to lose; a link without a target counts as a file.
    if (fs::exists(fs::symlink_status(path, failure))) {
      throw Error(ErrorCode::kInvalidArgument,
                  "check: --exercise: " + path + " is there already, and is not overwritten");
    }
    out.push_back(path);
  }
  fs::create_directories(folder, failure);
  if (!fs::is_directory(folder, failure)) {
    throw Error(ErrorCode::kOutputFailure, "check: --exercise: cannot make the folder " + folder);
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::ofstream stream(out[i], std::ios::binary);
    stream << exercise_files()[i].text;
    if (!stream.flush()) {
      throw Error(ErrorCode::kOutputFailure, "check: --exercise: cannot write " + out[i]);
    }
  }
  return out;
}

}  // namespace tessera::simt
