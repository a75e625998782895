// As much of the executor as calls of single words need: one warp of 32 threads, memory from
// malloc.
#pragma once

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "simt_base.h"

struct Call {
  int op = -1, type = -1;
  uint64_t operand = 0, compare = 0;
};
inline Call last_atomic;
inline int last_error = 0;
inline size_t allowed_dynamic = 0;

inline thread_local unsigned lane_of_thread;
inline uint64_t warp_values[32];
inline unsigned warp_mask;
inline std::barrier<> warp_barrier(32);

// Runs `body` in 32 threads, all of which must call the same words.
template <class Body>
void run_warp(Body body) {
  std::vector<std::thread> lanes;
  for (unsigned lane = 0; lane < 32; ++lane) {
    lanes.emplace_back([=] {
      lane_of_thread = lane;
      body(int(lane));
    });
  }
  for (std::thread& lane : lanes) lane.join();
}

extern "C" {
thread_local unsigned index_of_thread[3] __asm__("threadIdx") = {5, 6, 7};
thread_local unsigned index_of_block[3] __asm__("blockIdx") = {1, 2, 3};
thread_local unsigned simt_block_dim[3] = {32, 8, 1};
thread_local unsigned simt_grid_dim[3] = {9, 10, 11};
unsigned simt_lane() { return lane_of_thread; }
unsigned simt_active_mask() { return ~0u; }
void simt_barrier() {}
int simt_barrier_count(int predicate) { return predicate; }
void simt_syncwarp(unsigned) {}
void simt_fence(int) {}
unsigned simt_warp_gather(unsigned mask, uint64_t value, uint64_t all[32]) {
  warp_values[lane_of_thread] = value;
  warp_barrier.arrive_and_wait();
  memcpy(all, warp_values, sizeof(warp_values));
  warp_barrier.arrive_and_wait();
  return mask;
}
uint64_t simt_atomic(int op, int type, void* p, uint64_t operand, uint64_t compare) {
  last_atomic = {op, type, operand, compare};
  uint64_t old = 0;
  memcpy(&old, p, type == SIMT_U64 || type == SIMT_I64 || type == SIMT_F64 ? 8 : 2);
  return old;
}
uint64_t simt_shared_offset(const void* p) { return (uint64_t)p; }
void* simt_shared_pointer(uint64_t offset) { return (void*)offset; }
int simt_is_shared(const void*) { return 0; }
int simt_is_global(const void*) { return 0; }
void simt_copy_async(void*, const void*, unsigned, unsigned) {}
void simt_copy_commit() {}
void simt_copy_wait(unsigned) {}
void simt_allow_dynamic_shared(const void*, size_t bytes) { allowed_dynamic = bytes; }
void simt_describe_kernel(const void*, size_t* static_bytes, int* max_threads) {
  *static_bytes = 16 << 10;
  *max_threads = 1024;
}
int simt_allocate(void** p, size_t bytes, int) {
  *p = malloc(bytes);
  return 0;
}
int simt_release(void* p) {
  free(p);
  return 0;
}
int simt_copy(void* to, const void* from, size_t bytes, int) {
  memcpy(to, from, bytes);
  return 0;
}
int simt_copy_2d(void*, size_t, const void*, size_t, size_t, size_t, int) { return 0; }
int simt_set(void* to, int value, size_t bytes) {
  memset(to, value, bytes);
  return 0;
}
size_t simt_free_bytes() { return 1 << 30; }
int simt_last_error(bool clear) {
  const int error = last_error;
  if (clear) last_error = 0;
  return error;
}
void simt_set_error(int error) { last_error = error; }
[[noreturn]] void simt_unsupported(const char* what) {
  printf("unsupported: %s\n", what);
  exit(3);
}
}

inline int failures = 0;
#define CHECK(condition)                             \
  do {                                               \
    if (!(condition) && ++failures < 20) {           \
      printf("line %d: %s\n", __LINE__, #condition); \
    }                                                \
  } while (false)
