// A legal call, computed: nothing is thrown and errno stays what it was.
#pragma once

#include <cerrno>
#include <cstdint>

#include "blas/call.h"

namespace tessera::blas {

/// Restores errno, which the functions of the BLAS do not touch.
class KeepErrno {
 public:
  KeepErrno() = default;
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  const int saved_ = errno;
};

/// What tessera::gemm refuses, the BLAS computes. An input that overlaps C is copied first (a
/// program may lay its matrices between each other's elements), and so is a matrix whose elements
/// are not aligned. Where the product fails, because of the environment or for want of memory, a
/// line on stderr says so once, and plain loops that need no memory compute it.
template <class T>
void multiply(const Call<T>& call) noexcept;

/// `count` products that share all but the pointers; as multiply for each, one after another when
/// their matrices overlap.
template <class T>
void multiply_group(const Call<T>& shape, const T* const* a, const T* const* b, T* const* c,
                    std::int64_t count) noexcept;

}  // namespace tessera::blas
