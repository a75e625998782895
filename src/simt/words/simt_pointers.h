// Loads and stores with cache hints, and questions about pointers.
#pragma once

#include "simt_base.h"

#define SIMT_LOAD(name)                    \
  template <class T>                       \
  SIMT_INLINE T name(const T* g_address) { \
    return *g_address;                     \
  }
#define SIMT_STORE(name)                                               \
  template <class T>                                                   \
  SIMT_INLINE void name(T* g_address, typename simt_same<T>::type v) { \
    *g_address = v;                                                    \
  }
template <class T>
struct simt_same {
  typedef T type;
};
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldcv)
SIMT_LOAD(__ldlu)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwb)
SIMT_STORE(__stwt)
#undef SIMT_LOAD
#undef SIMT_STORE

SIMT_INLINE size_t __cvta_generic_to_shared(const void* p) { return simt_shared_offset(p); }
SIMT_INLINE void* __cvta_shared_to_generic(size_t offset) { return simt_shared_pointer(offset); }
SIMT_INLINE size_t __cvta_generic_to_global(const void* p) { return (size_t)p; }
SIMT_INLINE void* __cvta_global_to_generic(size_t p) { return (void*)p; }
SIMT_INLINE unsigned __isShared(const void* p) { return simt_is_shared(p) != 0; }
SIMT_INLINE unsigned __isGlobal(const void* p) { return simt_is_global(p) != 0; }
SIMT_INLINE unsigned __isLocal(const void* p) { return !simt_is_shared(p) && !simt_is_global(p); }
SIMT_INLINE unsigned __isConstant(const void*) { return 0; }
