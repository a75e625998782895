// What the hardware takes: threads, grids and shared memory of a launch.
#include <fmt/format.h>

#include <algorithm>

#include "simt/run/session.h"

namespace tessera::simt {
namespace {

// cudaError_t
constexpr int kInvalidValue = 1, kInvalidConfiguration = 9, kOutOfResources = 701;

constexpr std::uint64_t kSharedWithoutAsking = 48 * 1024, kSharedMost = 227 * 1024;

std::uint64_t volume(const simt_dim3& d) { return std::uint64_t{d.x} * d.y * d.z; }

}  // namespace

int Session::refuse(const simt_launch& launch, int error, std::string message, std::string remedy) {
  Finding f;
  f.rule = rule::kLaunch;
  f.kernel = name_of(launch);
  f.place = place_of(launch);
  f.message = std::move(message);
  f.remedy = std::move(remedy);
  add(std::move(f));
  error_ = error;
  return error;
}

bool Session::check_configuration(const simt_launch& launch, int& error) {
  const simt_dim3 g = launch.grid, b = launch.block;
  const auto bad = [&](int code, std::string message, std::string remedy) {
    error = refuse(launch, code, std::move(message), std::move(remedy));
    return false;
  };
  if (volume(g) == 0) {
    return bad(kInvalidConfiguration,
               fmt::format("the grid ({},{},{}) is empty: nothing is computed", g.x, g.y, g.z),
               "round the number of blocks up: (n + T - 1) / T");
  }
  if (volume(b) == 0 || volume(b) > 1024) {
    return bad(kInvalidConfiguration,
               fmt::format("too many threads per block: ({},{},{}) are {}, and a block has 1 to "
                           "1024",
                           b.x, b.y, b.z, volume(b)),
               "make the block smaller; let each thread compute several elements instead");
  }
  if (b.z > 64) {
    return bad(kInvalidConfiguration, fmt::format("block.z is {}, and at most 64", b.z),
               "put the threads into x and y");
  }
  if (g.x > 0x7FFFFFFFU || g.y > 65535 || g.z > 65535) {
    return bad(kInvalidConfiguration,
               fmt::format("the grid is ({},{},{}); x goes to 2147483647, y and z to 65535", g.x,
                           g.y, g.z),
               "put the longer side of the matrix into x, or let blocks walk over several tiles");
  }
  const std::uint64_t allowed = allowed_shared(launch);
  if (launch.dynamic_shared_bytes > std::min(allowed, kSharedMost)) {
    return bad(kInvalidValue,
               fmt::format("too much shared memory: the launch asks for {} bytes, {} is the limit",
                           launch.dynamic_shared_bytes, std::min(allowed, kSharedMost)),
               launch.dynamic_shared_bytes > kSharedMost
                   ? "use smaller tiles: a block has at most 232448 bytes"
                   : "call cudaFuncSetAttribute(kernel, "
                     "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) first");
  }
  return true;
}

// What is known only when a block has run: the kernel's own arrays and __launch_bounds__.
bool Session::check_resources(const simt_launch& launch, const LaunchState& state, int& error) {
  const auto bad = [&](int code, std::string message, std::string remedy) {
    error = refuse(launch, code, std::move(message), std::move(remedy));
    return false;
  };
  if (state.max_threads != 0 && state.threads > state.max_threads) {
    return bad(kOutOfResources,
               fmt::format("the launch has {} threads per block, and the kernel's "
                           "__launch_bounds__ allow {}",
                           state.threads, state.max_threads.load()),
               "launch as many threads as __launch_bounds__ say, or change them");
  }
  if (state.static_bytes > kSharedWithoutAsking) {
    return bad(kInvalidValue,
               fmt::format("too much shared memory: the kernel's arrays take {} bytes, 49152 is "
                           "the limit for static ones",
                           state.static_bytes),
               "use smaller tiles, or dynamic shared memory with cudaFuncSetAttribute");
  }
  const std::uint64_t used = state.static_bytes + launch.dynamic_shared_bytes;
  const std::uint64_t limit = allowed_shared(launch);
  if (used > limit && state.static_bytes != 0) {
    return bad(kInvalidValue,
               fmt::format("too much shared memory: {} bytes of the kernel's arrays and {} of "
                           "the launch are {}, {} is the limit",
                           state.static_bytes, launch.dynamic_shared_bytes, used, limit),
               "call cudaFuncSetAttribute(kernel, "
               "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) first");
  }
  return true;
}

std::uint64_t Session::allowed_shared(const simt_launch& launch) const {
  const auto it = allowed_shared_.find(launch.function);
  const std::uint64_t asked = launch.function == nullptr    ? allowed_anywhere_
                              : it == allowed_shared_.end() ? 0
                                                            : it->second;
  return std::max<std::uint64_t>(asked, kSharedWithoutAsking);
}

void Session::launch_bounds(unsigned max_threads) {
  if (state_ == nullptr || max_threads == 0) return;
  state_->max_threads = max_threads;
  if (working != nullptr && state_->threads > max_threads) working->stop_thread();
}

void Session::allow_dynamic_shared(const void* function, std::size_t bytes) {
  allowed_anywhere_ = std::max(allowed_anywhere_, bytes);
  if (function != nullptr) allowed_shared_[function] = bytes;
}

}  // namespace tessera::simt
