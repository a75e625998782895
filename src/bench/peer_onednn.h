// oneDNN as a peer, by its row-major dnnl_sgemm.
#pragma once

#include "bench/cpu_library.h"

namespace tessera::bench {

CpuPeerKind onednn_kind();

}  // namespace tessera::bench
