// The timers of CUDA's sample programs.
#pragma once

#include <time.h>

#include "helper_string.h"

class StopWatchInterface {
 public:
  void start() {
    begin_ms_ = now_ms();
    is_running_ = true;
  }
  void stop() {
    if (!is_running_) return;
    last_ms_ = now_ms() - begin_ms_;
    total_ms_ += last_ms_;
    ++sessions_;
    is_running_ = false;
  }
  void reset() {
    total_ms_ = last_ms_ = 0;
    sessions_ = 0;
    begin_ms_ = now_ms();
  }
  float getTime() { return float(total_ms_ + (is_running_ ? now_ms() - begin_ms_ : 0)); }
  float getAverageTime() { return sessions_ > 0 ? float(total_ms_ / sessions_) : 0.0f; }

 private:
  static double now_ms() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) * 1e-6;
  }
  double begin_ms_ = 0, last_ms_ = 0, total_ms_ = 0;
  int sessions_ = 0;
  bool is_running_ = false;
};

inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchInterface;
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  delete *timer;
  *timer = nullptr;
  return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->start();
  return true;
}
inline bool sdkStopTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->stop();
  return true;
}
inline bool sdkResetTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->reset();
  return true;
}
inline float sdkGetTimerValue(StopWatchInterface** timer) {
  return *timer ? (*timer)->getTime() : 0.0f;
}
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) {
  return *timer ? (*timer)->getAverageTime() : 0.0f;
}
