// The functions of words/simt_abi.h.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "simt/run/access.h"
#include "simt/run/numbers.h"
#include "simt/run/session.h"

using namespace tessera::simt;

#define CALLER __builtin_return_address(0)

namespace {

/// The worker of the fiber that called; a call from the host side ends the run.
Worker& device(const char* what) {
  if (working == nullptr) simt_unsupported(what);
  return *working;
}

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T combine(int op, T old, T x, T compare) {
  switch (op) {
    case SIMT_ADD:
      return static_cast<T>(old + x);
    case SIMT_SUB:
      return static_cast<T>(old - x);
    case SIMT_EXCHANGE:
      return x;
    case SIMT_MIN:
      return x < old ? x : old;
    case SIMT_MAX:
      return old < x ? x : old;
    case SIMT_INC:
      return old >= x ? T{0} : static_cast<T>(old + 1);
    case SIMT_DEC:
      return old == T{0} || x < old ? x : static_cast<T>(old - 1);
    case SIMT_CAS:
      return std::memcmp(&old, &compare, sizeof old) == 0 ? x : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == SIMT_AND) return old & x;
    if (op == SIMT_OR) return old | x;
    if (op == SIMT_XOR) return old ^ x;
  }
  return old;
}

/// Bits is the unsigned integer of the operand's size; change gives the new bits of the old.
template <class Bits, class Change>
std::uint64_t update(void* p, Change change) {
  auto* at = static_cast<Bits*>(p);
  Bits old = __atomic_load_n(at, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(at, &old, static_cast<Bits>(change(old)), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

template <class T, class Bits>
std::uint64_t plain(int op, void* p, std::uint64_t operand, std::uint64_t compare) {
  return update<Bits>(p, [&](Bits old) {
    return to_bits(combine<T>(op, from_bits<T>(old), from_bits<T>(operand), from_bits<T>(compare)));
  });
}

std::uint16_t add_half(std::uint16_t a, std::uint16_t b) {
  return float_to_half(half_to_float(a) + half_to_float(b));
}
std::uint16_t add_bfloat(std::uint16_t a, std::uint16_t b) {
  return float_to_bfloat(bfloat_to_float(a) + bfloat_to_float(b));
}

unsigned bytes_of(int type) {
  switch (type) {
    case SIMT_U16:
    case SIMT_F16:
    case SIMT_BF16:
      return 2;
    case SIMT_I64:
    case SIMT_U64:
    case SIMT_F64:
      return 8;
    default:
      return 4;
  }
}

}  // namespace

extern "C" {

unsigned simt_lane() { return device("a warp function on the host").lane(); }

void simt_barrier() { device("__syncthreads on the host").wait_barrier(CALLER); }
int simt_barrier_count(int predicate) {
  return device("__syncthreads_count on the host").barrier_count(predicate, CALLER);
}
void simt_syncwarp(unsigned mask) {
  device("__syncwarp on the host").wait_warp(mask, CALLER, true);
}
unsigned simt_warp_gather(unsigned mask, std::uint64_t value, std::uint64_t all[32]) {
  return device("a warp function on the host").gather(mask, value, all, CALLER);
}
unsigned simt_active_mask() { return device("__activemask on the host").active_mask(CALLER); }
void simt_fence(int) {
  if (working != nullptr) working->fence();
}

std::uint64_t simt_atomic(int op, int type, void* p, std::uint64_t operand, std::uint64_t compare) {
  const unsigned bytes = bytes_of(type);
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  if (watching != nullptr) {
    watching->access(at, bytes, true, CALLER, true);
    watching->acquire_release(at);
  }
  if (at % bytes != 0) return 0;  // reported; the hardware faults
  switch (type) {
    case SIMT_I32:
      return plain<std::int32_t, std::uint32_t>(op, p, operand, compare);
    case SIMT_U32:
      return plain<std::uint32_t, std::uint32_t>(op, p, operand, compare);
    case SIMT_I64:
      return plain<std::int64_t, std::uint64_t>(op, p, operand, compare);
    case SIMT_U64:
      return plain<std::uint64_t, std::uint64_t>(op, p, operand, compare);
    case SIMT_F32:
      return plain<float, std::uint32_t>(op, p, operand, compare);
    case SIMT_F64:
      return plain<double, std::uint64_t>(op, p, operand, compare);
    case SIMT_U16:
      return plain<std::uint16_t, std::uint16_t>(op, p, operand, compare);
    case SIMT_F16:
      return update<std::uint16_t>(
          p, [&](std::uint16_t old) { return add_half(old, static_cast<std::uint16_t>(operand)); });
    case SIMT_BF16:
      return update<std::uint16_t>(p, [&](std::uint16_t old) {
        return add_bfloat(old, static_cast<std::uint16_t>(operand));
      });
    default:
      break;
  }
  const auto add = type == SIMT_F16X2 ? add_half : add_bfloat;
  return update<std::uint32_t>(p, [&](std::uint32_t old) {
    const auto low = add(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(operand));
    const auto high =
        add(static_cast<std::uint16_t>(old >> 16), static_cast<std::uint16_t>(operand >> 16));
    return static_cast<std::uint32_t>(high) << 16 | low;
  });
}

void* simt_shared(simt_shared_array* array) {
  return device("shared memory on the host").shared(*array);
}
void* simt_dynamic_shared(const char* name, std::size_t element_bytes, int) {
  return device("shared memory on the host").dynamic_shared(name, element_bytes);
}
std::uint64_t simt_shared_offset(const void* p) {
  return device("a shared address on the host").shared_offset(p);
}
void* simt_shared_pointer(std::uint64_t offset) {
  return device("a shared address on the host").shared_pointer(offset);
}
int simt_is_shared(const void* p) { return working != nullptr && working->is_shared(p); }
int simt_is_global(const void* p) { return Session::get().is_global(p); }

void simt_copy_async(void* s_to, const void* g_from, unsigned bytes, unsigned source_bytes) {
  device("cp.async on the host").copy_async(s_to, g_from, bytes, source_bytes, CALLER);
}
void simt_copy_commit() { device("cp.async on the host").copy_commit(); }
void simt_copy_wait(unsigned pending) { device("cp.async on the host").copy_wait(pending); }

int simt_launch_kernel(const simt_launch* launch) { return Session::get().launch(*launch); }
void simt_launch_bounds(unsigned max_threads, unsigned) {
  Session::get().launch_bounds(max_threads);
}
void simt_allow_dynamic_shared(const void* function, std::size_t bytes) {
  Session::get().allow_dynamic_shared(function, bytes);
}
void simt_describe_kernel(const void*, std::size_t* static_shared_bytes, int* max_threads) {
  *static_shared_bytes = 0;
  *max_threads = 1024;
}

int simt_allocate(void** p, std::size_t bytes, int memory) {
  return Session::get().allocate(p, bytes, memory);
}
int simt_release(void* p) { return Session::get().release(p); }
int simt_copy(void* to, const void* from, std::size_t bytes, int kind) {
  return Session::get().copy(to, bytes, from, bytes, bytes, 1, kind, CALLER);
}
int simt_copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                 std::size_t width, std::size_t rows, int kind) {
  return Session::get().copy(to, to_pitch, from, from_pitch, width, rows, kind, CALLER);
}
int simt_set(void* to, int value, std::size_t bytes) {
  return Session::get().set(to, value, bytes, CALLER);
}
std::size_t simt_free_bytes() { return std::size_t{80} << 30; }

int simt_last_error(bool clear) { return Session::get().last_error(clear); }
void simt_set_error(int error) { Session::get().set_error(error); }

void simt_unsupported(const char* what) { Session::get().unsupported(what); }
}
