// The Python module: a dict of the kernels' addresses, as jax.ffi takes them, and functions.
#include "kernels.h"
#include "python.h"

#define JOINED(a, b) a##b
#define INIT(name) JOINED(PyInit_, name)
#define QUOTED(name) #name
#define TEXT(name) QUOTED(name)

namespace {

struct Offer {
  const char* name;
  XLA_FFI_Handler* handler;
};

const Offer OFFERS[] = {
    {"convolve", weft::handler<weft::convolve>},
    {"convolve_input", weft::handler<weft::convolve_input>},
    {"convolve_filter", weft::handler<weft::convolve_filter>},
    {"multiply", weft::handler<weft::multiply>},
    {"max_pool", weft::handler<weft::max_pool>},
    {"max_pool_gradient", weft::handler<weft::max_pool_gradient>},
    {"average_pool", weft::handler<weft::average_pool>},
    {"average_pool_gradient", weft::handler<weft::average_pool_gradient>},
    {"depthwise", weft::handler<weft::depthwise>},
    {"depthwise_input", weft::handler<weft::depthwise_input>},
    {"depthwise_filter", weft::handler<weft::depthwise_filter>},

    {"softmax", weft::handler<weft::softmax>},
    {"sum_powers", weft::handler<weft::sum_powers>},
    {"place_of_largest", weft::handler<weft::place_of_largest>},
    {"place_of_smallest", weft::handler<weft::place_of_smallest>},

    {"attend", weft::handler<weft::attend>},
    {"attend_gradient", weft::handler<weft::attend_gradient>},
    {"gather_rows", weft::handler<weft::gather_rows>},
    {"one_hot", weft::handler<weft::one_hot>},
    {"moments", weft::handler<weft::moments>},
    {"turn", weft::handler<weft::turn>},
};

PyMethodDef FUNCTIONS[] = {
    {"read_columns", weft::read_columns, METH_VARARGS, "Features of examples, as columns."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, TEXT(MODULE), "Kernels for XLA programs on CPUs.", -1,
    FUNCTIONS, nullptr, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC INIT(MODULE)() {
  PyObject* module = PyModule_Create(&definition);
  PyObject* kernels = PyDict_New();
  for (const Offer& offer : OFFERS) {
    PyObject* address = PyCapsule_New(reinterpret_cast<void*>(offer.handler), nullptr, nullptr);
    PyDict_SetItemString(kernels, offer.name, address);
    Py_XDECREF(address);
  }
  PyModule_AddObject(module, "kernels", kernels);
  return module;
}
