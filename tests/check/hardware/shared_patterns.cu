// Patterns of shared-memory accesses, one launch of one warp each, to compare the checker's
// wavefronts with those that a profiler counts:
//
//   tessera check shared_patterns.cu --json
//   ncu --csv --metrics ... ./shared_patterns
//
// Lane i touches the vector index[i]; sixteen accesses in a row, each one vector further where the
// pattern moves.
#include <cuda_runtime.h>

#include <cstdio>
#include <utility>

constexpr int kAccesses = 16, kWords = 4096, kPatterns = 16;

/// Which vector of `words` 4-byte words lane `lane` touches.
__host__ __device__ constexpr int vector_of(int pattern, int lane, int words) {
  switch (pattern) {
    case 0: return lane;                      // neighbours
    case 1: return 0;                         // all the same
    case 2: return lane / 16;                 // two, by half warp
    case 3: return lane % 2;                  // two, alternating
    case 4: return lane / 8;                  // four, by quarter
    case 5: return lane % 4;                  // four, alternating
    case 6: return lane % 8;                  // eight, the same in each quarter
    case 7: return lane / 4;                  // eight, two a quarter
    case 8: return lane % 16;                 // sixteen, the same in each half
    case 9: return lane / 2;                  // sixteen, pairs
    case 10: return 2 * lane;                 // every second
    case 11: return 8 * lane;                 // every eighth
    case 12: return 32 * lane / words;        // one bank each
    case 13: return lane * (32 + words) / words;  // rows of 32 words with one vector of padding
    case 14: return lane / 16 * (20 / words) + lane % 16;  // two rows, 20 words apart
    default: return lane * 5 % 32;            // neighbours, shuffled
  }
}

template <class V, int kPattern>
__global__ void pattern(const int* index, float* out) {
  __shared__ __align__(16) float s[kWords];
  for (int i = threadIdx.x; i < kWords; i += 32) s[i] = float(i);
  __syncwarp();
  V* vectors = reinterpret_cast<V*>(s);
  const int mine = index[threadIdx.x];
  V v;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < kAccesses; ++i) {
    v = vectors[mine];
    for (int word = 0; word < sizeof(V) / 4; ++word) sum += reinterpret_cast<const float*>(&v)[word];
    __threadfence_block();  // so that the next turn reads again
  }
  __syncwarp();
  out[threadIdx.x] = sum + s[threadIdx.x];
}

template <class V, int kPattern>
void launch(int* index, float* out) {
  int host[32];
  for (int lane = 0; lane < 32; ++lane) host[lane] = vector_of(kPattern, lane, sizeof(V) / 4);
  cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice);
  pattern<V, kPattern><<<1, 32>>>(index, out);
}

template <class V, int... kPattern>
void launch_all(int* index, float* out, std::integer_sequence<int, kPattern...>) {
  (launch<V, kPattern>(index, out), ...);
}

int main() {
  int* index;
  float* out;
  cudaMalloc(&index, 32 * sizeof(int));
  cudaMalloc(&out, 32 * sizeof(float));
  const auto patterns = std::make_integer_sequence<int, kPatterns>();
  launch_all<float>(index, out, patterns);
  launch_all<float2>(index, out, patterns);
  launch_all<float4>(index, out, patterns);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
