// What a checked run found: the data that executor, judge and reports share.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tessera::simt {

using Json = nlohmann::ordered_json;

/// A place in the checked source. line 0: unknown.
struct Place {
  std::string file;
  int line = 0, column = 0;
  std::string function;  ///< demangled, without its arguments
  friend bool operator==(const Place&, const Place&) = default;
};

/// One thread of one block.
struct Thread {
  std::array<unsigned, 3> block{}, thread{};
};

/// The rules that a finding can break; `rules()` explains each. A finding makes the program exit
/// with 6.
namespace rule {
inline constexpr char kSharedRaw[] = "shared-read-after-write";
inline constexpr char kSharedWar[] = "shared-write-after-read";
inline constexpr char kSharedWaw[] = "shared-write-after-write";
inline constexpr char kWarpSync[] = "warp-synchronous";  // between lanes of one warp
inline constexpr char kGlobalRace[] = "global-race";     // within a block
inline constexpr char kBlockRace[] = "cross-block-race";
inline constexpr char kBarrierDivergence[] = "barrier-divergence";
inline constexpr char kEarlyReturn[] = "early-return";  // before a barrier that others wait at
inline constexpr char kDeadlock[] = "deadlock";
inline constexpr char kTimeLimit[] = "time-limit";
inline constexpr char kGlobalBounds[] = "global-out-of-bounds";
inline constexpr char kSharedBounds[] = "shared-out-of-bounds";
inline constexpr char kIndexBounds[] = "index-out-of-range";  // an array's own dimension
inline constexpr char kRowOverrun[] = "row-overrun";          // inside an allocation
inline constexpr char kMisaligned[] = "misaligned-access";
inline constexpr char kUninitialisedShared[] = "uninitialised-shared";
inline constexpr char kUninitialisedGlobal[] = "uninitialised-global";
inline constexpr char kNeverWritten[] = "never-written";
inline constexpr char kInputWritten[] = "input-written";
inline constexpr char kCopyInFlight[] =
    "copy-in-flight";  // read before its cp.async was waited for
inline constexpr char kLaunch[] = "launch-error";
inline constexpr char kWrongResult[] = "wrong-result";
inline constexpr char kCrash[] = "crash";
}  // namespace rule

/// What speaks for the supposed cause of a wrong result: where the wrong elements are; that it
/// gives the values; or that a wrong index of a whole matrix gives them.
enum class Proof { kRegion, kValues, kIndex };

/// What is wrong, where, between whom, and what to do about it.
struct Finding {
  std::string rule;     ///< one of rule::
  std::string message;  ///< one sentence: what happened
  std::string remedy;   ///< one sentence: what to do
  std::string kernel;   ///< as launched: "tiled<16>"
  Place place;
  std::optional<Place> other_place;  ///< of a race: the other access
  std::string array;                 ///< "As"; the kernel's parameter for global memory
  std::string element;               ///< "[3][5]", or an offset in bytes
  std::optional<Thread> thread, other_thread;
  int phase = -1;           ///< barriers that the block had passed
  std::string phase_text;   ///< "K step 2: the third time between lines 24 and 28"
  std::uint64_t count = 1;  ///< times it was seen
  // Of a wrong result:
  std::string at_fault;          ///< the matrix whose index or guard it comes from; empty: unknown
  std::string cause;             ///< the words of the message that say why
  Proof proof = Proof::kRegion;  ///< of that
};

enum class Space { kShared, kGlobal };

/// All accesses of one kind from one place in the source to one array.
struct Site {
  std::string kernel, array;
  Place place;
  Space space = Space::kGlobal;
  bool is_write = false;
  int bytes = 0;                   ///< of one access, as compiled when that is known
  bool width_is_compiled = false;  ///< bytes come from the cubin
  std::uint64_t requests = 0;      ///< of warps
  std::uint64_t lanes = 0;         ///< accesses of threads
  std::uint64_t wavefronts = 0, ideal_wavefronts = 0;  ///< shared memory
  unsigned worst_degree = 0;  ///< most words of one bank in one wavefront's share
  std::uint64_t sectors = 0, ideal_sectors = 0;  ///< global memory, 32 bytes each
  std::uint64_t useful_bytes = 0;                ///< distinct bytes that requests asked for
  // Of global memory: how addresses move between neighbours, in bytes; 0 when it varies.
  std::int64_t lane_stride = 0;  ///< between lane i and lane i+1
  // Of shared memory that is an array of rows: its pitch in bytes; 0 when unknown.
  std::int64_t row_pitch = 0;
  // Of one of the worst requests: each lane's offset in the array in bytes, -1 for a lane that took
  // no part. May be empty.
  std::vector<std::int64_t> lane_offsets;
  bool is_part = false;  ///< the compiler has taken a wider access of the source apart
};

/// One launch, or several identical ones.
struct Launch {
  std::string kernel;
  Place place;
  std::array<unsigned, 3> grid{}, block{};
  std::uint64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  std::uint64_t blocks_total = 0, blocks_checked = 0, blocks_run = 0;
  std::uint64_t repeats = 1;
  std::uint64_t barriers = 0, accesses = 0;
  double elapsed_s = 0;
  std::string gemm;  ///< "C(64x64) = A(64x64) * B(64x64), f32, row-major"; empty: not recognised
  std::int64_t m = 0, n = 0, k = 0;
};

/// What one run of the program in the executor gave.
struct RunResult {
  std::vector<Finding> findings;
  std::vector<Site> sites;  ///< empty in a run that only checks
  std::vector<Launch> launches;
  std::vector<std::string> notes;         ///< limits of what was checked: sampling, skipped repeats
  std::vector<std::string> launch_notes;  ///< sizes beyond which a launch fails
  int exit_code = 0;                      ///< of the checked program
  double elapsed_s = 0;
  std::uint64_t accesses = 0;
};

/// "thread (3,0,0) of block (1,2,0)"; dimensions that are all 0 are left out.
std::string to_string(const Thread& thread);
/// "tiled.cu:24"
std::string to_string(const Place& place);

Json to_json(const RunResult& result);
RunResult run_result_from_json(const Json& json);

}  // namespace tessera::simt
