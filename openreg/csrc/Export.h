// Marks what libtorch_openreg.so exports; see docs/start/architecture.md.
#pragma once

#include <c10/macros/Export.h>

#if defined(TORCH_OPENREG_BUILD)
#define OPENREG_EXPORT C10_EXPORT
#else
#define OPENREG_EXPORT C10_IMPORT
#endif
