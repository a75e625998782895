// Graphs, versions and memory of the current GPU, for measuring. What a graph holds is told by
// gpu_launches.cu, how fast the device is by gpu_peaks.cu.
#include "bench/gpu.h"

#include <cuda_runtime_api.h>

#include "bench/clocks.h"
#include "core/backend.h"
#include "cuda/check.h"

namespace tessera::bench::gpu {
namespace {

cudaStream_t as_stream(void* stream) { return static_cast<cudaStream_t>(stream); }
cudaGraph_t as_graph(void* graph) { return static_cast<cudaGraph_t>(graph); }
cudaGraphExec_t as_executable(void* executable) { return static_cast<cudaGraphExec_t>(executable); }

/// Takes the stream out of a capture that failed, and the thread's last error with it, so that the
/// next to look does not take it for its own.
void abandon_capture(cudaStream_t stream) noexcept {
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();
}

/// "13.0" of 13000.
std::string version_text(int version) {
  if (version <= 0) return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

Graph::Graph(void* stream, const std::function<void()>& enqueue) {
  // Thread-local: what other threads do meanwhile can neither spoil the capture nor be refused.
  TESSERA_CUDA_CHECK(cudaStreamBeginCapture(as_stream(stream), cudaStreamCaptureModeThreadLocal));
  try {
    enqueue();
  } catch (...) {
    abandon_capture(as_stream(stream));
    throw;
  }
  cudaGraph_t graph = nullptr;
  TESSERA_CUDA_CHECK(cudaStreamEndCapture(as_stream(stream), &graph));
  cudaGraphExec_t executable = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&executable, graph, 0);
  if (error != cudaSuccess) {
    cudaGraphDestroy(graph);
    cuda::fail(error, "cudaGraphInstantiate");
  }
  graph_ = graph;
  executable_ = executable;
}

Graph::~Graph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(as_executable(executable_));
  if (graph_ != nullptr) cudaGraphDestroy(as_graph(graph_));
}

void Graph::launch(void* stream) {
  TESSERA_CUDA_CHECK(cudaGraphLaunch(as_executable(executable_), as_stream(stream)));
}

Versions versions() {
  int driver = 0, runtime = 0;
  TESSERA_CUDA_CHECK(cudaDriverGetVersion(&driver));
  TESSERA_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  return {ClockWatch(cuda::current_device()).driver_version(), version_text(driver),
          version_text(runtime)};
}

std::string pci_bus_id(int index) {
  char text[32] = {};
  TESSERA_CUDA_CHECK(cudaDeviceGetPCIBusId(text, sizeof text, index));
  return text;
}

bool is_debug_code() {
#ifdef __CUDACC_DEBUG__
  return true;
#else
  return false;
#endif
}

void fill(void* p, std::uint8_t value, std::size_t bytes, void* stream) {
  TESSERA_CUDA_CHECK(cudaMemsetAsync(p, value, bytes, as_stream(stream)));
}

}  // namespace tessera::bench::gpu
