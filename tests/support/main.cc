// main() of every test. With --needs-gpu and no GPU here, says why and exits with 77, which ctest
// shows as Skipped (SKIP_RETURN_CODE). A regular expression on the output would also turn failures
// into skips.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "tessera/kernel.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--needs-gpu") == 0 && tessera::cuda_devices().empty()) {
      std::printf("skipped: %s\n", tessera::cuda_unavailable_reason().c_str());
      return 77;
    }
  }
  return RUN_ALL_TESTS();
}
