// The BLAS functions by element type, and what the program's own error handlers were told.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "blas/blas.h"

namespace tessera::test {

template <class T>
struct Blas;
template <>
struct Blas<float> {
  static constexpr auto gemm = sgemm_;
  static constexpr auto cblas_gemm = cblas_sgemm;
  static constexpr auto cblas_gemm_batch = cblas_sgemm_batch;
  static constexpr const char* kFortran = "SGEMM ";
  static constexpr const char* kCblas = "cblas_sgemm";
};
template <>
struct Blas<double> {
  static constexpr auto gemm = dgemm_;
  static constexpr auto cblas_gemm = cblas_dgemm;
  static constexpr auto cblas_gemm_batch = cblas_dgemm_batch;
  static constexpr const char* kFortran = "DGEMM ";
  static constexpr const char* kCblas = "cblas_dgemm";
};

template <class T>
class BlasTest : public testing::Test {};
using BlasTypes = testing::Types<float, double>;

constexpr int kRowMajor = 101, kColMajor = 102, kNoTrans = 111, kTrans = 112, kConjTrans = 113;

}  // namespace tessera::test
