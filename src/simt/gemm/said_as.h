// The names that a source gives to the matrices and sizes of its product.
#pragma once

#include <string>
#include <vector>

#include "simt/gemm/roles.h"
#include "simt/model.h"
#include "simt/source/translate.h"

namespace tessera::simt {

/// What is called `general` here ("A", "K") is called `own` in the source.
struct SaidAs {
  std::string general, own;
};

/// Sizes are left as they are where one without a parameter would be mistaken for another.
std::vector<SaidAs> own_names(const Roles& roles, const std::vector<Parameter>& parameters);

/// What the judge says of a product, in the names of the source. What the executor saw is in them
/// already, but for the sizes of a remedy.
Finding in_own_names(Finding finding, const std::vector<SaidAs>& names);
std::string in_own_names(const std::string& text, const std::vector<SaidAs>& names);

}  // namespace tessera::simt
