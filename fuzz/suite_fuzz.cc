// Any bytes as a suite or a call log: refused with an Error, or cases that a plan would accept.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "bench/suite.h"
#include "core/canonical.h"
#include "tessera/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tessera;
  const int file = memfd_create("suite", MFD_CLOEXEC);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const bench::Suite suite =
        bench::read_suite("/proc/self/fd/" + std::to_string(file), DType::kF32);
    for (const bench::Case& c : suite.cases) {
      canonicalise(c.desc, {});
      if (c.m < 1 || c.n < 1 || c.k < 1 || c.calls < 1 || c.alpha == 0) std::abort();
    }
    for (const std::string& fault : suite.faults) {
      if (fault.find('\n') != std::string::npos) std::abort();
    }
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kBadFile) std::abort();
  }
  close(file);
  return 0;
}
