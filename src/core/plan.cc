// From a description to a chosen kernel, and from pointers to its launch.
#include "tessera/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/backend.h"
#include "core/call_log.h"
#include "core/canonical.h"
#include "core/round.h"
#include "core/threads.h"

namespace tessera {
namespace {

const DeviceInfo& find_device(const GemmDesc& desc) {
  if (desc.space == Space::kHost) return cpu_device();
  const auto& devices = cuda_devices();
  if (devices.empty()) {
    throw Error(ErrorCode::kNoDevice,
                "gemm: operands in CUDA memory, but " + cuda_unavailable_reason());
  }
  const int index = desc.device < 0 ? cuda::current_device() : desc.device;
  if (index >= static_cast<int>(devices.size())) {
    throw Error(ErrorCode::kNoDevice,
                fmt::format("gemm: device cuda:{} does not exist; there {} {}", index,
                            devices.size() == 1 ? "is" : "are", devices.size()));
  }
  return devices[static_cast<std::size_t>(index)];
}

void scale_host(const Problem& p, double beta, void* c) {
  const auto scale = [&](auto* data) {
    using T = std::remove_pointer_t<decltype(data)>;
    const T factor = static_cast<T>(beta);
    if (factor == T{1}) return;
    for (std::int64_t b = 0; b < p.batch; ++b) {
      for (std::int64_t i = 0; i < p.m; ++i) {
        T* row = data + b * p.stride_c + i * p.ldc;
        for (std::int64_t j = 0; j < p.n; ++j) row[j] = factor == T{0} ? T{0} : factor * row[j];
      }
    }
  };
  if (p.dtype == DType::kF32) {
    scale(static_cast<float*>(c));
  } else {
    scale(static_cast<double*>(c));
  }
}

void check_pointer(const char* name, const void* data, const OperandDesc& x, DType dtype) {
  if (x.rows == 0 || x.cols == 0) return;
  if (data == nullptr) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("gemm: {} is null, but has {} x {} elements", name, x.rows, x.cols));
  }
  const auto needed = std::max<std::uintptr_t>(x.alignment, size_of(dtype));  // powers of two
  if ((reinterpret_cast<std::uintptr_t>(data) & (needed - 1)) != 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("gemm: {} is at address {}, which must be a multiple of {}", name, data,
                            needed));
  }
}

}  // namespace

Plan::Plan(const GemmDesc& desc, const GemmOptions& options)
    : desc_(desc), requested_(options.kernel) {
  const Canonical canonical = canonicalise(desc, options);
  problem_ = canonical.problem;
  swapped_ = canonical.swapped;
  device_ = &find_device(desc);
  if (desc.space == Space::kCuda) desc_.device = device_->index;  // for the log, when it was -1
  threads_ = desc.space == Space::kHost ? resolve_threads(options.threads) : 1;
  kernel_ = &registry().choose(problem_, *device_, options.kernel);
  if (kernel_->workspace_bytes && problem_.m > 0 && problem_.n > 0 && problem_.k > 0 &&
      problem_.batch > 0) {
    workspace_bytes_ = kernel_->workspace_bytes(problem_, *device_, threads_);
  }
}

const std::string& Plan::kernel() const { return kernel_->name; }

Explanation Plan::explain() const { return registry().explain(problem_, *device_, requested_); }

void Plan::run(double alpha, const void* a, const void* b, double beta, void* c, void* workspace,
               std::size_t workspace_bytes, void* stream) const {
  const Problem& p = problem_;
  if (p.m == 0 || p.n == 0 || p.batch == 0) return;
  if (p.dtype == DType::kF32) {
    alpha = round_to_f32(alpha);
    beta = round_to_f32(beta);
  }
  const bool product = p.k > 0 && alpha != 0;
  check_pointer("C", c, desc_.c, p.dtype);
  if (product) {
    check_pointer("A", a, desc_.a, p.input_dtype());
    check_pointer("B", b, desc_.b, p.input_dtype());
    refuse_aliases(desc_, a, b, c);
    if (workspace_bytes_ > 0 && (workspace == nullptr || workspace_bytes < workspace_bytes_ ||
                                 reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0)) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("gemm: workspace {} of {} bytes: kernel {} needs {} bytes at a "
                              "multiple of 256",
                              workspace, workspace_bytes, kernel(), workspace_bytes_));
    }
  }
  log_call(*this, desc_, alpha, beta);

  if (p.space == Space::kHost) {
    if (!product) return scale_host(p, beta, c);
    kernel_->launch(p, {alpha, beta, swapped_ ? b : a, swapped_ ? a : b, c},
                    {*device_, threads_, nullptr, workspace, workspace_bytes});
    return;
  }
  const cuda::DeviceGuard guard(device_->index);
  if (!product) return cuda::scale(p, beta, c, stream);
  kernel_->launch(p, {alpha, beta, swapped_ ? b : a, swapped_ ? a : b, c},
                  {*device_, threads_, stream, workspace, workspace_bytes});
}

}  // namespace tessera
