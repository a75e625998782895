#include <fmt/format.h>

#include <cstring>

#include "core/c_api.h"

namespace tessera::c_api {
namespace {

// Without a destructor, so that those of other thread-local objects may still fail; without an
// allocation, so that running out of memory can be reported. Longer messages lose their end.
thread_local char t_last_error[1024] = "";

}  // namespace

void remember(const char* message) noexcept {
  std::strncpy(t_last_error, message, sizeof t_last_error - 1);
}

const char* last_error() noexcept { return t_last_error; }

tessera_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return TESSERA_INVALID_ARGUMENT;
    case ErrorCode::kUnsupported:
      return TESSERA_UNSUPPORTED;
    case ErrorCode::kNoDevice:
      return TESSERA_NO_DEVICE;
    case ErrorCode::kOutOfMemory:
      return TESSERA_OUT_OF_MEMORY;
    case ErrorCode::kDeviceFailure:
      return TESSERA_DEVICE_FAILURE;
    case ErrorCode::kCancelled:
      return TESSERA_CANCELLED;
    case ErrorCode::kBadFile:
    case ErrorCode::kOutputFailure:
      break;
  }
  return TESSERA_INTERNAL;
}

void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, "tessera.h: " + message);
}

Layout layout_of(tessera_layout layout) {
  if (layout == TESSERA_ROW_MAJOR) return Layout::kRowMajor;
  if (layout == TESSERA_COL_MAJOR) return Layout::kColMajor;
  refuse(fmt::format("layout = {}: must be TESSERA_ROW_MAJOR (101) or TESSERA_COL_MAJOR (102)",
                     static_cast<int>(layout)));
}

Op op_of(const char* name, tessera_op op) {
  if (op == TESSERA_OP_N) return Op::kN;
  if (op == TESSERA_OP_T) return Op::kT;
  refuse(fmt::format("{} = {}: must be TESSERA_OP_N (111) or TESSERA_OP_T (112)", name,
                     static_cast<int>(op)));
}

DType dtype_of(tessera_dtype dtype) {
  if (dtype == TESSERA_F32) return DType::kF32;
  if (dtype == TESSERA_F64) return DType::kF64;
  if (dtype == TESSERA_BF16) return DType::kBF16;
  if (dtype == TESSERA_F16) return DType::kF16;
  refuse(
      fmt::format("dtype = {}: must be TESSERA_F32 (0), TESSERA_F64 (1), TESSERA_BF16 (2) or "
                  "TESSERA_F16 (3)",
                  static_cast<int>(dtype)));
}

DType output_of(tessera_dtype dtype) {
  return dtype_of(dtype) == DType::kF64 ? DType::kF64 : DType::kF32;
}

}  // namespace tessera::c_api
