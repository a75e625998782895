// JSON that can always be written.
#pragma once

#include "simt/model.h"

namespace tessera::simt {

/// A copy whose strings are valid UTF-8 and whose numbers are finite: NaN and infinity become null.
Json json_safe(const Json& value);

}  // namespace tessera::simt
