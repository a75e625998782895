// Why a kernel that reads 16 bytes at a time cannot read an operand, and what would let it.
#pragma once

#include <optional>
#include <string>

#include "tessera/kernel.h"

namespace tessera::cuda {

/// One operand as 16-byte reads see it.
struct Alignment {
  const char* name;  ///< "A" or "B"
  int bytes;         ///< what pointer, leading dimension and batch stride are multiples of
  std::int64_t runs, ld, batch_stride;
  int width;  ///< elements in 16 bytes
};

inline Alignment alignment_of_a(const Problem& p) {
  const int width = 16 / static_cast<int>(size_of(p.dtype));
  return {"A", p.align_a, p.trans_a ? p.k : p.m, p.lda, p.batch > 1 ? p.stride_a : 0, width};
}

inline Alignment alignment_of_b(const Problem& p) {
  const int width = 16 / static_cast<int>(size_of(p.dtype));
  return {"B", p.align_b, p.trans_b ? p.n : p.k, p.ldb, p.batch > 1 ? p.stride_b : 0, width};
}

/// Null when every run of the operand starts at a multiple of 16 bytes.
inline std::optional<Rejection> refuse_unaligned(const Alignment& x) {
  if (x.bytes >= 16) return std::nullopt;
  const std::string name = x.name, width = std::to_string(x.width);
  const std::string ld = name == "A" ? "lda" : "ldb";
  if (x.runs > 1 && x.ld % x.width != 0) {
    return Rejection{"it reads 16 bytes at a time, so " + ld + " must be a multiple of " + width +
                         "; it is " + std::to_string(x.ld),
                     "an " + ld + " that is a multiple of " + width};
  }
  if (x.batch_stride % x.width != 0) {
    return Rejection{"it reads 16 bytes at a time, so the batch stride of " + name +
                         " must be a multiple of " + width + "; it is " +
                         std::to_string(x.batch_stride),
                     "a batch stride of " + name + " that is a multiple of " + width};
  }
  return Rejection{"it reads 16 bytes at a time, so " + name +
                       " must start at a multiple of 16 bytes; it is aligned to " +
                       std::to_string(x.bytes),
                   "an address of " + name + " that is a multiple of 16"};
}

}  // namespace tessera::cuda
