// Launches kernels from Python's arguments; see docs/modules/triton-launch.md.
//
// launcher.py compiles this file on first use. A call from Python costs microseconds,
// and a program launches thousands of kernels, so nothing here is done twice that can
// be done once.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>

struct orStream;  // openreg.h names it in prototypes first, of which C warns
#include <openreg.h>
#include <stdlib.h>
#include <string.h>

// A loaded kernel. It is never unloaded: a graph of the driver may hold its address,
// and a trace its name.
typedef struct {
  orKernel_t code;
  char name[];
} Kernel;

static const char kKernel[] = "triton_openreg.kernel";

static PyObject* load(PyObject* self, PyObject* args) {
  const char *path, *name;
  (void)self;
  if (!PyArg_ParseTuple(args, "ss:load", &path, &name)) return NULL;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  // Every kernel has this symbol: its own name may be that of a C function, or a
  // keyword.
  void* code = library == NULL ? NULL : dlsym(library, "kernel");
  if (code == NULL) return PyErr_Format(PyExc_OSError, "load(): %s", dlerror());
  Kernel* kernel = malloc(sizeof(Kernel) + strlen(name) + 1);
  if (kernel == NULL) return PyErr_NoMemory();
  memcpy(&kernel->code, &code, sizeof(code));
  strcpy(kernel->name, name);
  return PyCapsule_New(kernel, kKernel, NULL);
}

// The address of a tensor, or an address itself. -1 with an exception if the device
// that runs the kernel cannot reach it: there, the kernel would be a fault.
static int pointer(PyObject* value, int device, int64_t* slot) {
  static PyObject* data_ptr = NULL;
  if (data_ptr == NULL) data_ptr = PyUnicode_InternFromString("data_ptr");
  PyObject* address = value == Py_None ? PyLong_FromLong(0)
                      : PyLong_Check(value)
                          ? Py_NewRef(value)
                          : PyObject_CallMethodNoArgs(value, data_ptr);
  if (address == NULL) return -1;
  *slot = (int64_t)PyLong_AsUnsignedLongLong(address);
  Py_DECREF(address);
  if (PyErr_Occurred()) return -1;
  if (*slot == 0) return 0;  // no memory: an empty tensor
  orPointerAttributes found;
  const orError_t error = orPointerGetAttributes(&found, (const void*)*slot);
  if (error == orSuccess && found.type == orMemoryTypeDevice && found.device == device)
    return 0;
  if (error == orSuccess && found.type == orMemoryTypeDevice) {
    PyErr_Format(PyExc_ValueError,
                 "the tensor is on openreg:%d, and the kernel runs on openreg:%d: make "
                 "the tensor's device current, or copy the tensor",
                 found.device, device);
  } else {
    PyErr_SetString(PyExc_ValueError,
                    "the tensor is in host memory, which the device cannot reach: copy "
                    "it to openreg");
  }
  return -1;
}

static int integer(PyObject* value, int bits, int is_signed, int64_t* slot) {
  int64_t number;
  if (is_signed) {
    number = PyLong_AsLongLong(value);
  } else {
    PyObject* index = PyNumber_Index(value);
    if (index == NULL) return -1;
    number = (int64_t)PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
  }
  if (number == -1 && PyErr_Occurred()) return -1;
  const int64_t above = bits < 64 ? (number >> (is_signed ? bits - 1 : bits)) : 0;
  if (above != 0 && !(is_signed && above == -1)) {
    PyErr_Format(PyExc_OverflowError, "%R does not fit into %d bits", value, bits);
    return -1;
  }
  *slot = number;
  return 0;
}

static int floating(PyObject* value, char type, int64_t* slot) {
  const double number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) return -1;
  if (type == 'd') {
    memcpy(slot, &number, sizeof(number));
    return 0;
  }
  if (type == 'e') return PyFloat_Pack2(number, (char*)slot, 1);
  const float single = (float)number;
  uint32_t bits;
  memcpy(&bits, &single, sizeof(bits));
  if (type == 'g') {  // bfloat16: the upper half, rounded to nearest, ties to even
    const int is_nan = (bits & 0x7fffffff) > 0x7f800000;
    bits = is_nan ? 0x7fc0 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  }
  memcpy(slot, &bits, sizeof(bits));
  return 0;
}

// Writes one argument. The letters are those of Python's struct, and P for an address,
// g for bfloat16, ? for a truth value.
static int write_slot(char type, PyObject* value, int device, int64_t* slot) {
  switch (type) {
    case 'P':
      return pointer(value, device, slot);
    case '?':
      *slot = PyObject_IsTrue(value);
      return *slot < 0 ? -1 : 0;
    case 'b':
    case 'B':
      return integer(value, 8, type == 'b', slot);
    case 'h':
    case 'H':
      return integer(value, 16, type == 'h', slot);
    case 'i':
    case 'I':
      return integer(value, 32, type == 'i', slot);
    case 'q':
    case 'Q':
      return integer(value, 64, type == 'q', slot);
    default:
      return floating(value, type, slot);
  }
}

// Says which argument an exception is about.
static void name_argument(PyObject* names, Py_ssize_t index) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyErr_Format(type, "argument %U of the Triton kernel: %S",
               PyTuple_GET_ITEM(names, index), value);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

// launch(kernel, types, names, stream, x, y, z, arguments): the driver's error code.
static PyObject* launch(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  (void)self;
  if (count != 8) return PyErr_Format(PyExc_TypeError, "launch() takes 8 arguments");
  const Kernel* kernel = PyCapsule_GetPointer(args[0], kKernel);
  const char* types = PyBytes_AsString(args[1]);
  int64_t grid[3] = {PyLong_AsLongLong(args[4]), PyLong_AsLongLong(args[5]),
                     PyLong_AsLongLong(args[6])};
  orStream_t stream = (orStream_t)PyLong_AsVoidPtr(args[3]);
  if (PyErr_Occurred()) return NULL;
  if (!PyTuple_Check(args[7]) || !PyTuple_Check(args[2]) ||
      PyTuple_GET_SIZE(args[7]) != PyBytes_GET_SIZE(args[1]) ||
      PyTuple_GET_SIZE(args[2]) != PyBytes_GET_SIZE(args[1]))
    return PyErr_Format(PyExc_TypeError, "launch() expected %zd arguments",
                        PyBytes_GET_SIZE(args[1]));
  if (grid[0] <= 0 || grid[1] <= 0 || grid[2] <= 0) return PyLong_FromLong(0);

  // LITERALINCLUDE START: LAUNCHER_SLOTS
  int device;
  const orError_t found = orStreamGetDevice(stream, &device);  // (1)
  if (found != orSuccess) return PyLong_FromLong(found);
  const Py_ssize_t length = PyBytes_GET_SIZE(args[1]);
  int64_t* slots = malloc((3 + length) * sizeof(int64_t));  // (2)
  if (slots == NULL) return PyErr_NoMemory();
  memcpy(slots, grid, sizeof(grid));
  int64_t* next = slots + 3;
  for (Py_ssize_t i = 0; i < length; ++i) {
    if (types[i] == 'x') continue;  // a constant of the compiled code
    *next = 0;
    if (write_slot(types[i], PyTuple_GET_ITEM(args[7], i), device, next++) != 0) {
      free(slots);
      name_argument(args[2], i);
      return NULL;
    }
  }
  orError_t error;
  Py_BEGIN_ALLOW_THREADS;  // (3)
  error = orLaunchKernel(kernel->name, kernel->code, slots, free, stream);
  Py_END_ALLOW_THREADS;
  if (error != orSuccess) free(slots);
  return PyLong_FromLong(error);
  // LITERALINCLUDE END: LAUNCHER_SLOTS
}

// What was wrong with a launch that returned a code.
static PyObject* describe(PyObject* self, PyObject* code) {
  (void)self;
  const orError_t error = (orError_t)PyLong_AsLong(code);
  if (PyErr_Occurred()) return NULL;
  return PyUnicode_FromFormat("%s (%s)", orGetErrorDetail(), orGetErrorName(error));
}

static PyMethodDef functions[] = {
    {"load", load, METH_VARARGS, "Load a kernel from a shared object."},
    {"launch", (PyCFunction)(void (*)(void))launch, METH_FASTCALL, "Launch a kernel."},
    {"describe", describe, METH_O, "Describe the last error of this thread."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT,
                                    "openreg_launcher",
                                    NULL,
                                    -1,
                                    functions,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL};

PyMODINIT_FUNC PyInit_openreg_launcher(void) { return PyModule_Create(&module); }
