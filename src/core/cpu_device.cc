// What this process may use of the CPU: cores and caches, by hwloc.
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cpu/simd_targets.h"
#include "tessera/kernel.h"

namespace tessera {
namespace {

/// Cores in this process's affinity mask.
int allowed_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

std::int64_t cache_bytes(hwloc_topology_t topology, hwloc_obj_type_t type) {
  const int depth = hwloc_get_type_depth(topology, type);
  if (depth < 0) return 0;
  const hwloc_obj_t cache = hwloc_get_obj_by_depth(topology, static_cast<unsigned>(depth), 0);
  return cache == nullptr ? 0 : static_cast<std::int64_t>(cache->attr->cache.size);
}

/// Where the kernel's description is missing (a chroot without /sys), hwloc's Linux part would only
/// print that on stderr. Without it, its CPUID part still finds the caches.
void avoid_complaint(hwloc_topology_t topology) {
  if (access("/sys/devices/system/cpu/cpu0/topology", R_OK | X_OK) == 0) return;
  hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "linux");
}

DeviceInfo inspect() {
  DeviceInfo info;
  info.space = Space::kHost;
  info.name = "CPU";
  info.cores = allowed_cores();
  // Not from the topology: it misses memory that was added after the machine started.
  info.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) == 0) {
    avoid_complaint(topology);
    if (hwloc_topology_load(topology) == 0) {
      info.l1_bytes = cache_bytes(topology, HWLOC_OBJ_L1CACHE);
      info.l2_bytes = cache_bytes(topology, HWLOC_OBJ_L2CACHE);
      info.l3_bytes = cache_bytes(topology, HWLOC_OBJ_L3CACHE);
      const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
      if (package != nullptr) {
        if (const char* model = hwloc_obj_get_info_by_name(package, "CPUModel")) info.name = model;
      }
    }
    hwloc_topology_destroy(topology);
  }
  // A machine that hides its caches: sizes that every 64-bit core of the last decade has.
  if (info.l1_bytes <= 0) info.l1_bytes = 32 << 10;
  if (info.l2_bytes <= 0) info.l2_bytes = 256 << 10;
  return info;
}

}  // namespace

// One for each instruction set, so that forcing another leaves references that were given out
// valid and constant.
const DeviceInfo& cpu_device() {
  // Never destroyed: see registry().
  static const std::vector<DeviceInfo>& infos = *[] {
    std::vector<DeviceInfo> out(simd_target_names().size(), inspect());
    for (std::size_t i = 0; i < out.size(); ++i) out[i].simd = simd_target_names()[i];
    return new std::vector<DeviceInfo>(std::move(out));
  }();
  return infos[simd_target_position()];
}

}  // namespace tessera
