// What the type of a parameter means to a matrix product.
#pragma once

#include <string>
#include <vector>

#include "simt/source/translate.h"

namespace tessera::simt {

enum class TypeKind { kPointer, kInteger, kReal, kOther };

struct ParameterType {
  TypeKind kind = TypeKind::kOther;
  bool is_const = false;  ///< a pointer to const
  std::string element;    ///< of a pointer: "float", "half" ...; empty: not one that products have
};

/// "const float* __restrict__", "unsigned int", "float4*".
ParameterType type_of(const std::string& type);

/// "(const float* A, int n)".
std::string listed(const std::vector<Parameter>& parameters);

/// `type` with the names of `aliases` replaced by what they stand for.
std::string resolved(const std::string& type, const std::vector<Constant>& aliases);

}  // namespace tessera::simt
