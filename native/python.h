// Functions that Python calls without a program.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace weft {

// examples_python.cc
PyObject* read_columns(PyObject*, PyObject* args);

}  // namespace weft
