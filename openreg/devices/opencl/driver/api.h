// The headers that the driver implements, in a copy or as a drop-in for libopenreg.so;
// see docs/opencl/driver.md.
#pragma once

#include "oclrt_kernel.h"

#ifdef OPENREG_DROP_IN
#include "openreg_activity.h"
#include "openreg_graph.h"
#define OCLRT_VARIABLE(NAME) "OPENREG_" NAME
#else
// A copy contains no headers that its stage of the ladder does not call.
#if __has_include("oclrt_activity.h")
#include "oclrt_activity.h"
#define OCLRT_HAS_ACTIVITY 1
#endif
#if __has_include("oclrt_graph.h")
#include "oclrt_graph.h"
#define OCLRT_HAS_GRAPH 1
#endif
#define OCLRT_VARIABLE(NAME) "OCLRT_" NAME
#endif

#ifdef OPENREG_DROP_IN
#define OCLRT_HAS_ACTIVITY 1
#define OCLRT_HAS_GRAPH 1
#endif

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
