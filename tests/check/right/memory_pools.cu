// Stream-ordered memory from the device's pool, and a kernel's argument that is NULL.
#include <cstdio>
#include <cstdlib>
#define CHECK(call)                                                   \
  do {                                                                \
    const cudaError_t error = (call);                                 \
    if (error != cudaSuccess) {                                       \
      std::printf("%s: %s\n", #call, cudaGetErrorString(error));      \
      std::exit(1);                                                   \
    }                                                                 \
  } while (0)

template <class T>
__global__ void axpy(const T* x, T* y, const T* bias, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i] + (bias != nullptr ? bias[i] : T(0));
}

__global__ void add(float* y, const float* more, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && more) y[i] += more[i];
}

int main() {
  const int n = 300;
  cudaMemPool_t pool;
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long threshold = ~0ULL;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  float host[n];
  for (int i = 0; i < n; ++i) host[i] = i;
  float *x = nullptr, *y = nullptr;
  CHECK(cudaMallocAsync(&x, sizeof host, stream));
  CHECK(cudaMallocFromPoolAsync((void**)&y, sizeof host, pool, stream));
  CHECK(cudaMemcpyAsync(x, host, sizeof host, cudaMemcpyHostToDevice, stream));
  axpy<float><<<(n + 127) / 128, 128, 0, stream>>>(x, y, NULL, n);
  add<<<(n + 127) / 128, 128, 0, stream>>>(y, NULL, n);
  CHECK(cudaMemcpyAsync(host, y, sizeof host, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaFreeAsync(x, stream));
  CHECK(cudaFreeAsync(y, stream));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaMemPoolTrimTo(pool, 0));
  for (int i = 0; i < n; ++i) {
    if (host[i] != 2 * i) return 1;
  }
  return 0;
}
