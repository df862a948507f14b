// What libtorch_starter.so exports; see docs/start/first-backend.md.
#pragma once

// LITERALINCLUDE START: STARTER_EXPORT
#define STARTER_EXPORT __attribute__((visibility("default")))
// LITERALINCLUDE END: STARTER_EXPORT
