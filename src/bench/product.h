// Who computes a case: a kernel of Tessera, or a peer's library.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/case.h"

namespace tessera::bench {

/// One set of operands; the pointers lie in the case's memory space.
struct Pointers {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

/// One product. CPU: complete on return. CUDA: enqueued on the stream that it was made for, without
/// allocation or synchronisation, so that it can be captured into a graph. Throws what it likes;
/// the run then counts as failed.
using RunProduct = std::function<void(const Pointers&)>;

/// What a report says of a peer.
struct PeerInfo {
  std::string name;     ///< "cublas", "openblas", "mkl", "onednn", "blis"
  std::string version;  ///< as the library says
  std::string library;  ///< the file opened
  /// What a reader of its figures must know, e.g. which core a BLAS took this processor for.
  std::vector<std::string> notes;
};

/// A library opened at run time, for comparison only.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual const PeerInfo& info() const = 0;
  /// Makes it ready for a case, on `threads` CPU threads or on a cudaStream_t. Throws
  /// Error(kUnsupported) with the rule when it cannot take the case.
  virtual RunProduct prepare(const Case& c, int threads, void* stream) = 0;
};

struct Peers {
  std::vector<std::shared_ptr<Peer>> found;
  std::vector<std::string> absent;  ///< one line each: "mkl: libmkl_rt.so.2: cannot open ..."
};

/// In the order in which they are opened.
std::vector<std::string> peer_names(Space space);

/// Opens the peers named, or with an empty list all that there are for the memory space. A name
/// that is no peer's throws Error(kInvalidArgument) with the names there are. Tried once: libraries
/// stay open for the life of the process. CPU libraries are tried in child processes first, and
/// some settings are put into the environment before they are loaded, where the user has left them
/// open: call it before other threads use the environment. Those named with "mkl" must be in the
/// same call as it, or an earlier one.
Peers open_peers(Space space, const std::vector<std::string>& names, int threads);

}  // namespace tessera::bench
