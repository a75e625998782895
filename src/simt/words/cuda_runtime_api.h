// The part of the runtime that a host program calls.
#pragma once

#define CUDART_VERSION 13000
#define CUDART_CB
#define CUDARTAPI

#include "simt_device.h"
#include "simt_device_attributes.h"
#include "simt_errors.h"
#include "simt_kernels.h"
#include "simt_launch_config.h"
#include "simt_managed.h"
#include "simt_memory.h"
#include "simt_pools.h"
#include "simt_streams.h"
