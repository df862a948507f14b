// Programs in OpenCL C, compiled for a device; see docs/opencl/driver.md.
#pragma once

#include <string>

#include "api.h"

namespace oclrt {

// The program of a source and its options for a device: of this process, of the disk,
// or compiled now. It is never released.
orError_t find_program(const std::string& source, const std::string& options,
                       int device, cl_program* program);

}  // namespace oclrt
