// Asynchronous copies of a thread, in C.
#pragma once

#include "cuda_runtime.h"

SIMT_INLINE void __pipeline_memcpy_async(void* s_to, const void* g_from, size_t bytes,
                                         size_t zero_fill = 0) {
  simt_copy_async(s_to, g_from, unsigned(bytes), unsigned(bytes - zero_fill));
}
SIMT_INLINE void __pipeline_commit() { simt_copy_commit(); }
SIMT_INLINE void __pipeline_wait_prior(size_t pending) { simt_copy_wait(unsigned(pending)); }
