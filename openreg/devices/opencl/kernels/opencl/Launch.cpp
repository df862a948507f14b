// Launches kernels written in OpenCL C on the current stream; see
// docs/opencl/kernels.md.
#include "csrc/kernels/opencl/Launch.h"

#include <map>
#include <mutex>

#include "csrc/kernels/opencl/Iterator.h"
#include "csrc/kernels/opencl/Math.h"
#include "csrc/runtime/device/OclFunctions.h"
#include "csrc/runtime/device/OclGuard.h"
#include "csrc/runtime/errors/OclException.h"
#include "csrc/runtime/stream/OclStream.h"

namespace ocl::opencl {
namespace {

using Key = std::tuple<const char*, const char*, std::string_view, std::string>;

// Never destroyed: threads may launch while the process exits.
struct Kernels {
  std::mutex mutex;
  std::map<Key, orClKernel_t> by_key;
};

Kernels& kernels() {
  static auto* const only = new Kernels;
  return *only;
}

// LITERALINCLUDE START: FIND_KERNEL
// The driver compiles a text once; this saves putting the text together for each
// launch.
orClKernel_t find_kernel(const Source& source, const char* name,
                         const std::string& options) {
  Kernels& all = kernels();
  const std::lock_guard lock(all.mutex);
  orClKernel_t& kernel = all.by_key[{source.text, source.expression, name, options}];
  if (kernel == nullptr) {
    std::string text = c10::str(kTypes, kLayout);
    if (source.expression != nullptr) {
      text += c10::str("#define EXPRESSION ", source.expression,
                       "\ntypedef COMPUTE(C) Value;\n", kMath);
    }
    text += source.text;
    OCL_CHECK(orClGetKernel(&kernel, text.c_str(), name, options.c_str()));
  }
  return kernel;
}
// LITERALINCLUDE END: FIND_KERNEL

}  // namespace

// LITERALINCLUDE START: ENQUEUE_KERNEL
void enqueue(const Source& source, const char* name, const std::string& options,
             const Range& range, c10::DeviceIndex device, const orClArg* args,
             int count) {
  const OclGuard guard(device < 0 ? current_device() : device);
  const c10::Stream stream = current_stream(current_device());
  const orClKernel_t kernel = find_kernel(source, name, options);
  const size_t* local = range.local[0] == 0 ? nullptr : range.local.data();
  OCL_CHECK(orClLaunch(kernel, args, count, range.dims, range.global.data(), local,
                       native_handle(stream)));
}
// LITERALINCLUDE END: ENQUEUE_KERNEL

}  // namespace ocl::opencl
