// Comparisons and files of CUDA's sample programs. Written so that NaN fails.
#pragma once

#include <math.h>

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "helper_string.h"

#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

/// Whether no more than `threshold` (a fraction; 0: none) of the elements differ by over epsilon.
template <class T, class S>
inline bool compareData(const T* reference, const T* data, unsigned length, S epsilon,
                        float threshold) {
  unsigned differing = 0;
  for (unsigned i = 0; i < length; ++i) {
    const double difference = double(reference[i]) - double(data[i]);
    if (!(fabs(difference) <= double(epsilon))) ++differing;
  }
  return threshold == 0.0f ? differing == 0 : double(differing) < double(length) * threshold;
}

/// Whether the distance is below epsilon times the reference's length.
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned length,
                           float epsilon) {
  double error = 0, norm = 0;
  for (unsigned i = 0; i < length; ++i) {
    const double difference = double(reference[i]) - double(data[i]);
    error += difference * difference;
    norm += double(reference[i]) * double(reference[i]);
  }
  return fabs(norm) >= 1e-7 && sqrt(error / norm) < double(epsilon);
}

template <class T>
inline bool sdkReadFile(const char* name, T** data, unsigned* length, bool) {
  std::ifstream file(name);
  std::vector<T> values;
  for (T value; file >> value;) values.push_back(value);
  if (values.empty()) return false;
  if (*data == nullptr) *data = static_cast<T*>(malloc(values.size() * sizeof(T)));
  for (size_t i = 0; i < values.size(); ++i) (*data)[i] = values[i];
  *length = unsigned(values.size());
  return true;
}
template <class T, class S>
inline bool sdkWriteFile(const char* name, const T* data, unsigned length, const S epsilon, bool,
                         bool append = false) {
  std::ofstream file(name, append ? std::ios::app : std::ios::trunc);
  file << "# " << epsilon << "\n";
  for (unsigned i = 0; i < length; ++i) file << data[i] << ' ';
  return bool(file << std::endl);
}
