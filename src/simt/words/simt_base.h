// What every word needs: the executor's functions and the attribute of small device functions.
#pragma once

#define SIMT_WORDS
#include "simt_abi.h"

// Inlined even without optimisation and without lines of their own, so that an access belongs to
// the line of the program that asked for it.
#define SIMT_INLINE inline __attribute__((always_inline, nodebug))
