// What measuring needs of a GPU and the library's own seam (core/backend.h) does not have: graphs,
// peaks, versions. Implemented by gpu*.cu, or by no_gpu.cc in a build without CUDA, where every
// function throws Error(kNoDevice). All work is on the current device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::bench::gpu {

/// One kernel launch inside a graph, with what it occupies.
struct Launch {
  std::string function;  ///< demangled where possible; empty for drivers before CUDA 12.3
  int grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  int registers = 0;              ///< of a thread
  std::int64_t local_bytes = 0;   ///< of a thread: spills and local arrays
  std::int64_t shared_bytes = 0;  ///< of a block, static and dynamic
  int blocks_per_sm = 0;          ///< that can be resident at once
  double occupancy = 0;           ///< resident warps over those a multiprocessor can hold
};

/// Work captured once, replayed many times.
class Graph {
 public:
  /// Captures what `enqueue` puts on `stream` (not the default one). Throws Error(kDeviceFailure)
  /// when something in it cannot be captured; the stream is usable afterwards.
  Graph(void* stream, const std::function<void()>& enqueue);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(void* stream);
  /// Kernels of the graph, in the order of capture.
  std::vector<Launch> launches() const;

 private:
  [[maybe_unused]] void* graph_ = nullptr;  // no_gpu.cc has no use for them
  [[maybe_unused]] void* executable_ = nullptr;
};

/// Ceilings of the current device, each the best of a few runs; about a second in all.
struct Peaks {
  double fma_gflops = 0;            ///< independent FP32 multiply-adds in registers
  double fma_f64_gflops = 0;        ///< the same in FP64
  double outer_product_gflops = 0;  ///< FP32, 16 x 8 results a thread, operands from shared memory
  double shared_gbps = 0;   ///< all multiprocessors together, 16-byte reads without conflicts
  double l2_read_gbps = 0;  ///< reads that L2 serves
  double memory_gbps = 0;   ///< copy, bytes read plus bytes written
};
Peaks measure_peaks();

/// Cycles from one load to the next that needs its result, nothing else running.
struct Latencies {
  double shared_cycles = 0, l2_cycles = 0, memory_cycles = 0;
};
Latencies measure_latencies();

/// "580.159.04", "13.0", "13.0"; empty where unknown.
struct Versions {
  std::string driver, cuda_driver, cuda_runtime;
};
Versions versions();

/// "0000:1b:00.0" of the CUDA device `index`: the name that other interfaces know it by.
std::string pci_bus_id(int index);

/// Whether the device code was compiled for a debugger (nvcc -G): then no time means anything.
bool is_debug_code();

/// Sets bytes on the stream.
void fill(void* p, std::uint8_t value, std::size_t bytes, void* stream);
/// A number that every change of a byte changes, in all likelihood; waits for the stream. p is a
/// multiple of 16 bytes, as `bytes` is.
std::uint64_t fingerprint(const void* p, std::size_t bytes, void* stream);

}  // namespace tessera::bench::gpu
