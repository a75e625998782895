// Clock, power and throttling of a GPU while it is measured, from NVML opened at run time.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tessera::bench {

struct ClockSample {
  int sm_mhz = 0, memory_mhz = 0, max_sm_mhz = 0;
  int temperature_c = 0;
  double power_w = 0;
  /// Reasons other than idleness and set limits: "power cap", "thermal slowdown", ...
  std::vector<std::string> throttled;
};

class ClockWatch {
 public:
  /// For the CUDA device `index`, matched by PCI bus id. Never throws: where NVML cannot be opened,
  /// `unavailable` says why and sample() returns zeros.
  explicit ClockWatch(int index);
  ~ClockWatch();
  ClockSample sample();
  const std::string& unavailable() const { return unavailable_; }
  const std::string& driver_version() const { return driver_version_; }

 private:
  struct Nvml;
  std::unique_ptr<Nvml> nvml_;
  std::string unavailable_, driver_version_;
};

}  // namespace tessera::bench
