// Plans of earlier products, so that a small product on a GPU does not wait for a kernel's choice.
#pragma once

#include <memory>

#include "product.h"
#include "tessera/plan.h"

namespace tessera::python {

/// Everything about a product but its pointers and scalars.
GemmDesc describe(const Product& product);

/// The plan of a product like this one, made at the first. Throws as Plan does. Needs the GIL,
/// which also guards the cache.
std::shared_ptr<const Plan> cached_plan(const Product& product);

}  // namespace tessera::python
