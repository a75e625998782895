// Findings as the executor sees them: by instruction, not yet by line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "simt/model.h"

namespace tessera::simt {

enum class RawRule {
  kSharedReadWrite,  // which of RAW and WAR it is follows from the places in the source
  kSharedWaw,
  kGlobalReadWrite,
  kGlobalWaw,
  kBlockRace,
  kBarrierDivergence,
  kEarlyReturn,
  kDeadlock,
  kTimeLimit,
  kGlobalBounds,
  kSharedBounds,
  kIndexBounds,
  kMisaligned,
  kUninitialisedShared,
  kUninitialisedGlobal,
  kInputWritten,
  kCopyInFlight,
  kCrash,
};

struct RawFinding {
  RawRule rule{};
  std::uint32_t pc = 0;        ///< of a read-write pair: the write
  std::uint32_t other_pc = 0;  ///< and the read
  std::string array;
  std::string element;
  std::string detail;  ///< what the rule has to say besides; part of the sentence
  Thread thread, other_thread;
  bool has_other_thread = false;
  bool same_warp = false;
  bool is_write = false;
  bool is_without_group = false;  ///< a copy in flight that was not committed before a wait
  std::uint32_t barrier_pc = 0;   ///< the barrier that the interval began with; 0: none
  int phase = 0;                  ///< barriers passed
  int step = 0;                   ///< times that barrier was passed
  std::uint16_t sequence = 0, other_sequence = 0;
  std::uint64_t count = 1;
  std::int64_t row_pitch = 0;  ///< of a shared array of rows, in bytes
};

/// Keeps the first of each kind and counts the rest.
class Recorder {
 public:
  using Key = std::tuple<RawRule, std::uint32_t, std::uint32_t, std::uint64_t>;

  /// The finding, when it is the first of its kind: then fill it in. Otherwise null, and counted.
  RawFinding* first(RawRule rule, std::uint32_t pc, std::uint32_t other_pc, std::uint64_t array) {
    auto [it, is_new] = found_.try_emplace(Key{rule, pc, other_pc, array});
    RawFinding& f = it->second;
    if (!is_new) {
      ++f.count;
      return nullptr;
    }
    f.rule = rule, f.pc = pc, f.other_pc = other_pc;
    return &f;
  }
  RawFinding* find(RawRule rule, std::uint32_t pc, std::uint32_t other_pc, std::uint64_t array) {
    const auto it = found_.find(Key{rule, pc, other_pc, array});
    return it == found_.end() ? nullptr : &it->second;
  }
  bool empty() const { return found_.empty(); }
  std::vector<RawFinding> take() {
    std::vector<RawFinding> all;
    for (auto& [key, f] : found_) all.push_back(std::move(f));
    found_.clear();
    return all;
  }

 private:
  std::map<Key, RawFinding> found_;
};

}  // namespace tessera::simt
