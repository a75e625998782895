// What the child processes of a trial do. No function here throws for what the kernel does wrong in
// a way that can be told: its message is the Error's.
#pragma once

#include <string>
#include <vector>

#include "simt/gpu/image.h"

namespace tessera::simt {

/// Name and architecture of the first GPU as JSON; throws Error(kNoDevice).
std::string describe_gpu();

/// One product, its operands from `file` (run/elements.h).
struct GpuWork {
  DriveSizes drive;
  std::string file;    ///< where the executor left its matrices
  std::string result;  ///< where C goes: A, B and C as they are afterwards
};
/// Runs each of them, and stops at the first that CUDA reports an error of.
void multiply_on_gpu(const std::string& image, const ImageSource& source,
                     const std::vector<GpuWork>& work);

/// Times the image beside the rungs and cuBLAS; JSON of the rows and of notes.
std::string time_on_gpu(const std::string& image, const ImageSource& source,
                        const DriveSizes& drive, const std::string& name);

}  // namespace tessera::simt
