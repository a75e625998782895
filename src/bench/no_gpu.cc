// Measuring a GPU in a build without CUDA: a clear word from everything.
#include "bench/gpu.h"
#include "tessera/error.h"
#include "tessera/kernel.h"

namespace tessera::bench::gpu {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::kNoDevice, "cuda: " + cuda_unavailable_reason());
}

}  // namespace

Graph::Graph(void*, const std::function<void()>&) { refuse(); }
Graph::~Graph() = default;
void Graph::launch(void*) { refuse(); }
std::vector<Launch> Graph::launches() const { refuse(); }
Peaks measure_peaks() { refuse(); }
Latencies measure_latencies() { refuse(); }
Versions versions() { refuse(); }
std::string pci_bus_id(int) { refuse(); }
std::uint64_t fingerprint(const void*, std::size_t, void*) { refuse(); }
bool is_debug_code() { return false; }
void fill(void*, std::uint8_t, std::size_t, void*) { refuse(); }

}  // namespace tessera::bench::gpu
