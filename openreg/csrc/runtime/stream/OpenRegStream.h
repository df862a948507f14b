// Streams: c10::Stream to driver handle and back; see docs/runtime/stream.md.
#pragma once

#include <c10/core/Stream.h>
#include <openreg.h>

#include <utility>

#include "csrc/Export.h"
#include "csrc/runtime/device/OpenRegFunctions.h"

namespace openreg {

// LITERALINCLUDE START: STREAM_ID
// A c10::Stream is a device and a 64-bit id. Here the id is the driver's handle: 0 is
// the default stream of the device, because the driver uses NULL for it.
inline orStream_t native_handle(const c10::Stream& stream) {
  return reinterpret_cast<orStream_t>(stream.id());
}
// LITERALINCLUDE END: STREAM_ID

// The default stream of `device`.
OPENREG_EXPORT c10::Stream default_stream(DeviceIndex device);

// The stream on which this thread's work for `device` runs; at first the default
// stream.
OPENREG_EXPORT c10::Stream current_stream(DeviceIndex device);

// Makes `stream` current on its device, for this thread; returns the previous stream.
OPENREG_EXPORT c10::Stream exchange_stream(const c10::Stream& stream);

// The state before a switch to a stream: the stream that was current on its device, and
// the current stream of the device that was current.
struct StreamSwitch {
  c10::Stream there;
  c10::Stream here;
};
// Makes `stream` and its device current for this thread. ValueError for a stream of
// another type of device, torch.AcceleratorError for one that is not live.
OPENREG_EXPORT StreamSwitch switch_to(const c10::Stream& stream);
OPENREG_EXPORT void switch_back(const StreamSwitch& before);

// One of `kStreamsPerPool` streams of the device and priority, in turn. Streams are
// never destroyed: a c10::Stream does not report the end of its last copy.
constexpr int kStreamsPerPool = 32;
OPENREG_EXPORT c10::Stream stream_from_pool(DeviceIndex device, int priority);

// The stream of a handle that another library made with orStreamCreate on `device`; its
// maker destroys it. Throws if it is not live, or belongs to another device.
OPENREG_EXPORT c10::Stream external_stream(orStream_t handle, DeviceIndex device);

// Between `greatest` (negative, served first) and `least` (0); see priority_range().
OPENREG_EXPORT int priority(const c10::Stream& stream);
OPENREG_EXPORT std::pair<int, int> priority_range();  // least, greatest

}  // namespace openreg
