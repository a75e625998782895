// One line of TESSERA_LOG=calls, read back. The format is that of core/call_log.cc.
#pragma once

#include <string_view>

#include "bench/case.h"

namespace tessera::bench {

/// The call as a case, its pointers taken as aligned to 256 bytes: the log does not tell. Throws
/// Error(kInvalidArgument) with the rule that the line breaks. Fields it does not know are ignored.
Case parse_log_line(std::string_view line);

/// Throws Error with the rule when `c` cannot be timed: sizes, leading dimensions and strides that
/// contradict each other, or no product of finite scale in it.
void check_case(const Case& c);

}  // namespace tessera::bench
