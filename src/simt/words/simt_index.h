// dim3 and the four indices of a thread.
#pragma once

#include "simt_base.h"

// Fixed for the life of a thread, so the compiler may keep a value across barriers; read by a
// function without hooks, because no access of the program is behind it.
extern "C" {
extern __thread const unsigned SIMT_TLS simt_thread_index[3] __asm__("threadIdx");
extern __thread const unsigned SIMT_TLS simt_block_index[3] __asm__("blockIdx");
extern __thread const unsigned SIMT_TLS simt_block_size[3] __asm__("simt_block_dim");
extern __thread const unsigned SIMT_TLS simt_grid_size[3] __asm__("simt_grid_dim");
}
#define SIMT_INDEX_READER(name)                                                                \
  static __attribute__((noinline, const, unused, no_sanitize("thread"))) unsigned name##_read( \
      int dimension) {                                                                         \
    return name[dimension];                                                                    \
  }
SIMT_INDEX_READER(simt_thread_index)
SIMT_INDEX_READER(simt_block_index)
SIMT_INDEX_READER(simt_block_size)
SIMT_INDEX_READER(simt_grid_size)
#undef SIMT_INDEX_READER

struct dim3;
// An object without storage whose members x, y and z are calls.
#define SIMT_INDEX(Type, name, Value)                              \
  struct Type {                                                    \
    SIMT_INLINE unsigned read_x() const { return name##_read(0); } \
    SIMT_INLINE unsigned read_y() const { return name##_read(1); } \
    SIMT_INLINE unsigned read_z() const { return name##_read(2); } \
    __declspec(property(get = read_x)) unsigned x;                 \
    __declspec(property(get = read_y)) unsigned y;                 \
    __declspec(property(get = read_z)) unsigned z;                 \
    operator Value() const;                                        \
  };
SIMT_INDEX(simt_thread_idx_type, simt_thread_index, uint3)
SIMT_INDEX(simt_block_idx_type, simt_block_index, uint3)
SIMT_INDEX(simt_block_dim_type, simt_block_size, dim3)
SIMT_INDEX(simt_grid_dim_type, simt_grid_size, dim3)
#undef SIMT_INDEX

struct dim3 {
  unsigned x, y, z;
  SIMT_INLINE constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1)
      : x(x_), y(y_), z(z_) {}
  SIMT_INLINE constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  SIMT_INLINE dim3(simt_thread_idx_type v) : x(v.x), y(v.y), z(v.z) {}
  SIMT_INLINE dim3(simt_block_idx_type v) : x(v.x), y(v.y), z(v.z) {}
  SIMT_INLINE constexpr operator uint3() const { return {x, y, z}; }
  SIMT_INLINE constexpr operator simt_dim3() const { return {x, y, z}; }
};

SIMT_INLINE simt_thread_idx_type::operator uint3() const { return {x, y, z}; }
SIMT_INLINE simt_block_idx_type::operator uint3() const { return {x, y, z}; }
SIMT_INLINE simt_block_dim_type::operator dim3() const { return {x, y, z}; }
SIMT_INLINE simt_grid_dim_type::operator dim3() const { return {x, y, z}; }

static constexpr simt_thread_idx_type threadIdx{};
static constexpr simt_block_idx_type blockIdx{};
static constexpr simt_block_dim_type blockDim{};
static constexpr simt_grid_dim_type gridDim{};
static constexpr int warpSize = 32;
