// What a kernel's declaration says about it.
#pragma once

#include <map>

#include "simt/source/declarations.h"
#include "simt/source/translate.h"

namespace tessera::simt {

/// Function parameters; a type loses __restrict__, top-level const and default arguments.
std::vector<Parameter> read_parameters(const Tokens& tokens, Range range);
std::vector<Parameter> read_template_parameters(const Tokens& tokens, Range range);
/// "const float* A, int n"
std::string to_string(const std::vector<Parameter>& parameters);

/// A kernel with what launches of it must know.
struct Kernel {
  Signature signature;
  std::size_t required_template_arguments = 0;  ///< those without defaults
  bool is_template = false, has_pack = false, has_defaults = false, is_overloaded = false;
  bool is_defined = false, in_class = false;
};

/// The kernels of a program, by their names without namespaces.
struct Kernels {
  std::vector<Kernel> all;
  std::map<std::string, std::size_t, std::less<>> by_name;
  std::map<std::string, std::size_t, std::less<>> by_qualified_name;

  /// The kernel that "ns::k" or "k" names within the scope "ns::inner::", or npos.
  std::size_t find(std::string_view qualified, std::string scope) const;
};

Kernels read_kernels(const Tokens& tokens, const Declarations& declarations);

}  // namespace tessera::simt
