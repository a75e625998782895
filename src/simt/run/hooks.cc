// What the instrumented program calls before each access to memory.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "simt/run/access.h"

using tessera::simt::watching;

namespace {

inline void access(const void* p, unsigned bytes, bool write, void* pc) {
  if (watching != nullptr) {
    watching->access(reinterpret_cast<std::uintptr_t>(p), bytes, write, pc);
  }
}

// Of any size: in pieces of 16 bytes, as a GPU would move them.
void access_range(const void* p, std::size_t bytes, bool write, void* pc) {
  if (watching == nullptr) return;
  auto at = reinterpret_cast<std::uintptr_t>(p);
  while (bytes != 0) {
    unsigned piece = 16;
    while (piece > bytes || at % piece != 0) piece /= 2;
    watching->access(at, piece, write, pc);
    at += piece;
    bytes -= piece;
  }
}

// What a copy of a whole object becomes: one access where it has the size of one.
void access_object(const void* p, std::size_t bytes, bool write, void* pc) {
  if (bytes <= 16 && (bytes & (bytes - 1)) == 0 && bytes != 0) {
    access(p, static_cast<unsigned>(bytes), write, pc);
  } else {
    access_range(p, bytes, write, pc);
  }
}

}  // namespace

#define CALLER __builtin_return_address(0)
#define HOOKS(n)                                                             \
  void simt_hook_read##n(void* p) { access(p, n, false, CALLER); }           \
  void simt_hook_write##n(void* p) { access(p, n, true, CALLER); }           \
  void simt_hook_unaligned_read##n(void* p) { access(p, n, false, CALLER); } \
  void simt_hook_unaligned_write##n(void* p) { access(p, n, true, CALLER); } \
  void simt_hook_volatile_read##n(void* p) { access(p, n, false, CALLER); }  \
  void simt_hook_volatile_write##n(void* p) { access(p, n, true, CALLER); }  \
  void simt_hook_read_write##n(void* p) {                                    \
    access(p, n, false, CALLER);                                             \
    access(p, n, true, CALLER);                                              \
  }                                                                          \
  void simt_hook_unaligned_read_write##n(void* p) { simt_hook_read_write##n(p); }

extern "C" {
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void simt_hook_init() {}
void simt_hook_func_entry(void*) {}
void simt_hook_func_exit() {}
void simt_hook_vptr_update(void**, void*) {}
void simt_hook_vptr_read(void**) {}
void simt_hook_read_range(void* p, std::size_t n) { access_range(p, n, false, CALLER); }
void simt_hook_write_range(void* p, std::size_t n) { access_range(p, n, true, CALLER); }

void* simt_hook_memcpy(void* to, const void* from, std::size_t n) {
  access_object(from, n, false, CALLER);
  access_object(to, n, true, CALLER);
  return std::memcpy(to, from, n);
}
void* simt_hook_memmove(void* to, const void* from, std::size_t n) {
  access_object(from, n, false, CALLER);
  access_object(to, n, true, CALLER);
  return std::memmove(to, from, n);
}
void* simt_hook_memset(void* to, int value, std::size_t n) {
  access_object(to, n, true, CALLER);
  return std::memset(to, value, n);
}

// Newer compilers call these for copies in instrumented code, and the plain ones elsewhere.
void* simt_hook_tsan_memcpy(void* to, const void* from, std::size_t n) {
  access_object(from, n, false, CALLER);
  access_object(to, n, true, CALLER);
  return std::memcpy(to, from, n);
}
void* simt_hook_tsan_memmove(void* to, const void* from, std::size_t n) {
  access_object(from, n, false, CALLER);
  access_object(to, n, true, CALLER);
  return std::memmove(to, from, n);
}
void* simt_hook_tsan_memset(void* to, int value, std::size_t n) {
  access_object(to, n, true, CALLER);
  return std::memset(to, value, n);
}

// The compiler's test of an index against its array's own dimension.
struct simt_index_type {
  std::uint16_t kind, info;
  char name[1];
};
struct simt_index_site {
  struct {
    const char* file;
    std::uint32_t line, column;
  } place;
  const simt_index_type* array;
  const simt_index_type* index;
};
[[noreturn]] void simt_hook_assert(const char* what, const char* file, unsigned line,
                                   const char* function) {
  if (tessera::simt::working != nullptr) tessera::simt::working->assertion_failed(what, CALLER);
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, what);
  std::abort();
}
void simt_hook_index(simt_index_site* site, std::uintptr_t index) {
  if (watching != nullptr) watching->index_out_of_range(index, site->array->name, CALLER);
}
}
