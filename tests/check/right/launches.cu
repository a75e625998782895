// Launches of every kind: by address, with NULL, of one name in two namespaces, of what a macro
// defines, with functors, and again and again.
// check:
#include <cstdio>
#include <cstdlib>

namespace first {
__global__ void add(float* p, int n) {
  if (threadIdx.x < n) p[threadIdx.x] += 1;
}
void launch(float* p) { add<<<1, 32>>>(p, 32); }
}  // namespace first
namespace second {
template <class T>
__global__ void add(T* p, T* copy, int n = 16) {
  if (threadIdx.x < n) p[threadIdx.x] += 10;
  if (copy != nullptr) copy[threadIdx.x] = p[threadIdx.x];
}
void launch(float* p) { add<float><<<1, 32>>>(p, NULL); }
}  // namespace second
namespace {
__global__ void add_hidden(float* p) { p[threadIdx.x] += 100; }
}  // namespace
#define DEFINE(name, op) \
  __global__ void name(float* p) { p[threadIdx.x] = p[threadIdx.x] op 2; }
DEFINE(times_two, *)

struct Plus {
  float by;
  __device__ float operator()(float x) const { return x + by; }
};
template <class F, int kThreads = 32, typename T = float>
__global__ void apply(F f, T* p) {
  const auto one = [&](int i) { p[i] = f(p[i]); };
  if (threadIdx.x < kThreads) one(threadIdx.x);
}
__global__ void wait_a_while(float* p) {
  const clock_t start = clock();
  while (clock() - start < 100000) {
  }
  p[threadIdx.x] += 1000;
}
__global__ void halve(const float* from, float* to) { to[threadIdx.x] = from[threadIdx.x] / 2; }

int main() {
  float *p, *half;
  cudaMalloc(&p, 32 * sizeof(float));
  cudaMalloc(&half, 32 * sizeof(float));
  cudaMemset(p, 0, 32 * sizeof(float));
  first::launch(p);
  second::launch(p);
  const void* kernel = (const void*)add_hidden;
  void* arguments[] = {&p};
  cudaLaunchKernel(kernel, dim3(1), dim3(32), arguments, 0, NULL);
  times_two<<<1, 32, 0, NULL>>>(p);
  apply<<<1, 32>>>(Plus{0.5f}, p);
  apply<Plus, 8><<<1, 32>>>(Plus{0.25f}, p);
  wait_a_while<<<1, 32>>>(p);
  for (int i = 0; i < 100; ++i) halve<<<1, 32>>>(p, half);
  float result[32], halves[32];
  cudaMemcpy(result, p, sizeof result, cudaMemcpyDeviceToHost);
  cudaMemcpy(halves, half, sizeof halves, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) {
    float wanted = (1 + (i < 16 ? 10 : 0) + 100) * 2 + 0.5f + (i < 8 ? 0.25f : 0) + 1000;
    if (result[i] == wanted && halves[i] == wanted / 2) continue;
    printf("%d: %g, not %g\n", i, result[i], wanted);
    abort();
  }
}
