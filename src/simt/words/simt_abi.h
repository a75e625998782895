// The words between a checked program and the executor: what <cuda_runtime.h> of this folder calls,
// and src/simt/run implements. Plain C, so that nothing of the C++ library crosses the border.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct uint3 {
  unsigned x, y, z;
};
struct simt_dim3 {
  unsigned x, y, z;
};

extern "C" {

// --- who am I. Fixed for the life of a thread.
// The executor is the program itself, so these lie in its static TLS block.
#define SIMT_TLS __attribute__((tls_model("initial-exec")))
#if !defined(SIMT_EXECUTOR) && !defined(SIMT_WORDS)
extern __thread const uint3 SIMT_TLS threadIdx;
extern __thread const uint3 SIMT_TLS blockIdx;
extern __thread const simt_dim3 SIMT_TLS simt_block_dim;
extern __thread const simt_dim3 SIMT_TLS simt_grid_dim;
#endif
unsigned simt_lane();  // of the warp

// --- barriers and warps
void simt_barrier();                    // __syncthreads
int simt_barrier_count(int predicate);  // __syncthreads_count
void simt_syncwarp(unsigned mask);
// Every lane of `mask` gives a value and gets those of all (index: lane); returns the lanes that
// took part. All warp-wide functions are made of it. It orders no memory.
unsigned simt_warp_gather(unsigned mask, uint64_t value, uint64_t all[32]);
unsigned simt_active_mask();
void simt_fence(int scope);  // 0 block, 1 device, 2 system

// --- atomics: returns the old value. Operands and results in the low bits.
enum simt_atomic_op {
  SIMT_ADD,
  SIMT_SUB,
  SIMT_EXCHANGE,
  SIMT_MIN,
  SIMT_MAX,
  SIMT_INC,
  SIMT_DEC,
  SIMT_CAS,
  SIMT_AND,
  SIMT_OR,
  SIMT_XOR
};
enum simt_atomic_type {
  SIMT_I32,
  SIMT_U32,
  SIMT_I64,
  SIMT_U64,
  SIMT_F32,
  SIMT_F64,
  SIMT_U16,
  SIMT_F16,
  SIMT_BF16,
  SIMT_F16X2,
  SIMT_BF16X2
};
uint64_t simt_atomic(int op, int type, void* p, uint64_t operand, uint64_t compare);

// --- shared memory. `__shared__ float As[16][17];` becomes a reference into the block's arena.
struct simt_shared_array {
  const char* name;
  const char* file;
  int line;
  size_t bytes, alignment, element_bytes;
  size_t extents[4];  // 0 behind the last
  uint64_t slot;      // the executor's
};
void* simt_shared(simt_shared_array* array);
void* simt_dynamic_shared(const char* name, size_t element_bytes, int line);
uint64_t simt_shared_offset(const void* p);  // __cvta_generic_to_shared; fits 32 bits
void* simt_shared_pointer(uint64_t offset);  // and back
int simt_is_shared(const void* p);
int simt_is_global(const void* p);

// --- asynchronous copies from global to shared memory; source_bytes <= bytes, the rest is zero
void simt_copy_async(void* s_to, const void* g_from, unsigned bytes, unsigned source_bytes);
void simt_copy_commit();
void simt_copy_wait(unsigned pending);  // groups that may be unfinished

// --- launches
struct simt_kernel {  // one per __global__ function of the source, in a table
  const char* name;
  const char* file;
  int line;
  const char* template_parameters;  // "int BM, int BN", or empty
  const char* parameters;           // "const float* A, int n": types as written
};
struct simt_launch_site {
  const char* expression;  // "tiled<16>"
  const char* file;
  int line;
  const simt_kernel* kernel;  // null when the expression names none (a function pointer)
};
enum simt_argument_kind { SIMT_POINTER, SIMT_INTEGER, SIMT_REAL, SIMT_OTHER };
struct simt_argument {
  int kind;
  const void* pointer;  // or where a value of another kind lies, of element_bytes
  long long integer;
  double real;
  size_t element_bytes;  // of what a pointer points to
  char element;          // f float, d double, h half, b bfloat16, i signed, u unsigned, ? other
  bool is_const;         // a pointer to const
};
struct simt_launch {
  const simt_launch_site* site;
  const void* function;  // its address; null when it has none before its types are deduced
  simt_dim3 grid, block;
  size_t dynamic_shared_bytes;
  void* stream;
  void (*body)(void* context);  // one thread of the kernel
  void* context;
  size_t context_bytes;  // the arguments lie in it, on the host's side
  const simt_argument* arguments;
  int argument_count;
};
int simt_launch_kernel(const simt_launch* launch);                   // a cudaError_t
void simt_launch_bounds(unsigned max_threads, unsigned min_blocks);  // first words of a kernel
void simt_allow_dynamic_shared(const void* function, size_t bytes);
void simt_describe_kernel(const void* function, size_t* static_shared_bytes, int* max_threads);

// --- memory of the device
enum simt_memory { SIMT_DEVICE, SIMT_MANAGED, SIMT_PINNED };
int simt_allocate(void** p, size_t bytes, int memory);  // a cudaError_t
int simt_release(void* p);
int simt_copy(void* to, const void* from, size_t bytes, int kind);  // kind: cudaMemcpyKind
int simt_copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                 size_t rows, int kind);
int simt_set(void* to, int value, size_t bytes);
size_t simt_free_bytes();

int simt_last_error(bool clear);
void simt_set_error(int error);

// What a program asks for and the executor cannot do; ends the run with a message.
[[noreturn]] void simt_unsupported(const char* what);
}
