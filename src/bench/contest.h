// One case, all contenders: who takes part, and what became of each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/arena.h"

namespace tessera::bench {

struct Field {
  Space space = Space::kHost;
  int device = 0;                    ///< CUDA
  std::vector<std::string> kernels;  ///< requests, e.g. "auto", a family, an id
  std::vector<std::shared_ptr<Peer>> peers;
  Settings settings;
  MeasureOptions timing;
};

/// The case in a memory space, as contests run it: operands begin at multiples of 256 bytes.
Case placed(Case c, Space space, int device);

/// Runs every contender on one case, in turns. Rows in the order of kernels, then peers; one that
/// cannot take the case is kNotSupported with the rule.
std::vector<Row> run_case(const Case& c, CacheState cache, const Field& field);

/// One product of each contender and nothing else, for profilers. Returns who failed, and why.
std::vector<std::string> run_once(const Case& c, const Field& field);

/// Ids of all kernels of the registry for a memory space and element type.
std::vector<std::string> every_kernel(Space space, DType dtype);
/// Whether any kernel of the registry answers to a request.
bool is_known_kernel(const std::string& request);

}  // namespace tessera::bench
