// Which argument of a kernel is which part of a matrix product.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simt/source/translate.h"

namespace tessera::simt {

enum class Role {
  kA,
  kB,
  kC,
  kD,  ///< D: the output where C is an input only
  kM,
  kN,
  kK,
  kLda,
  kLdb,
  kLdc,
  kAlpha,
  kBeta,
  kSquare,    ///< one size for all three
  kConstant,  ///< none of these: a number
};

/// roles[i] is the role of parameter i.
struct Roles {
  std::vector<Role> roles;
  std::vector<std::string> constants;  ///< that of parameter i, empty for others; or all left out
  std::string element;                 ///< of A and B: "float", "double", "half", "bfloat16", "int"
  std::string element_c;               ///< of C and D
  bool c_is_read = false;  ///< a parameter beta or D, or the kernel adds to C: then beta is 1
};

/// The roles by the usual names (A B C M N K lda; d_A; M N P Width; wA wB; numARows ...) and types,
/// or why they are unclear, in one line that names the parameters.
struct Recognised {
  std::optional<Roles> roles;
  std::string problem;
};
Recognised recognise(const std::vector<Parameter>& parameters);

/// Roles as the user gave them: "A,B,C,M,N,K,batch=1", one word a parameter. Throws
/// Error(kInvalidArgument).
Roles parse_roles(const std::string& text, const std::vector<Parameter>& parameters);

}  // namespace tessera::simt
