// Silence between samples of different libraries.
#pragma once

namespace tessera::bench {

/// Waits until no other thread of this process is running, so that workers which spin after their
/// product do not slow the next one. False when they had not stopped after `at_most_s` seconds, or
/// the system does not tell.
bool wait_until_quiet(double at_most_s);

}  // namespace tessera::bench
