// cuBLAS, for comparison.
#pragma once

#include <memory>
#include <string>

#include "bench/product.h"

namespace tessera::bench {

/// cuBLAS, opened at run time: the file that TESSERA_CUBLAS names, or else libcublas as the dynamic
/// loader finds it, in /usr/local/cuda or in a Python environment. Null where it cannot be opened
/// or there is no GPU; `why_not` then says why in one line.
///
/// FP32 and FP64 products in the library's default mode, which keeps the precision of the operands.
/// Its products allocate nothing and can be captured: each prepared one has a handle and a
/// workspace. It must end before its stream.
std::shared_ptr<Peer> open_cublas(std::string* why_not);

}  // namespace tessera::bench
