// A kernel's body together with those of the functions that it calls.
#pragma once

#include <string>

#include "simt/source/declarations.h"

namespace tessera::simt {

/// Every token apart, whatever blanks it was written with; behind the function's own body those of
/// the device functions that it calls, with the arguments in place of their parameters where that
/// is a matter of names, and `const int BM = 16 ;` for template arguments.
std::string body_text(const Tokens& tokens, const Declarations& declarations,
                      const Function& function);

}  // namespace tessera::simt
