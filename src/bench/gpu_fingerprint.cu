// A checksum at memory speed: words are mixed with their place and added up, in any order.
#include "bench/gpu.h"
#include "core/backend.h"
#include "cuda/check.h"

namespace tessera::bench::gpu {
namespace {

/// The finaliser of splitmix64 (G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number
/// Generators, 2014): a bijection in which every input bit reaches every output bit.
__device__ std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

__global__ void add_up(const ulonglong2* g_words, std::size_t count, unsigned long long* g_sum) {
  std::uint64_t sum = 0;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const ulonglong2 two = g_words[i];
    sum += mix(mix(two.x + 2 * i) ^ two.y);
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0U, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(g_sum, sum);
}

}  // namespace

std::uint64_t fingerprint(const void* p, std::size_t bytes, void* stream) {
  const auto cuda_stream = static_cast<cudaStream_t>(stream);
  void* const sum = cuda::allocate_on(stream, sizeof(std::uint64_t));
  const struct Release {
    void* stream;
    void* p;
    ~Release() { cuda::release_on(stream, p); }
  } release{stream, sum};
  TESSERA_CUDA_CHECK(cudaMemsetAsync(sum, 0, sizeof(std::uint64_t), cuda_stream));
  add_up<<<1024, 256, 0, cuda_stream>>>(static_cast<const ulonglong2*>(p), bytes / 16,
                                        static_cast<unsigned long long*>(sum));
  TESSERA_CUDA_CHECK(cudaGetLastError());
  std::uint64_t host = 0;
  TESSERA_CUDA_CHECK(cudaMemcpyAsync(&host, sum, sizeof host, cudaMemcpyDeviceToHost, cuda_stream));
  TESSERA_CUDA_CHECK(cudaStreamSynchronize(cuda_stream));
  return host;
}

}  // namespace tessera::bench::gpu
