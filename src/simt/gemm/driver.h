// The host side of a kernel that comes alone: sizes, grid and the call.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simt/gemm/roles.h"
#include "simt/gemm/said_as.h"
#include "simt/model.h"
#include "simt/source/translate.h"

namespace tessera::simt {

struct DriverOptions {
  std::string kernel;  ///< "tiled" or "tiled<16>"; empty: the only one
  std::int64_t m = 0, n = 0, k = 0;
  std::string block;   ///< "16,16", or empty: derived
  std::string grid;    ///< "ceil(N/16),ceil(M/16)", or empty: derived
  std::string shared;  ///< dynamic shared memory in bytes, or empty: none
  std::string roles;   ///< "A,B,C,M,N,K", or empty: recognised
  std::string layout;  ///< of the matrices: "col", "row", or empty: row
  bool column_major() const { return layout == "col"; }
};

/// How a lone kernel (or `solve`) is called.
struct Driver {
  std::string text;  ///< CUDA C++ that defines `extern "C" void simt_drive(const SimtDrive*)`
  Roles roles;
  std::string kernel;     ///< as launched
  std::string how;        ///< "block (16,16), grid (ceil(N/16), ceil(M/16)), derived from TILE"
  std::string grid_note;  ///< a launch that fails beyond some M, or empty
  std::int64_t tile = 0;  ///< the grid's divisors, their least common multiple; 0: it has none
  bool column_major = false;
  bool launches_itself = false;  ///< solve
  std::vector<SaidAs> names;     ///< of matrices and sizes, where the source has others
  Place place() const { return {file, line, 0, kernel}; }
  std::string file;
  int line = 0;
};

/// Throws Error(kInvalidArgument) when there is no kernel, several (listed), or one whose arguments
/// are not a product's.
Driver make_driver(const Translation& translation, const DriverOptions& options);

/// What simt_drive is given; words/simt_drive.h lays it out likewise. With a parameter D the
/// product goes to d and c is an input; without one, d is not read.
struct DriveArguments {
  void *a, *b, *c, *d;
  std::int64_t m, n, k, lda, ldb, ldc;
  double alpha, beta;
};

}  // namespace tessera::simt
