#include "simt/report/rules.h"

#include "simt/model.h"

namespace tessera::simt {

const std::vector<RuleText>& rules() {
  static const std::vector<RuleText> all = {
      {rule::kSharedRaw, "Shared memory read after write without a barrier",
       "One thread stored to shared memory and another thread read the same bytes, with no barrier "
       "between the two.",
       "The reader may get the old value or the new one, depending on which warp runs first.",
       "Put __syncthreads() between the store and the read.", true},
      {rule::kSharedWar, "Shared memory overwritten while others may still read it",
       "One thread read shared memory and another thread stored to the same bytes, with no barrier "
       "between the two.",
       "A fast warp may replace the tile before a slow one has used it.",
       "Put __syncthreads() after the last read of the tile, before it is loaded again.", true},
      {rule::kSharedWaw, "Two stores to one place in shared memory without a barrier",
       "Two threads stored to the same bytes of shared memory between two barriers.",
       "Which value stays depends on which warp runs last.",
       "Give each thread elements of its own, or put __syncthreads() between the stores.", true},
      {rule::kWarpSync, "Lanes of a warp exchange data without __syncwarp()",
       "Two lanes of one warp accessed the same bytes, one of them storing, and relied on running "
       "in "
       "step.",
       "Since compute capability 7.0 the lanes of a warp may run apart.",
       "Put __syncwarp() between the two accesses, or use a shuffle.", true},
      {rule::kGlobalRace, "Race on global memory within a block",
       "Two threads of one block accessed the same bytes of global memory, one of them storing, "
       "with "
       "no barrier between them.",
       "The result depends on which warp runs first.",
       "Give each thread elements of its own, use an atomic, or put __syncthreads() between.",
       true},
      {rule::kBlockRace, "Race on global memory between blocks",
       "Threads of two blocks accessed the same bytes of global memory, one of them storing.",
       "Blocks of a launch run in any order; no barrier joins them.",
       "Give each block output of its own, use an atomic, or split the work into two launches.",
       true},
      {rule::kBarrierDivergence, "Barrier that not all threads of the block reach",
       "Some threads waited at a barrier that others passed by or met at another place.",
       "The behaviour is undefined: the kernel may hang or go on with half a tile.",
       "Move __syncthreads() out of the branch, so that every thread meets the same one.", true},
      {rule::kEarlyReturn, "Return before a barrier that others wait at",
       "Threads left the kernel while others of their block still had a barrier to pass.",
       "The behaviour is undefined, and the threads that left no longer load their part of the "
       "tile.",
       "Keep all threads until the last barrier; guard the loads and stores instead.", true},
      {rule::kDeadlock, "Deadlock", "No thread of the block could go on.",
       "On a GPU the kernel would hang.",
       "Let all threads named by a barrier or a warp mask reach it.", true},
      {rule::kTimeLimit, "Time limit reached",
       "The program was still running when its time was up.",
       "It may wait for something that never comes, or the problem is too big for the checker.",
       "Look for a loop without end, in the kernel or the host; else check a smaller problem or "
       "raise --time-limit.",
       true},
      {rule::kGlobalBounds, "Global memory accessed out of bounds",
       "A thread accessed bytes that belong to no allocation.",
       "It reads or overwrites foreign data, or the launch fails.",
       "Guard the access with the array's own rows and columns.", true},
      {rule::kSharedBounds, "Shared memory accessed out of bounds",
       "A thread accessed bytes outside the shared array.",
       "It reads or overwrites another array of the block, or the launch fails.",
       "Make the array as large as its largest index, or limit the index.", true},
      {rule::kIndexBounds, "Index past its dimension",
       "An index was as large as the array's dimension or larger.",
       "The element lies in another row, though still inside the array.",
       "Check the order of the indices and the extent of that dimension.", true},
      {rule::kRowOverrun, "Access past the end of a row",
       "A thread went past the last column of a row and into the next one, inside the allocation.",
       "Memory checkers see nothing, and the sum takes in elements that do not belong to it.",
       "Compare the column with the number of columns, not only the row with that of rows.", true},
      {rule::kMisaligned, "Misaligned vector access",
       "The address of an access was no multiple of its width.",
       "The launch fails with a misaligned address.",
       "Make the pitch and the offset multiples of the vector's width, or use narrower accesses.",
       true},
      {rule::kUninitialisedShared, "Shared memory read before it was written",
       "A thread read bytes of shared memory that nobody had stored to.",
       "They hold whatever the block before left there.",
       "Store to every element that is read, zero where the matrix ends.", true},
      {rule::kUninitialisedGlobal, "Global memory read before it was written",
       "A thread read bytes of an allocation that nobody had stored to or copied to.",
       "They hold whatever was there before.", "Copy or set the array before the launch.", true},
      {rule::kNeverWritten, "Output elements never written",
       "Elements of the output kept what they held before the launch.",
       "Part of the result is missing.",
       "Round the grid up, (size + tile - 1) / tile, and guard the store.", true},
      {rule::kInputWritten, "Store to an input",
       "The kernel stored to a matrix that it should only read.",
       "The next use of that matrix sees other values.",
       "Declare inputs const and store to the output only.", true},
      {rule::kCopyInFlight, "Read of an asynchronous copy before its wait",
       "A thread read shared memory whose asynchronous copy was still pending.",
       "The data may not have arrived.",
       "Wait for that group (the number of groups that may stay pending is one less), then "
       "__syncthreads().",
       true},
      {rule::kLaunch, "Launch that fails",
       "The launch's grid, block or shared memory is not allowed.",
       "The kernel does not run and the output keeps its old values.",
       "Stay within the limits named, and check cudaGetLastError() after the launch.", true},
      {rule::kWrongResult, "Wrong result",
       "The output differs from the product in double precision by more than rounding allows.",
       "The kernel computes something else.", "See the region and the guard or index named.", true},
      {rule::kCrash, "Crash", "The program ended by a signal.",
       "Nothing after that point was checked.",
       "Check the host code: sizes, pointers, and what is freed.", true},
      {rule::kBankConflict, "Bank conflict",
       "Lanes of a warp accessed different words of the same shared memory bank.",
       "The access takes several wavefronts where fewer would do.",
       "Pad the rows or swap the indices so that neighbouring lanes meet different banks.", false},
      {rule::kUncoalesced, "Uncoalesced global access",
       "The lanes of a warp touched many more 32-byte sectors than their data fill.",
       "Most of the bytes that are moved are not used.",
       "Let threadIdx.x walk the contiguous index.", false},
      {rule::kFewUsefulBytes, "Few useful bytes in each sector",
       "The lanes of a warp used less than half of each 32-byte sector that they touched.",
       "Memory bandwidth goes to bytes that nobody asked for.",
       "Let neighbouring threads take neighbouring elements, or load several in one access.",
       false},
  };
  return all;
}

const RuleText* find_rule(const std::string& id) {
  for (const RuleText& r : rules())
    if (id == r.id) return &r;
  return nullptr;
}

}  // namespace tessera::simt
