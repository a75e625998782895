#include "cpu/simd_targets.h"

#include <fmt/format.h>
#include <strings.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "cpu/simd_dispatch.h"
// After it: the set of targets.
#include <hwy/highway.h>

#include "tessera/error.h"

namespace tessera {
namespace {

/// Targets of this build that this CPU runs, best first: Highway gives better ones lower bits.
const std::vector<std::int64_t>& runnable() {
  // Never destroyed: see registry().
  static const std::vector<std::int64_t>& targets = *[] {
    auto out = std::make_unique<std::vector<std::int64_t>>();
    // What the compiler was told to assume for the whole program runs, or nothing here would.
    std::int64_t left = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
    for (; left != 0; left &= left - 1) out->push_back(left & -left);
    return out.release();
  }();
  return targets;
}

/// Names people use, and the beginning of Highway's names for the same.
struct Group {
  const char* name;
  const char* prefix;
};
constexpr Group kGroups[] = {
    {"scalar", "SCALAR"}, {"scalar", "EMU128"}, {"avx512", "AVX3"}, {"neon", "NEON"}};

bool begins_with(const std::string& text, const char* prefix) {
  return strncasecmp(text.c_str(), prefix, std::char_traits<char>::length(prefix)) == 0;
}

/// Position of the best target that answers to `name`.
std::size_t find(const std::string& name, const char* source) {
  const std::vector<std::string>& names = simd_target_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (strcasecmp(names[i].c_str(), name.c_str()) == 0) return i;
    for (const Group& group : kGroups) {
      if (strcasecmp(group.name, name.c_str()) == 0 && begins_with(names[i], group.prefix)) {
        return i;
      }
    }
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{} = \"{}\": not an instruction set that this build and this CPU have; "
                          "they have {}",
                          source, name, fmt::join(names, ", ")));
}

constexpr std::size_t kUndecided = SIZE_MAX;
std::atomic<std::size_t> g_position{kUndecided};

}  // namespace

const std::vector<std::string>& simd_target_names() {
  static const std::vector<std::string>& names = *[] {
    auto out = std::make_unique<std::vector<std::string>>();
    for (const std::int64_t target : runnable()) out->emplace_back(hwy::TargetName(target));
    return out.release();
  }();
  return names;
}

std::size_t simd_target_position() {
  const std::size_t position = g_position.load(std::memory_order_acquire);
  if (position != kUndecided) return position;
  const char* text = std::getenv("TESSERA_SIMD");
  const std::size_t first = text == nullptr || *text == '\0' ? 0 : find(text, "TESSERA_SIMD");
  // A concurrent first use decides the same; a concurrent force_simd_target stands.
  std::size_t expected = kUndecided;
  return g_position.compare_exchange_strong(expected, first) ? first : expected;
}

std::string simd_target_name() { return simd_target_names()[simd_target_position()]; }

void force_simd_target(const std::string& name) {
  g_position.store(name.empty() ? 0 : find(name, "simd target"), std::memory_order_release);
}

std::size_t simd_table_index() {
  // Of every target, once: each launch asks.
  static const std::vector<std::size_t>& indices = *[] {
    auto out = std::make_unique<std::vector<std::size_t>>();
    for (const std::int64_t target : runnable()) {
      hwy::ChosenTarget chosen;
      chosen.Update(target);
      out->push_back(chosen.GetIndex());
    }
    return out.release();
  }();
  return indices[simd_target_position()];
}

}  // namespace tessera
