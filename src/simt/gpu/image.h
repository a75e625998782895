// A checked source compiled by nvcc into a shared object that a process with a GPU opens.
#pragma once

#include <string>
#include <vector>

#include "simt/check.h"

namespace tessera::simt {

/// What an image is made of.
struct ImageSource {
  std::string path;                ///< of the .cu
  std::vector<std::string> flags;  ///< the user's; those that matter to nvcc are taken
  std::string text;                ///< the .cu
  std::string driver;              ///< CUDA C++ that defines simt_drive
};
ImageSource image_source(const CheckedProgram& program);

/// Differs, in all likelihood, between sources; an image bears that of its own.
std::string mark_of(const ImageSource& source);

/// Compiles for `architecture` ("sm_90") into `image`, working in `folder`. The image has a CUDA
/// runtime of its own, so that it needs no toolkit where it runs. Throws Error(kUnsupported) with
/// nvcc's message.
void build_image(const std::string& nvcc, const ImageSource& source,
                 const std::string& architecture, const std::string& folder,
                 const std::string& image);

/// An opened image. Its code runs in this process: open it where a crash may happen.
class Image {
 public:
  /// Throws Error(kBadFile) for a file that is no image, or one of another source.
  Image(const std::string& path, const ImageSource& source);

  /// One call of the program's product, ordered with `stream` before and behind, which also holds
  /// while the stream is captured. `waits`: it uses streams of its own, so wait for the device.
  /// Throws Error(kDeviceFailure) with CUDA's words.
  void run(const DriveArguments& arguments, void* stream, bool waits) const;

 private:
  using Run = const char*(const DriveArguments*, void*, int);
  Run* run_ = nullptr;
};

}  // namespace tessera::simt
