// The stream of a launch, a copy or an event; see docs/start/first-runtime.md.
#pragma once

#include <c10/core/Stream.h>
#include <openreg.h>

#include "csrc/runtime/device/StarterFunctions.h"

// LITERALINCLUDE START: STARTER_STREAM
namespace starter {

// Each device has one stream, its default stream.
inline c10::Stream current_stream(c10::DeviceIndex device) {
  return c10::Stream(c10::Stream::DEFAULT, device_at(device));
}

// VENDOR: the default stream of your driver, here a null pointer
inline orStream_t native_handle(const c10::Stream& /*stream*/) { return nullptr; }

}  // namespace starter
// LITERALINCLUDE END: STARTER_STREAM
