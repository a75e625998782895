// What the usual names of a product's arguments mean.
#pragma once

#include <optional>
#include <string>

#include "simt/gemm/roles.h"

namespace tessera::simt {

/// "d_matA" -> "mata": lower case, without the marks of device and host memory and without
/// underscores.
std::string plain_name(const std::string& name);

/// The part that a pointer of this plain name usually plays: A, B, C or D.
std::optional<Role> pointer_role(const std::string& plain);
/// The part of a number: a size, a leading dimension, alpha or beta, or kSquare for names such as
/// "width" and "size", which say nothing about a direction.
std::optional<Role> number_role(const std::string& plain);

/// "A", "lda", "alpha": as parse_roles takes them.
std::string word_of(Role role);

}  // namespace tessera::simt
