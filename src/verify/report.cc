// The check's result as a line.
#include <fmt/format.h>

#include "tessera/verify.h"

namespace tessera {

std::string VerifyReport::to_string() const {
  const std::string how =
      method == VerifyMethod::kFull
          ? std::string("every element")
          : fmt::format("Freivalds, {} round{}, {} row{} rechecked", rounds, rounds == 1 ? "" : "s",
                        rows_rechecked, rows_rechecked == 1 ? "" : "s");
  if (!passed) {
    return fmt::format("WRONG at ({}, {}): expected {:.9g}, got {:.9g}, bound {:.2e} ({})", row,
                       col, expected, got, bound, how);
  }
  if (method == VerifyMethod::kFull) {
    return fmt::format("verified ({}): worst error {:.2g} of its bound; no bound is above {:.2e}",
                       how, worst_ratio, detectable_error);
  }
  return fmt::format(
      "verified ({}): largest residual {:.2g} of its threshold; errors above {:.2e} are caught "
      "with "
      "probability 1 - 2^-{}",
      how, worst_ratio, detectable_error, rounds);
}

}  // namespace tessera
