// From what the executor saw to sentences: what happened, and what to do about it.
#include <fmt/format.h>

#include "simt/run/session.h"

namespace tessera::simt {
namespace {

std::string line_of(const Place& place) {
  return place.line == 0 ? "an unknown line" : fmt::format("line {}", place.line);
}

std::string thread_text(const Thread& t) {
  if (t.thread[1] == 0 && t.thread[2] == 0) return fmt::format("thread {}", t.thread[0]);
  if (t.thread[2] == 0) return fmt::format("thread ({},{})", t.thread[0], t.thread[1]);
  return fmt::format("thread ({},{},{})", t.thread[0], t.thread[1], t.thread[2]);
}

/// Does the write come before the read, in the order that the interval runs through the source?
/// It begins behind a barrier; in a loop, what stands above that barrier comes last.
bool write_comes_first(const RawFinding& raw, const Symbols& symbols) {
  const Symbol* function = symbols.find(raw.pc);
  if (function != symbols.find(raw.other_pc) ||
      (raw.barrier_pc != 0 && function != symbols.find(raw.barrier_pc))) {
    return raw.sequence <= raw.other_sequence;
  }
  const auto place = [&](std::uint32_t pc) {
    return raw.barrier_pc != 0 && pc < raw.barrier_pc ? pc + 0x80000000U : pc;
  };
  return place(raw.pc) < place(raw.other_pc);
}

}  // namespace

Finding Session::finding_of(const RawFinding& raw, const std::string& kernel, bool crosses_warps) {
  Finding f;
  f.kernel = kernel;
  f.place = symbols_->place(raw.pc);
  if (f.place.line == 0 && state_ != nullptr) {
    const simt_kernel* launched = kernel_of(*state_->launch);
    if (launched != nullptr) f.place = {launched->file, launched->line, 0, kernel};
  }
  f.array = raw.array;
  f.element = raw.element;
  f.thread = raw.thread;
  if (raw.has_other_thread) f.other_thread = raw.other_thread;
  f.phase = raw.phase;
  f.count = raw.count;
  const Place barrier = raw.barrier_pc == 0 ? Place{} : symbols_->place(raw.barrier_pc);
  f.phase_text = raw.barrier_pc == 0
                     ? "before the first barrier"
                     : fmt::format("K step {}: after the barrier of {} was passed {} time{}",
                                   raw.step, line_of(barrier), raw.step, raw.step == 1 ? "" : "s");
  const std::string what = raw.array + raw.element;
  const std::string who = thread_text(raw.thread);
  const std::string other = raw.has_other_thread ? thread_text(raw.other_thread) : "";
  const Place second = raw.other_pc != 0 ? symbols_->place(raw.other_pc) : Place{};
  const char* verb = raw.is_write ? "writes" : "reads";

  switch (raw.rule) {
    case RawRule::kSharedReadWrite:
    case RawRule::kGlobalReadWrite: {
      const bool raw_order = write_comes_first(raw, *symbols_);
      f.other_place = second;
      const bool is_shared = raw.rule == RawRule::kSharedReadWrite;
      if (is_shared) {
        f.rule = !crosses_warps ? rule::kWarpSync : raw_order ? rule::kSharedRaw : rule::kSharedWar;
      } else {
        f.rule = rule::kGlobalRace;
      }
      const char* barrier_name = !crosses_warps && is_shared ? "__syncwarp()" : "__syncthreads()";
      if (raw_order) {
        f.message = fmt::format(
            "{} is written by {} at {} and read by {} at {} without a barrier between: the read "
            "can come first and see the old value",
            what, who, line_of(f.place), other, line_of(second));
        f.remedy = fmt::format("put {} between the write ({}) and the read ({})", barrier_name,
                               line_of(f.place), line_of(second));
      } else {
        f.message = fmt::format(
            "{} is read by {} at {} and then written by {} at {} without a barrier between: the "
            "write can come first and destroy what is still to be read",
            what, other, line_of(second), who, line_of(f.place));
        f.remedy = fmt::format("put {} behind the last read ({}), before the next write ({})",
                               barrier_name, line_of(second), line_of(f.place));
      }
      break;
    }
    case RawRule::kSharedWaw:
    case RawRule::kGlobalWaw:
      f.rule = raw.rule == RawRule::kGlobalWaw ? rule::kGlobalRace : rule::kSharedWaw;
      f.other_place = second;
      f.message = fmt::format(
          "{} is written by {} at {} and by {} at {} without a barrier between: which value stays "
          "is a matter of chance",
          what, who, line_of(f.place), other, line_of(second));
      f.remedy = "let one thread write each element, use an atomic, or put __syncthreads() between";
      break;
    case RawRule::kBlockRace:
      f.rule = rule::kBlockRace;
      f.other_place = second;
      f.message = fmt::format(
          "{} {} {}, which a thread of another block has {} at {}: blocks run in any order", who,
          verb, what, raw.detail, line_of(second));
      f.remedy =
          "let each block write elements of its own (then add up in a second launch), or use "
          "atomics";
      break;
    case RawRule::kBarrierDivergence:
      f.rule = rule::kBarrierDivergence;
      f.other_place = second;
      f.message = fmt::format(
          "{} waits at the barrier of {} while {} waits at that of {}: a barrier must be reached "
          "by all threads of a block together",
          who, line_of(f.place), other, line_of(second));
      f.remedy =
          "move __syncthreads() out of the condition, so that every thread passes the same one";
      break;
    case RawRule::kEarlyReturn:
      f.rule = rule::kEarlyReturn;
      f.message = fmt::format("{} waits at {} for threads that have returned: {}", who,
                              line_of(f.place), raw.detail);
      if (raw.has_other_thread) {
        f.message += fmt::format(
            "; what those ({} first) would have loaded for the others is missing as well", other);
      }
      f.remedy =
          "keep every thread to the last barrier: guard the loads and the store with the "
          "condition, not a return";
      break;
    case RawRule::kDeadlock:
      f.rule = rule::kDeadlock;
      if (raw.other_pc != 0) f.other_place = second;
      f.message =
          fmt::format("{} waits at {} for a lane that never comes: {}{}", who, line_of(f.place),
                      raw.detail, raw.other_pc != 0 ? " (" + line_of(second) + ")" : "");
      f.remedy =
          "let all lanes that the mask names reach the same call, or name only those that do";
      break;
    case RawRule::kTimeLimit:
      f.rule = rule::kTimeLimit;
      f.message = fmt::format("{} {}; it was last seen at {}", who, raw.detail, line_of(f.place));
      f.remedy =
          "look for a loop whose end is never reached, or a wait for a thread that cannot run";
      break;
    case RawRule::kGlobalBounds:
      f.rule = rule::kGlobalBounds;
      f.message =
          fmt::format("{} {} {}{}{}", who, verb, what, what.empty() ? "" : ", ", raw.detail);
      f.remedy = fmt::format(
          "guard the {} of {} with the bounds of {} itself: row < rows and column < columns",
          raw.is_write ? "store" : "load", line_of(f.place),
          raw.array.empty() ? "that matrix" : raw.array);
      break;
    case RawRule::kSharedBounds:
      f.rule = rule::kSharedBounds;
      f.message =
          fmt::format("{} {} {}{}{}", who, verb, what, what.empty() ? "" : ": ", raw.detail);
      f.remedy =
          "make the array as large as the indices that are used, or the indices smaller; "
          "dynamic shared memory is the third number of the launch";
      break;
    case RawRule::kIndexBounds:
      f.rule = rule::kIndexBounds;
      f.message =
          fmt::format("{} uses {}: it lands in the next row or in another array", who, raw.detail);
      f.remedy = "check the loop's end and the order of the two indices against the declaration";
      break;
    case RawRule::kMisaligned:
      f.rule = rule::kMisaligned;
      f.message = fmt::format("{} {} {}: {}; the hardware stops the kernel there", who, verb, what,
                              raw.detail);
      if (raw.row_pitch != 0) {
        // A row that is a multiple of 16 bytes, with 16 more: aligned, and the rows of a column of
        // vectors lie in different banks.
        const std::int64_t pitch = (raw.row_pitch + 15) / 16 * 16;
        const std::int64_t free_pitch = pitch % 128 == 0 ? pitch + 16 : pitch;
        f.remedy = fmt::format(
            "the array's rows are {} bytes apart; make them {} bytes ({} floats), which is a "
            "multiple of 16 and free of bank conflicts, or read one element at a time",
            raw.row_pitch, free_pitch, free_pitch / 4);
      } else {
        f.remedy =
            "use the wide access only where the address is a multiple of its size (pointer, "
            "leading dimension and column), and single elements elsewhere";
      }
      break;
    case RawRule::kUninitialisedShared:
      f.rule = rule::kUninitialisedShared;
      f.message = fmt::format("{} reads {}, which no thread of the block has written", who, what);
      f.remedy =
          "let the load of the tile cover every element that is read, with zeros at the edge";
      break;
    case RawRule::kUninitialisedGlobal:
      f.rule = rule::kUninitialisedGlobal;
      f.message =
          fmt::format("{} reads {}, which nobody has written since it was allocated", who, what);
      f.remedy = "copy or set the memory before the launch, or do not read it (beta = 0)";
      break;
    case RawRule::kInputWritten:
      f.rule = rule::kInputWritten;
      f.message = fmt::format("{} writes {}, which the kernel was given as const", who, what);
      f.remedy = "write the output only";
      break;
    case RawRule::kCopyInFlight:
      f.rule = rule::kCopyInFlight;
      f.other_place = second;
      f.message =
          fmt::format("{} {} {} while the asynchronous copy of {} to it has not been waited for",
                      who, verb, what, line_of(second));
      if (raw.is_without_group) {
        f.message += ": no commit stands between the copy and the wait behind it";
        f.remedy =
            "close the copies of every step with a commit, __pipeline_commit() or "
            "cp.async.commit_group: a wait passes over copies that are in no group";
        break;
      }
      f.remedy =
          "wait for the group of that copy (a smaller number in the wait), then "
          "__syncthreads(), before that stage is used; or use the stage that was waited for";
      break;
    case RawRule::kCrash:
      f.rule = rule::kCrash;
      f.message = fmt::format("{} {} at {}", who, raw.detail, line_of(f.place));
      f.remedy = "see the line";
      break;
  }
  return f;
}

}  // namespace tessera::simt
