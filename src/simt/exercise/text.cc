// The files of the exercise.
#include "simt/exercise/exercise.h"

namespace tessera::simt {
namespace {

constexpr char kSource[] = R"exercise(// Tessera exercise: tiled matrix product
//
// C = A * B; A is M x K, B is K x N, C is M x N, all row-major. Each block of kTile x kTile threads
// computes one tile of C, one element a thread. Fill in the four blanks between their marker lines,
// leave the marker lines as they are, and run
//
//   tessera check tiled.cu
//
// README.md explains the kernel.
#include <cuda_runtime.h>

constexpr int kTile = 16;

__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float s_a[kTile][kTile];
  __shared__ float s_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx;

  float sum = 0.0f;
  for (int t = 0; t < (K + kTile - 1) / kTile; ++t) {
    // >>> blank 1
    /* BLANK 1: load. Store one element of A to s_a[ty][tx] and one of B to s_b[ty][tx]. In step t
       the tiles start at column t * kTile of A and at row t * kTile of B. Outside of its matrix,
       each of the two is 0. */
    // <<< blank 1

    // >>> blank 2
    /* BLANK 2: barrier. Every element of the tiles is stored before any thread reads one. */
    // <<< blank 2

    // >>> blank 3
    /* BLANK 3: accumulate. Add to sum the kTile products of row ty of s_a and column tx of s_b. */
    // <<< blank 3

    // >>> blank 4
    /* BLANK 4: barrier. Every thread is done reading before any thread stores the next tiles. */
    // <<< blank 4
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int K, int N) {
  const dim3 block(kTile, kTile);
  const dim3 grid((N + kTile - 1) / kTile, (M + kTile - 1) / kTile);
  tiled<<<grid, block>>>(A, B, C, M, N, K);
}
)exercise";

constexpr char kEnglish[] = R"exercise(# A tiled matrix product, with four blanks

English | [中文](README.zh-CN.md)

`tiled.cu` computes C = A * B on a GPU: A is M x K, B is K x N, C is M x N, row-major.
Its heart, the loop over K, is left to you. A GPU is not needed:

```
tessera check tiled.cu
```

runs your kernel on the CPU, thread by thread, at several sizes, and says of each blank whether it is
right, and if not, what follows from it. Keep the lines `// >>> blank 1` and `// <<< blank 1`: they
show where your answer begins and ends.

## Why tiles

One element of C needs a row of A and a column of B, 2K numbers. A thread that fetches them all from
global memory fetches what its neighbours fetch as well: the 16 x 16 threads of a block need only 16
rows and 16 columns between them. So the block loads a 16 x 16 tile of A and one of B into shared
memory, each thread one element of each, and every element is then used 16 times. The next step takes
the next tile along K.

```
for each tile along K:
    1  load        each thread stores one element of A and one of B to shared memory
    2  barrier
    3  accumulate  each thread adds 16 products to its sum
    4  barrier
```

## Why two barriers

The threads of a block do not run in step. `__syncthreads()` makes each wait until all have come.

- **The first barrier guards a read after a write.** In step 3 a thread reads elements that other
  threads stored. Without the barrier it may read one that is not there yet, and adds an old value.
- **The second barrier guards a write after a read.** In the next turn of the loop, step 1 stores over
  the tiles. Without the barrier a fast thread overwrites an element that a slow one has still to read.

A kernel that lacks one of them may well print the right numbers, today and on your GPU. It is wrong
nevertheless, and the check says so: it looks at which accesses have a barrier between them, not at
the result.

Every thread of the block must reach a barrier. A thread whose row or column lies outside of C has no
element to compute, but it does load for the others, so it must not return early.

## Why each load has its own guard

M, N and K need not be multiples of 16. An element of A is inside if its row is below M *and its
column is below K*; one of B, if its row is below *K* and its column is below N. Outside, store 0: it
adds nothing to the sum. The guard of C (`row < M && col < N`) will not do for the loads. It tests
neither bound in K, and it keeps threads beyond the edge of C from loading what others need. In memory
the row of A after column K - 1 goes on with the next row, so a missing guard reads numbers that look
sound, from inside the array.

## What the check tells you

- each blank: right, missing or wrong, with the hazard or the fault that follows, and its lines;
- each size: whether it works. If 64 works and 65 does not, look at the guards.

When all is right, try `kTile` 8 and 32, and compare: `tessera ladder` shows what comes next.
)exercise";

constexpr char kChinese[] = R"exercise(# 分块矩阵乘法：四处填空

[English](README.md) | 中文

`tiled.cu` 在 GPU 上计算 C = A * B：A 是 M x K，B 是 K x N，C 是 M x N，都按行存储。
其中的核心，也就是沿 K 的循环，留给你来写。不需要 GPU：

```
tessera check tiled.cu
```

这条命令在 CPU 上逐个线程地运行你的内核，试几种尺寸，并对每一处填空说明是否正确；不正确时，说明会引出什么问题。
请保留 `// >>> blank 1` 和 `// <<< blank 1` 这样的标记行，它们标明你的答案从哪里开始、到哪里结束。

## 为什么分块

C 的一个元素需要 A 的一行和 B 的一列，共 2K 个数。如果每个线程都从全局内存读取这些数，就会和相邻线程重复读取：
一个线程块有 16 x 16 个线程，合起来其实只需要 16 行和 16 列。因此线程块把 A 和 B 各一个 16 x 16 的块读入共享内存，
每个线程各读一个元素，之后每个元素被使用 16 次。下一步再沿 K 取下一个块。

```
沿 K 的每一个块：
    1  加载    每个线程把 A 的一个元素和 B 的一个元素存入共享内存
    2  屏障
    3  累加    每个线程把 16 个乘积加到自己的和上
    4  屏障
```

## 为什么要两道屏障

同一线程块中的线程并不同步前进。`__syncthreads()` 让每个线程等到全部线程都到达为止。

- **第一道屏障防止“写后读”冲突。** 第 3 步中，线程读取的元素是别的线程存入的。没有这道屏障，读到的可能是尚未写入的位置，
  加上去的就是旧值。
- **第二道屏障防止“读后写”冲突。** 循环的下一轮，第 1 步会覆盖这两个块。没有这道屏障，快的线程会覆盖慢的线程还没有读的元素。

缺少其中一道屏障的内核，今天在你的 GPU 上很可能仍然输出正确的数字，但它依然是错的，检查会指出这一点：
检查看的是哪些访问之间有屏障，而不是结果。

线程块中的每个线程都必须到达屏障。行或列超出 C 的线程没有要计算的元素，但它要替别的线程加载数据，所以不能提前返回。

## 为什么每次加载都要有自己的边界判断

M、N、K 不一定是 16 的倍数。A 的元素在范围内，当且仅当行小于 M *并且列小于 K*；B 的元素则是行小于 *K* 并且列小于 N。
超出范围时存入 0，它对和没有影响。C 的判断（`row < M && col < N`）不能用于加载：它没有检查 K 的边界，
还会使 C 边缘之外的线程不去加载别的线程所需要的数据。在内存里，A 的一行在第 K - 1 列之后紧接着就是下一行，
所以缺少判断时读到的数看起来很正常，而且就在数组之内。

## 检查会告诉你什么

- 每一处填空：正确、缺失还是错误，由此产生的冲突或错误，以及所在的行；
- 每一种尺寸：是否可行。如果 64 可行而 65 不行，请看边界判断。

全部正确之后，把 `kTile` 改成 8 和 32 比较一下；`tessera ladder` 展示接下来的优化。
)exercise";

}  // namespace

const std::vector<ExerciseFile>& exercise_files() {
  static const std::vector<ExerciseFile> kFiles = {
      {"tiled.cu", kSource}, {"README.md", kEnglish}, {"README.zh-CN.md", kChinese}};
  return kFiles;
}

}  // namespace tessera::simt
