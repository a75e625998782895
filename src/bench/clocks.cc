#include "bench/clocks.h"

#include <dlfcn.h>

#include "bench/gpu.h"
#include "tessera/error.h"

namespace tessera::bench {
namespace {

// Of nvml.h; its functions and values have not changed since they were introduced.
using NvmlDevice = void*;
constexpr int kSuccess = 0;
constexpr unsigned kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;

struct Reason {
  unsigned long long bit;
  const char* name;
};
// Bits for idleness, set clock limits and display clocks are left out: nothing slowed down.
constexpr Reason kReasons[] = {
    {0x04, "power cap"},        {0x08, "hardware slowdown"},         {0x10, "sync boost"},
    {0x20, "thermal slowdown"}, {0x40, "hardware thermal slowdown"}, {0x80, "hardware power brake"},
};

}  // namespace

struct ClockWatch::Nvml {
  const char* (*error_text)(int) = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*device_by_bus_id)(const char*, NvmlDevice*) = nullptr;
  int (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*max_clock)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*power)(NvmlDevice, unsigned*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  bool is_started = false;
  NvmlDevice device = nullptr;

  ~Nvml() {
    if (is_started) shutdown();
  }

  /// Why it cannot be used; empty when it can. The library stays open: it is small, and another
  /// watch may want it.
  std::string open(int index, std::string* version) {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return std::string("NVML: ") + dlerror();
    const bool is_complete = find(library, "nvmlErrorString", error_text) &&
                             find(library, "nvmlInit_v2", init) &&
                             find(library, "nvmlShutdown", shutdown) &&
                             find(library, "nvmlSystemGetDriverVersion", driver_version) &&
                             find(library, "nvmlDeviceGetHandleByPciBusId_v2", device_by_bus_id) &&
                             find(library, "nvmlDeviceGetClockInfo", clock) &&
                             find(library, "nvmlDeviceGetMaxClockInfo", max_clock) &&
                             find(library, "nvmlDeviceGetTemperature", temperature) &&
                             find(library, "nvmlDeviceGetPowerUsage", power) &&
                             // Drivers from 535 on have both names.
                             (find(library, "nvmlDeviceGetCurrentClocksEventReasons", reasons) ||
                              find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", reasons));
    if (!is_complete) return std::string("NVML: ") + dlerror();

    if (const int error = init(); error != kSuccess) return fault("nvmlInit", error);
    is_started = true;
    char text[96] = {};
    if (driver_version(text, sizeof text) == kSuccess) *version = text;
    try {
      const int error = device_by_bus_id(gpu::pci_bus_id(index).c_str(), &device);
      if (error != kSuccess) return fault("nvmlDeviceGetHandleByPciBusId", error);
    } catch (const Error& e) {
      return std::string("NVML: ") + e.what();
    }
    return "";
  }

  ClockSample sample() const {
    ClockSample out;
    out.sm_mhz = value(clock, kClockSm);
    out.memory_mhz = value(clock, kClockMemory);
    out.max_sm_mhz = value(max_clock, kClockSm);
    out.temperature_c = value(temperature, kTemperatureGpu);
    unsigned milliwatts = 0;
    if (power(device, &milliwatts) == kSuccess) out.power_w = milliwatts / 1000.0;
    unsigned long long bits = 0;
    if (reasons(device, &bits) == kSuccess) {
      for (const Reason& reason : kReasons) {
        if ((bits & reason.bit) != 0) out.throttled.emplace_back(reason.name);
      }
    }
    return out;
  }

 private:
  template <class F>
  static bool find(void* library, const char* name, F& function) {
    function = reinterpret_cast<F>(dlsym(library, name));
    return function != nullptr;
  }
  std::string fault(const char* call, int error) const {
    return std::string("NVML: ") + call + ": " + error_text(error);
  }
  /// 0 where the device does not say.
  int value(int (*ask)(NvmlDevice, unsigned, unsigned*), unsigned which) const {
    unsigned value = 0;
    return ask(device, which, &value) == kSuccess ? static_cast<int>(value) : 0;
  }
};

ClockWatch::ClockWatch(int index) : nvml_(std::make_unique<Nvml>()) {
  unavailable_ = nvml_->open(index, &driver_version_);
}

ClockWatch::~ClockWatch() = default;

ClockSample ClockWatch::sample() { return unavailable_.empty() ? nvml_->sample() : ClockSample{}; }

}  // namespace tessera::bench
