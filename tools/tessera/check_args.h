// What the parts of `tessera check` share.
#pragma once

#include <string>

#include "simt/check.h"

namespace tessera::cli {

struct CheckArgs {
  simt::CheckOptions options;
  std::string gemm, html, sarif, fail_on = "finding", program_arguments;
  std::string exercise, gpu_image;
  bool exercise_is_given = false;  ///< its folder may be empty, which is refused
  bool json = false, quiet = false, no_count = false, no_nvcc = false, gpu = false;
};

/// Writes the exercise and says what to do next.
int write_exercise(const CheckArgs& args);
/// Judges an answer to it.
int judge_answer(const CheckArgs& args);
/// Whether the file is an answer, to be judged as one: no size or kernel is asked for.
bool is_answer(const CheckArgs& args);

/// The files of a report that are asked for.
void write_reports(const CheckArgs& args, const simt::Report& report);
/// Compiles the kernel for a GPU elsewhere.
int write_gpu_image(const CheckArgs& args);

}  // namespace tessera::cli
