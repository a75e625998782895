#pragma once
#include "simt_index.h"
#include "simt_vectors.h"
