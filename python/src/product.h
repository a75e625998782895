// One product, or a strided batch of them: run without the GIL, and so that Ctrl-C is heard.
#pragma once

#include <functional>

#include "layout.h"
#include "tessera/gemm.h"

namespace tessera::python {

/// Gives scratch memory of the operands' device, in the order of the stream; called with the GIL.
using Allocate = std::function<void*(std::size_t bytes)>;

struct Product {
  DType dtype = DType::kF32;
  Space space = Space::kHost;
  int device = -1;
  bool trans_a = false, trans_b = false;
  double alpha = 1, beta = 0;
  Matrix a, b, c;
  std::int64_t batch = 1;
  GemmOptions options;
};

/// Throws what running it would throw about its arguments, and touches nothing.
void check(const Product& product);

/// Runs it. In host memory it returns when C is complete; a product that is predicted to take long
/// is run in slices of C, all with the one kernel that is chosen for the whole, and between two
/// slices signals are handled. In CUDA memory it is enqueued on options.stream; with `allocate` the
/// plan is looked up among those of earlier calls, and its workspace comes from there.
/// Needs the GIL, and releases it.
void run(const Product& product, const Allocate& allocate = {});

}  // namespace tessera::python
