// Waiting for other people's threads to fall asleep.
#pragma once

namespace tessera::bench {

/// Waits, at most `at_most_s`, until no other thread of this process uses the processor: a peer's
/// workers may spin for a while after a call. False if they never stopped.
bool wait_until_quiet(double at_most_s);

}  // namespace tessera::bench
