// Errors: a code, and a sentence for the calling thread; see docs/opencl/driver.md.
#pragma once

#include "api.h"

namespace oclrt {

// Stores the message for orGetErrorDetail(), after the name of the API function, and
// returns the code.
[[gnu::format(printf, 2, 3)]] orError_t fail(orError_t code, const char* format, ...);

// The same for a failing call of OpenCL.
orError_t fail_cl(const char* call, cl_int status);

// The enumerator of CL/cl.h, e.g. "CL_OUT_OF_RESOURCES".
const char* name_of(cl_int status);

}  // namespace oclrt
