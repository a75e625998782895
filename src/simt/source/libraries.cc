#include "simt/source/libraries.h"

#include <array>
#include <cctype>

namespace tessera::simt {
namespace {

struct Known {
  std::string_view prefix, library;
};

// The longer of two prefixes comes first.
constexpr std::array<Known, 19> kHeaders = {{{"cublasLt", "cuBLASLt"},
                                             {"cublas", "cuBLAS"},
                                             {"cudnn", "cuDNN"},
                                             {"curand", "cuRAND"},
                                             {"cusolver", "cuSOLVER"},
                                             {"cusparse", "cuSPARSE"},
                                             {"cufft", "cuFFT"},
                                             {"cutensor", "cuTENSOR"},
                                             {"cutlass/", "CUTLASS"},
                                             {"cute/", "CuTe"},
                                             {"cub/", "CUB"},
                                             {"thrust/", "Thrust"},
                                             {"nccl", "NCCL"},
                                             {"nvrtc", "NVRTC"},
                                             {"nvml", "NVML"},
                                             {"mma.h", "tensor cores (WMMA)"},
                                             {"cuda/", "libcu++"},
                                             {"torch/", "PyTorch"},
                                             {"ATen/", "PyTorch"}}};

constexpr std::array<Known, 12> kWords = {{{"cublasLt", "cuBLASLt"},
                                           {"cublas", "cuBLAS"},
                                           {"CUBLAS", "cuBLAS"},
                                           {"cudnn", "cuDNN"},
                                           {"curand", "cuRAND"},
                                           {"cusolver", "cuSOLVER"},
                                           {"cusparse", "cuSPARSE"},
                                           {"cufft", "cuFFT"},
                                           {"cutensor", "cuTENSOR"},
                                           {"nccl", "NCCL"},
                                           {"nvrtc", "NVRTC"},
                                           {"nvml", "NVML"}}};

constexpr std::array<Known, 5> kNamespaces = {{{"cutlass", "CUTLASS"},
                                               {"cute", "CuTe"},
                                               {"cub", "CUB"},
                                               {"thrust", "Thrust"},
                                               {"torch", "PyTorch"}}};

struct Place {
  std::size_t at = 0;
  std::string_view library;
};

/// Where the name of a library's header begins.
Place find_header(std::string_view header) {
  for (const Known& known : kHeaders) {
    const std::size_t at = header.find(known.prefix);
    if (at == 0 || (at != std::string_view::npos && header[at - 1] == '/')) {
      return {at, known.library};
    }
  }
  return {};
}

}  // namespace

std::string_view library_of_header(std::string_view header) { return find_header(header).library; }

std::string_view name_of_header(std::string_view header) {
  return header.substr(find_header(header).at);
}

std::string_view stand_in_header() {
  return "#pragma once\nnamespace nvcuda { namespace wmma {} }\nnamespace cuda {}\n"
         "namespace cub {}\nnamespace thrust {}\nnamespace cutlass {}\nnamespace cute {}\n"
         "namespace torch {}\nnamespace at {}\n";
}

std::string_view library_of_word(std::string_view word) {
  for (const Known& known : kWords) {
    if (!word.starts_with(known.prefix) || word.size() == known.prefix.size()) continue;
    const char next = word[known.prefix.size()];
    if (std::isupper(static_cast<unsigned char>(next)) != 0 || next == '_') return known.library;
  }
  return "";
}

std::string_view library_of_namespace(std::string_view word) {
  for (const Known& known : kNamespaces) {
    if (word == known.prefix) return known.library;
  }
  return "";
}

std::string why_not(std::string_view library) {
  return "Host code that needs " + std::string(library) + " is not run.";
}

}  // namespace tessera::simt
