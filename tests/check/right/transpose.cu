// A padded tile turns a matrix, then a product reads it along rows.
// check:
#include <cuda_runtime.h>
#include <vector>
__global__ void turn(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
int main() {
  const int rows = 50, cols = 70;
  std::vector<float> in(rows * cols), out(rows * cols);
  for (int i = 0; i < rows * cols; ++i) in[i] = float(i);
  float *d_in, *d_out;
  cudaMalloc(&d_in, in.size() * 4);
  cudaMalloc(&d_out, in.size() * 4);
  cudaMemcpy(d_in, in.data(), in.size() * 4, cudaMemcpyHostToDevice);
  turn<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(d_in, d_out, rows, cols);
  cudaMemcpy(out.data(), d_out, out.size() * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      if (out[j * rows + i] != in[i * cols + j]) return 1;
  return 0;
}
