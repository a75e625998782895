#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "bench/cpu_peer.h"
#include "bench/peer_blas.h"
#include "bench/peer_cublas.h"
#include "bench/peer_onednn.h"
#include "bench/product.h"

namespace tessera::bench {
namespace {

/// Either a peer, or one line that says why there is none.
struct Attempt {
  std::shared_ptr<Peer> peer;
  std::string why_not;
};

CpuPeerKind kind_of(const std::string& name) {
  if (name == "openblas") return openblas_kind();
  if (name == "blis") return blis_kind();
  if (name == "onednn") return onednn_kind();
  return mkl_kind();
}

Attempt open_one(Space space, const std::string& name, int threads, bool after_mkl) {
  if (space == Space::kHost && after_mkl) {
    return {nullptr, fmt::format("{}: cannot be opened after mkl, whose OpenMP would take the "
                                 "place of its own: must be named in the same call",
                                 name)};
  }
  Attempt attempt;
  attempt.peer = space == Space::kCuda ? open_cublas(&attempt.why_not)
                                       : open_cpu_peer(kind_of(name), threads, &attempt.why_not);
  return attempt;
}

void check_names(const std::vector<std::string>& names, const std::vector<std::string>& known) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("peer \"{}\": must be one of {}", name, fmt::join(known, ", ")));
  }
}

}  // namespace

std::vector<std::string> peer_names(Space space) {
  if (space == Space::kCuda) return {"cublas"};
  return {"openblas", "blis", "onednn", "mkl"};  // MKL last: see peer_blas.h
}

Peers open_peers(Space space, const std::vector<std::string>& names, int threads) {
  static std::mutex mutex;
  static std::map<std::string, Attempt> attempts;
  const std::vector<std::string> known = peer_names(space);
  check_names(names, known);
  const std::lock_guard<std::mutex> lock(mutex);
  Peers peers;
  for (const std::string& name : known) {
    if (!names.empty() && std::find(names.begin(), names.end(), name) == names.end()) continue;
    const auto mkl = attempts.find("mkl");
    const bool after_mkl = mkl != attempts.end() && mkl->second.peer != nullptr;
    auto attempt = attempts.find(name);
    if (attempt == attempts.end()) {
      attempt = attempts.emplace(name, open_one(space, name, threads, after_mkl)).first;
    }
    if (attempt->second.peer != nullptr) {
      peers.found.push_back(attempt->second.peer);
    } else {
      peers.absent.push_back(attempt->second.why_not);
    }
  }
  return peers;
}

}  // namespace tessera::bench
