// How large panels are: pure arithmetic on shapes, element sizes and a budget.
#pragma once

#include <cstdint>

namespace tessera::panel {

/// A tile of C and the depth of the products that build it up.
///
/// C is walked tile by tile. For each tile the K panels follow one another, so a tile is complete
/// before the next one starts and C is stored once. a_outer: the tiles of one block row of C
/// follow one another, so that with k whole an A panel is loaded once; else those of one block
/// column, and a B panel is.
struct PanelShape {
  std::int64_t m = 0, n = 0, k = 0;
  bool a_outer = true;
};

/// What planning needs to know.
struct PanelRequest {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t element_bytes = 4;         ///< of the type computed in
  std::int64_t input_bytes = 0;           ///< of A and B; 0: element_bytes
  bool trans_a = false, trans_b = false;  ///< a panel is stored as k x m (n x k)
  /// Operands that need buffers; the others are used where they are.
  bool hold_a = false, hold_b = false, hold_c = false;
  /// Two buffers each for A and B when they have more than one panel, so that the next panels can
  /// be copied during a product.
  bool double_buffered = false;
  /// Bytes moved to load one element of A, of B; to bring one of C in and out; and to add one
  /// more K panel to one of C.
  double load_a_bytes = 0, load_b_bytes = 0, store_c_bytes = 0, repeat_c_bytes = 0;
  std::int64_t budget_bytes = INT64_MAX;  ///< for all buffers together
  double max_multiply_adds = 0;           ///< of one product, as far as tiles allow; 0: any number
  bool whole_k = false;                   ///< never split K
};

struct PanelPlan {
  PanelShape shape;
  std::int64_t buffer_bytes = 0;
  double traffic_bytes = 0;
};

/// Panels are multiples of this in every direction, or the whole dimension.
constexpr std::int64_t kPanelStep = 64;

/// Leading dimension, in elements, of a buffer with rows of `cols` elements: rows start at
/// multiples of 16 bytes, which vector loads need, unless they are shorter than that.
std::int64_t padded_ld(std::int64_t cols, std::int64_t element_bytes);
/// Bytes of a buffer of rows x cols, rounded up to 256.
std::int64_t buffer_bytes(std::int64_t rows, std::int64_t cols, std::int64_t element_bytes);

/// Buffers that a shape needs: one tile of C, and one or two panels each of A and B.
std::int64_t bytes_held(const PanelRequest& request, const PanelShape& shape);

/// Bytes that a walk in this shape moves, with I, J, P the numbers of panels along m, n, k:
///
///   loads_a * m*k * load_a + loads_b * k*n * load_b + m*n * (store_c + (P - 1) * repeat_c)
///
/// loads_a is 1 when P == 1 and the A panel stays in its buffer while B panels pass (a_outer, or
/// I == 1), else J; loads_b is 1 when P == 1 and the B panel stays (not a_outer, or J == 1), else
/// I. An operand used in place is read by every product, so never stays. To it are added a fixed
/// cost for each product and, when double-buffered, the first load and the last store, which
/// nothing overlaps.
double traffic_bytes(const PanelRequest& request, const PanelShape& shape);

/// The smallest panels, min(kPanelStep, dimension) each way (k whole when whole_k).
PanelShape smallest_shape(const PanelRequest& request);

/// The shape of least traffic within the budget; the whole product when that fits. Throws
/// Error(kOutOfMemory) naming the budget and the smallest that works.
PanelPlan plan_panels(const PanelRequest& request);

}  // namespace tessera::panel
