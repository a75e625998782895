// What nvcc includes before a program's first line.
#pragma once

#include "cuda_runtime.h"
#include "simt_launch.h"
