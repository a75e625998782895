// Whether the programs that tests run are built with sanitizers, as most tests then are. A test
// that only runs them is itself built without, so that its compiler does not know.
#pragma once

namespace tessera::test {

#ifdef TESSERA_PROGRAMS_SANITIZED
inline constexpr bool kProgramsSanitized = true;
#else
inline constexpr bool kProgramsSanitized = false;
#endif

}  // namespace tessera::test
