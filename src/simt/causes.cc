#include "simt/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>

#include "simt/gemm/names.h"
#include "simt/source_shape.h"

namespace tessera::simt {
namespace {

using Findings = std::vector<Finding>;

bool is_one_of(const Finding& f, std::initializer_list<const char*> rules) {
  return std::any_of(rules.begin(), rules.end(), [&](const char* r) { return f.rule == r; });
}

bool is_shared_race(const Finding& f) {
  return is_one_of(f, {rule::kSharedRaw, rule::kSharedWar, rule::kSharedWaw, rule::kWarpSync});
}
bool is_global_race(const Finding& f) {
  return is_one_of(f, {rule::kGlobalRace, rule::kBlockRace});
}
bool is_result(const Finding& f) { return is_one_of(f, {rule::kNeverWritten, rule::kWrongResult}); }
bool is_write(const Finding& f) { return f.message.find(" writes ") != std::string::npos; }

/// A kernel's parameter and that of the function that launches it may differ: d_A and A.
bool same_array(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto role = pointer_role(plain_name(a));
  return role && role == pointer_role(plain_name(b));
}

template <class Is>
bool any(const Findings& all, Is is) {
  return std::any_of(all.begin(), all.end(), is);
}
template <class Is>
void drop(Findings& all, Is is) {
  Findings rest;
  for (const Finding& f : all) {
    if (!is(f)) rest.push_back(f);
  }
  all = std::move(rest);
}

bool follows_misaligned(const Finding& f, const Finding& misaligned) {
  return f.rule != rule::kMisaligned && !is_result(f) && f.kernel == misaligned.kernel &&
         (f.array == misaligned.array || f.rule == rule::kCrash) &&
         f.place.file == misaligned.place.file && f.place.line == misaligned.place.line;
}

/// Would a barrier of this line part the two accesses of a race?
bool parts(const Finding& race, int barrier) {
  if (!race.other_place || barrier == 0) return false;
  int first = race.place.line, second = race.other_place->line;
  if (race.rule == rule::kSharedWar) std::swap(first, second);
  return first <= second ? first <= barrier && barrier <= second
                         : barrier >= first || barrier <= second;  // around a loop
}

bool follows_divergence(const Finding& f, const Finding& d) {
  if (f.kernel != d.kernel) return false;
  if (f.rule == rule::kEarlyReturn) return true;
  return is_shared_race(f) && f.place.file == d.place.file &&
         (parts(f, d.place.line) || (d.other_place && parts(f, d.other_place->line)));
}

/// A thread's own copy: it did not wait. Of another's a barrier may be missing instead.
bool is_not_waited_for(const Finding& flight) {
  return flight.thread && flight.other_thread &&
         flight.thread->block == flight.other_thread->block &&
         flight.thread->thread == flight.other_thread->thread;
}

/// A race of the copy itself with what uses its tile too early, or that it is overwritten.
bool follows_flight(const Finding& f, const Finding& flight) {
  if (f.kernel != flight.kernel || f.array != flight.array || !flight.other_place) return false;
  if (!is_not_waited_for(flight)) return false;
  if (f.rule == rule::kCopyInFlight) return is_write(f) && !is_write(flight);
  return is_shared_race(f) && f.place.file == flight.other_place->file &&
         f.place.line == flight.other_place->line;
}

bool explains(const Finding& index, const Finding& f) {
  return index.proof == Proof::kIndex && same_array(index.at_fault, f.array) &&
         (is_global_race(f) ||
          is_one_of(f, {rule::kGlobalBounds, rule::kRowOverrun, rule::kNeverWritten}));
}

void drop_follow_ons(Findings& all) {
  const Findings causes = all;
  drop(all, [&](const Finding& f) {
    return any(causes, [&](const Finding& c) {
      if (c.rule == rule::kMisaligned) return follows_misaligned(f, c);
      if (c.rule == rule::kBarrierDivergence) return follows_divergence(f, c);
      if (c.rule == rule::kCopyInFlight) return follows_flight(f, c);
      if (c.rule == rule::kInputWritten) return is_global_race(f) && same_array(f.array, c.array);
      return is_global_race(f) && explains(c, f);
    });
  });
}

int rank(const Finding& f, const Findings& all) {
  if (f.rule == rule::kLaunch) return 0;
  if (f.rule == rule::kInputWritten) return 1;
  if (any(all, [&](const Finding& other) { return explains(f, other); })) return 2;
  if (is_one_of(f, {rule::kMisaligned, rule::kIndexBounds, rule::kSharedBounds, rule::kGlobalBounds,
                    rule::kRowOverrun})) {
    return 3;
  }
  if (is_one_of(f, {rule::kBarrierDivergence, rule::kEarlyReturn, rule::kDeadlock})) return 4;
  if (f.rule == rule::kCopyInFlight && is_not_waited_for(f)) return 5;
  return is_result(f) ? 7 : 6;
}

/// Can what it saw have spoiled elements of C?
bool may_spoil(const Finding& f) {
  if (f.rule == rule::kGlobalBounds) return !is_write(f);
  return !is_result(f) && !is_one_of(f, {rule::kLaunch, rule::kTimeLimit});
}

std::string named(const Finding& f) {
  std::string out = f.rule;
  if (!f.array.empty()) out += " on " + f.array;
  return f.place.line == 0 ? out : fmt::format("{} at line {}", out, f.place.line);
}

/// A guess at a cause is worth nothing beside one that was seen. Copies that have not landed, and
/// threads that run ahead, give the values of other faults, such as a loop that ends too early.
void replace_guess(Finding& wrong, const Findings& all) {
  if (wrong.proof == Proof::kIndex) return;
  const auto cause = std::find_if(all.begin(), all.end(), [&](const Finding& f) {
    const bool is_like_others = is_one_of(f, {rule::kCopyInFlight, rule::kBarrierDivergence});
    return may_spoil(f) && (wrong.proof == Proof::kRegion || is_like_others) &&
           (f.kernel == wrong.kernel || wrong.kernel == "solve");
  });
  const std::size_t at = wrong.message.find(wrong.cause);
  if (wrong.cause.empty() || cause == all.end() || at == std::string::npos) return;
  std::string name = named(*cause);
  wrong.at_fault = cause->array;
  // Which of several reads it was is not known.
  for (const Finding& other : all) {
    if (cause->rule != rule::kGlobalBounds || other.rule != cause->rule || !may_spoil(other) ||
        same_array(other.array, cause->array)) {
      continue;
    }
    name += " or " + named(other);
    wrong.at_fault.clear();
    break;
  }
  wrong.message.replace(at, wrong.cause.size(), "it comes with " + name);
  wrong.remedy = fmt::format("mend {} first, then check again", name);
}

void mend_index_first(Finding& f, const Findings& all) {
  const auto cause = std::find_if(all.begin(), all.end(),
                                  [&](const Finding& index) { return explains(index, f); });
  if (cause == all.end()) return;
  f.remedy = fmt::format("mend the index of {} first: {}", f.array, cause->remedy);
}

}  // namespace

std::vector<Finding> causes_first(std::vector<Finding> findings) {
  drop_follow_ons(findings);
  const Findings all = findings;
  std::stable_sort(findings.begin(), findings.end(),
                   [&](const Finding& a, const Finding& b) { return rank(a, all) < rank(b, all); });
  const Findings sorted = findings;
  for (Finding& f : findings) {
    if (f.rule == rule::kWrongResult) replace_guess(f, sorted);
    mend_index_first(f, sorted);
  }
  // They have served.
  for (Finding& f : findings) {
    f.cause.clear();
    f.proof = Proof::kRegion;
  }
  return findings;
}

void name_missing_threads(std::vector<Finding>& findings, const std::string& path,
                          const std::string& source) {
  // Where a barrier is known to be passed by, threads that have ended say nothing new.
  const Findings before = findings;
  drop(findings, [&](const Finding& f) {
    return f.rule == rule::kEarlyReturn && any(before, [&](const Finding& d) {
             return d.rule == rule::kBarrierDivergence && follows_divergence(f, d);
           });
  });
  for (Finding& f : findings) {
    if (f.rule != rule::kEarlyReturn || f.place.file != path) continue;
    const Surroundings at = surroundings(source, f.place.line, f.place.column);
    if (!at.is_known || (at.divided_by.empty() && at.function_returns)) continue;
    const std::size_t colon = f.message.find(": "), end = f.message.find(';');
    std::string detail = f.message.substr(colon + 2, end - colon - 2);
    if (const std::size_t word = detail.find("returned"); word != std::string::npos) {
      detail.replace(word, 8, "ended");
    }
    const std::string where =
        at.divided_by.empty() ? "a branch or loop" : "'" + at.divided_by + "'";
    const bool is_of_lanes = detail.find("mask") != std::string::npos;
    f.rule = rule::kBarrierDivergence;
    f.message = fmt::format("{} in {}, which other threads leave without it: {}",
                            f.message.substr(0, f.message.find(" for threads")), where, detail);
    f.remedy = is_of_lanes
                   ? fmt::format(
                         "move the call out of {}, so that every lane that the mask names reaches "
                         "it as often, or name only the lanes that do",
                         where)
                   : fmt::format(
                         "move the barrier out of {}, so that every thread reaches it as often; "
                         "keep only the work under the condition",
                         where);
  }
}

}  // namespace tessera::simt
