// Peers with the C interface of the BLAS: OpenBLAS, BLIS, MKL.
#pragma once

#include "bench/cpu_library.h"

namespace tessera::bench {

CpuPeerKind openblas_kind();
CpuPeerKind blis_kind();
/// To be opened last: it makes its own parts, an OpenMP among them, visible to all that is opened
/// later.
CpuPeerKind mkl_kind();

}  // namespace tessera::bench
