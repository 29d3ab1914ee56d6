// Columns of examples for Python: from a list of bytes, as lists of bytes and arrays of numbers.
#include "examples.h"
#include "python.h"

#include <memory>
#include <new>

namespace weft {
namespace {

struct Release {
  void operator()(PyObject* object) const { Py_XDECREF(object); }
};
using Owned = std::unique_ptr<PyObject, Release>;

bool view(PyObject* bytes, std::string_view& found) {
  char* data;
  Py_ssize_t size;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) < 0) return false;
  found = {data, static_cast<size_t>(size)};
  return true;
}

bool view_all(PyObject* list, std::vector<std::string_view>& found) {
  found.resize(PyList_Size(list));
  for (size_t i = 0; i < found.size(); ++i) {
    if (!view(PyList_GetItem(list, i), found[i])) return false;
  }
  return true;
}

bool make_columns(PyObject* keys, PyObject* kinds, std::vector<Column>& columns) {
  std::vector<std::string_view> names;
  std::string_view each;
  if (!view_all(keys, names) || !view(kinds, each)) return false;
  for (size_t i = 0; i < names.size() && i < each.size(); ++i) {
    columns.push_back({names[i], static_cast<Kind>(each[i]), {}, {}, {}, {}});
  }
  return true;
}

PyObject* list_of(const std::vector<std::string_view>& texts) {
  Owned list(PyList_New(texts.size()));
  for (size_t i = 0; list && i < texts.size(); ++i) {
    PyObject* text = PyBytes_FromStringAndSize(texts[i].data(), texts[i].size());
    if (text == nullptr) return nullptr;
    PyList_SetItem(list.get(), i, text);
  }
  return list.release();
}

template <class Numbers>
PyObject* memory_of(const Numbers& numbers) {
  return PyByteArray_FromStringAndSize(reinterpret_cast<const char*>(numbers.data()),
                                       numbers.size() * sizeof(numbers[0]));
}

PyObject* values_of(const Column& column) {
  if (column.kind == Kind::texts) return list_of(column.texts);
  return column.kind == Kind::floats ? memory_of(column.floats) : memory_of(column.integers);
}

// Values and counts of each column.
PyObject* pairs_of(const std::vector<Column>& columns) {
  Owned list(PyList_New(columns.size()));
  for (size_t i = 0; list && i < columns.size(); ++i) {
    Owned values(values_of(columns[i])), counts(memory_of(columns[i].counts));
    PyObject* pair = values && counts ? PyTuple_Pack(2, values.get(), counts.get()) : nullptr;
    if (pair == nullptr) return nullptr;
    PyList_SetItem(list.get(), i, pair);
  }
  return list.release();
}

PyObject* read(PyObject* serialized, PyObject* keys, PyObject* kinds) {
  std::vector<std::string_view> examples;
  std::vector<Column> columns;
  if (!view_all(serialized, examples) || !make_columns(keys, kinds, columns)) return nullptr;
  if (!read_examples(examples, columns)) Py_RETURN_NONE;
  return pairs_of(columns);
}

}  // namespace

// From a list of bytes, one of keys, and the kinds of features as bytes. None if something is not
// written as usual.
PyObject* read_columns(PyObject*, PyObject* args) {
  PyObject *serialized, *keys, *kinds;
  if (!PyArg_ParseTuple(args, "O!O!O", &PyList_Type, &serialized, &PyList_Type, &keys, &kinds)) {
    return nullptr;
  }
  try {
    return read(serialized, keys, kinds);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

}  // namespace weft
