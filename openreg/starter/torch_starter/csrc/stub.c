// The module that Python loads: hands over to C++; see docs/start/first-backend.md.
#include <Python.h>

// LITERALINCLUDE START: STARTER_STUB
extern PyObject* initStarterModule(void);

PyMODINIT_FUNC PyInit__C(void) { return initStarterModule(); }
// LITERALINCLUDE END: STARTER_STUB
