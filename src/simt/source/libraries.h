// Libraries that a CUDA program may use and the executor does not have.
#pragma once

#include <string>
#include <string_view>

namespace tessera::simt {

/// "cuBLAS" of "cublas_v2.h" or "/usr/include/cublas_v2.h"; empty when no library is known for it.
std::string_view library_of_header(std::string_view header);
/// "cub/cub.cuh" of "/usr/include/cub/cub.cuh": as a program names it.
std::string_view name_of_header(std::string_view header);
/// What stands for a library's header where it is not installed, so that a program which uses
/// nothing of it compiles.
std::string_view stand_in_header();
/// "cuBLAS" of "cublasCreate".
std::string_view library_of_word(std::string_view word);
/// "Thrust" of the namespace "thrust".
std::string_view library_of_namespace(std::string_view word);

/// "Host code that needs cuBLAS is not run."
std::string why_not(std::string_view library);

}  // namespace tessera::simt
