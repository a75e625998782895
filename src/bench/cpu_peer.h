// A CPU library as a peer: cases of any layout, op, leading dimension and batch, on N threads.
#pragma once

#include "bench/cpu_library.h"
#include "bench/product.h"

namespace tessera::bench {

/// Finds a file of the kind that works, decides its settings, opens it. Null when there is none;
/// then `why_not` is one line. Changes the environment: call it while no other thread reads that.
std::shared_ptr<Peer> open_cpu_peer(const CpuPeerKind& kind, int threads, std::string* why_not);

}  // namespace tessera::bench
