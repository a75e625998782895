#include "cuda/tensor_map.h"

#include <cuda_runtime_api.h>

#include <string>

#include "cuda/check.h"
#include "tessera/error.h"

namespace tessera::cuda {
namespace {

constexpr std::int64_t kMaxCoordinate = 0x7FFFFFFF;  // the instruction takes 32-bit coordinates
constexpr std::int64_t kMaxStep = std::int64_t{1} << 37;  // in floats: 2^40 bytes and no more

/// From the driver that the process already uses: nothing is linked.
auto encode_function() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  constexpr const char* kName = "cuTensorMapEncodeTiled";
#if CUDART_VERSION >= 12050
  constexpr unsigned kSince = 12000;
  TESSERA_CUDA_CHECK(
      cudaGetDriverEntryPointByVersion(kName, &function, kSince, cudaEnableDefault, &found));
#else
  TESSERA_CUDA_CHECK(cudaGetDriverEntryPoint(kName, &function, cudaEnableDefault, &found));
#endif
  if (found != cudaDriverEntryPointSuccess) {
    throw Error(ErrorCode::kDeviceFailure, "the CUDA driver has no cuTensorMapEncodeTiled");
  }
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
}

}  // namespace

bool has_tensor_map(const Panel<float>& x, std::int64_t batch, int alignment) {
  return x.line_step == 1 && alignment >= 16 && x.depth_step < kMaxStep &&
         x.lines <= kMaxCoordinate && x.depth <= kMaxCoordinate && batch <= kMaxCoordinate &&
         (batch == 1 || (x.batch_stride >= 0 && x.batch_stride < kMaxStep));
}

CUtensorMap tensor_map_of(const Panel<float>& x, std::int64_t batch, int box_lines, int box_depth) {
  static const auto encode = encode_function();
  // A step that is never taken may be anything, also nothing that a map accepts.
  const std::int64_t step = x.depth == 1 ? (x.lines + 3) / 4 * 4 : x.depth_step;
  const std::int64_t members = x.batch_stride == 0 ? 1 : batch;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(x.lines), static_cast<cuuint64_t>(x.depth),
                              static_cast<cuuint64_t>(members)};
  const cuuint64_t steps[] = {
      static_cast<cuuint64_t>(step) * sizeof(float),
      static_cast<cuuint64_t>(members == 1 ? step : x.batch_stride) * sizeof(float)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_lines), static_cast<cuuint32_t>(box_depth),
                            1};
  const cuuint32_t every[] = {1, 1, 1};
  CUtensorMap map;
  const CUresult result =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, const_cast<float*>(x.g), sizes, steps, box,
             every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw Error(ErrorCode::kDeviceFailure,
                "cuTensorMapEncodeTiled refused a panel of " + std::to_string(x.lines) + " x " +
                    std::to_string(x.depth) + ", step " + std::to_string(step) + ": CUresult " +
                    std::to_string(static_cast<int>(result)));
  }
  return map;
}

}  // namespace tessera::cuda
