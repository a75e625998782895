#include "simt/causes.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace tessera::simt {
namespace {

int rank(const Finding& f) {
  const auto is = [&](std::initializer_list<const char*> rules) {
    return std::any_of(rules.begin(), rules.end(), [&](const char* r) { return f.rule == r; });
  };
  if (is({rule::kLaunch})) return 0;
  if (is({rule::kMisaligned, rule::kIndexBounds, rule::kSharedBounds, rule::kGlobalBounds,
          rule::kRowOverrun})) {
    return 1;
  }
  return is({rule::kNeverWritten, rule::kWrongResult}) ? 3 : 2;
}

bool follows(const Finding& f, const Finding& misaligned) {
  return f.rule != rule::kMisaligned && rank(f) != 3 && f.kernel == misaligned.kernel &&
         (f.array == misaligned.array || f.rule == rule::kCrash) &&
         f.place.file == misaligned.place.file && f.place.line == misaligned.place.line;
}

}  // namespace

std::vector<Finding> causes_first(std::vector<Finding> findings) {
  std::vector<Finding> out;
  for (const Finding& f : findings) {
    const bool is_follow_on = std::any_of(
        findings.begin(), findings.end(),
        [&](const Finding& cause) { return cause.rule == rule::kMisaligned && follows(f, cause); });
    if (!is_follow_on) out.push_back(f);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
  return out;
}

}  // namespace tessera::simt
