// Blocks between files and buffers, a window at a time, so that few mapped pages stay resident.
#pragma once

#include <cstdint>
#include <functional>

#include "io/tensor.h"
#include "panel/panel_job.h"

namespace tessera::panel {

/// How blocks are moved.
struct Transfer {
  int threads = 1;
  std::int64_t window_bytes = 4 << 20;  ///< mapped bytes touched before pages are released
  bool release_output = false;          ///< also drop written pages of the output
  std::function<void()> tick;           ///< called once a window; may throw
};

/// Converts a block of `file` (any layout) to out[i * ld + j].
template <class T>
void load_block(const io::FileMatrix& file, const Block& block, T* out, std::int64_t ld,
                const Transfer& transfer);
/// Stores a block of C.
template <class T>
void store_block(io::OutputMatrix& file, const Block& block, const T* in, std::int64_t ld,
                 const Transfer& transfer);

}  // namespace tessera::panel
