// What nvcc includes before every program: the words of the device and the runtime. It brings the
// C headers that programs have come to rely on.
#pragma once

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_runtime_api.h"
#include "simt_atomics.h"
#include "simt_bits.h"
#include "simt_directed.h"
#include "simt_index.h"
#include "simt_math.h"
#include "simt_minmax.h"
#include "simt_pointers.h"
#include "simt_sync.h"
#include "simt_vectors.h"
#include "simt_warp.h"
