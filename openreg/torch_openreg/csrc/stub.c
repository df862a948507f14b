// The module that Python loads: hands over to C++; see docs/start/architecture.md.
#include <Python.h>

extern PyObject* initOpenRegModule(void);

PyMODINIT_FUNC PyInit__C(void) { return initOpenRegModule(); }
