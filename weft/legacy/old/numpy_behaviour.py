"""Substitutes for what NumPy 1 had or allowed."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.legacy.old import notices
from weft.legacy.old.unequal_rows import JOINING, of_objects, of_rows

NEGATIVE_INFINITY = -np.inf
ZERO, NEGATIVE_ZERO = 0.0, -0.0
SCALAR_TYPES: dict[str, list[Any]] = {
    "int": [np.int8, np.int16, np.int32, np.int64],
    "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
    "float": [np.float16, np.float32, np.float64, np.longdouble],
    "complex": [np.complex64, np.complex128, np.clongdouble],
    "others": [bool, object, bytes, str, np.void],
}


class _ByType(dict[Any, Any]):
    """A table by scalar type, made of a function of the dtype."""

    def __init__(self, make: Callable[[np.dtype[Any]], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, kind: Any) -> Any:
        return self._make(np.dtype(kind))


CAST = _ByType(lambda dtype: lambda value: np.asarray(value).astype(dtype))
BYTES = _ByType(lambda dtype: dtype.itemsize)


def asscalar(value: Any) -> Any:
    """The only element of an array, as a Python number."""
    return np.asarray(value).item()


def asfarray(value: Any, dtype: Any = np.float64) -> np.ndarray:
    """An array of floats; of the default type where the one asked for is not a float."""
    return np.asarray(value, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def find_common_type(array_types: Any, scalar_types: Any) -> np.dtype[Any]:
    """The dtype that can hold arrays of some types and scalars of others; the arrays' kind wins."""
    arrays = np.result_type(*array_types) if len(array_types) else None
    scalars = np.result_type(*scalar_types) if len(scalar_types) else None
    if arrays is None or scalars is None:
        return arrays if scalars is None else scalars  # type: ignore[return-value]
    kinds = "biufcO"
    return scalars if kinds.find(scalars.kind) > kinds.find(arrays.kind) else arrays


def issctype(value: Any) -> bool:
    """Whether something is a scalar type or a dtype."""
    kind = obj2sctype(value) if isinstance(value, type | np.dtype) else None
    return kind is not None and kind is not np.object_


def issubsctype(one: Any, other: Any) -> bool:
    """Whether the scalar type of one thing is a subclass of that of another."""
    return issubclass(obj2sctype(one), obj2sctype(other))


def issubclass_(one: Any, other: Any) -> bool:
    """`issubclass`, and False for what is no class."""
    return isinstance(one, type) and issubclass(one, other)


def obj2sctype(value: Any, default: Any = None) -> Any:
    """The scalar type of an array, a type or a dtype."""
    if isinstance(value, type) and issubclass(value, np.generic):
        return value
    try:
        return value.dtype.type if isinstance(value, np.ndarray) else np.dtype(value).type
    except TypeError:
        return default


def sctype2char(kind: Any) -> str:
    """The letter of a scalar type."""
    return np.dtype(obj2sctype(kind)).char


def maximum_sctype(kind: Any) -> Any:
    """The widest scalar type of the same kind."""
    found = obj2sctype(kind)
    for types in SCALAR_TYPES.values():
        if found in types[:-1]:
            return types[-1]
    return found


def msort(value: Any) -> np.ndarray:
    """Sorted along the first axis."""
    return np.sort(value, axis=0)


def disp(message: Any, device: Any = None, linefeed: bool = True) -> None:
    """Writes a message to standard output."""
    (device or sys.stdout).write(f"{message}\n" if linefeed else str(message))


def deprecate(*args: Any, **_: Any) -> Any:
    """The function itself, without its warning."""
    return args[0] if args else lambda function: function


def asbytes(text: Any) -> bytes:
    """Latin 1."""
    return text if isinstance(text, bytes) else str(text).encode("latin1")


def asstr(text: Any) -> str:
    """Latin 1."""
    return text.decode("latin1") if isinstance(text, bytes) else str(text)


def recfromcsv(source: Any, **options: Any) -> np.ndarray:
    """Records from a file with commas, named by its first line, in lower case."""
    defaults = {"case_sensitive": "lower", "names": True, "delimiter": ",", "dtype": None}
    read: Any = np.genfromtxt
    return read(source, **{**defaults, **options}).view(np.recarray)


def itemset(value: np.ndarray, *args: Any) -> None:
    """Sets one element: by a flat index, or by a tuple, or the only one."""
    *where, item = args
    if not where:
        value[...] = item
    elif len(where) == 1 and not isinstance(where[0], tuple):
        value.flat[where[0]] = item
    else:
        value[where[0] if len(where) == 1 else tuple(where)] = item


def newbyteorder(value: np.ndarray, order: str = "S") -> np.ndarray:
    """The same bytes, taken in another order."""
    dtype: Any = value.dtype
    return value.view(dtype.newbyteorder(order))


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Whether a type is below another, where `float` and "int" stand for all sizes of them."""
    is_scalar = isinstance(arg2, type) and issubclass(arg2, np.generic)
    if not is_scalar and not isinstance(arg2, np.dtype) and np.dtype(arg2).kind in "iufc":
        arg2 = np.dtype(arg2).type.mro()[1]
    return bool(np.issubdtype(arg1, arg2))


def random_integers(low: int, high: int | None = None, size: Any = None) -> Any:
    """Integers between two ends, both included."""
    low, high = (1, low) if high is None else (low, high)
    return np.random.randint(low, high + 1, size)


def _lenient(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`function`, giving an array of objects for rows of unequal length; integers may overflow."""

    @functools.wraps(function)
    def call(object: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        try:
            return function(object, dtype, *args, **options)
        except OverflowError as error:
            if "out of bounds" not in str(error):
                raise
            notices.tell_of(name, "of integers that do not fit", "what is left of their bits")
            return function(object).astype(dtype)
        except ValueError as error:
            if dtype is not None or "inhomogeneous" not in str(error):
                raise
            notices.tell_of(name, "of rows of unequal length", "dtype=object")
            return of_objects(function, object, args, options)

    return call


_array = _lenient(np.array, "numpy.array")
asarray = _lenient(np.asarray, "numpy.asarray")
asanyarray = _lenient(np.asanyarray, "numpy.asanyarray")


def array(object: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
    """`np.array`, where `copy=False` means: only if it must."""
    if args:  # `copy` could be given by its place
        options["copy"], args = args[0], args[1:]
        options.update(zip(("order", "subok", "ndmin"), args, strict=False))
    if options.get("copy") is False:
        options["copy"] = None
    return _array(object, dtype, **options)


def save(file: Any, arr: Any, *args: Any, **options: Any) -> None:
    """`np.save`, also of rows of unequal length."""
    np.save(file, asanyarray(arr), *args, **options)


def fromstring(
    string: Any, dtype: Any = float, count: int = -1, sep: str = "", **options: Any
) -> np.ndarray:
    """`np.fromstring`, also of bytes: a copy that can be written to."""
    if sep != "":
        return np.fromstring(string, dtype, count, sep=sep, **options)
    notices.tell_of("numpy.fromstring", "of bytes", "np.frombuffer(...).copy()")
    data = string.encode("latin1") if isinstance(string, str) else string
    return np.frombuffer(data, dtype, count).copy()


_sum = of_rows(np.sum, "numpy.sum")


def sum_(values: Any, *args: Any, **options: Any) -> Any:
    """`np.sum`, also of a generator: Python's sum."""
    if isinstance(values, Iterator) and not args and not options:
        notices.tell_of("numpy.sum", "of a generator", "sum")
        return sum(values)
    return _sum(values, *args, **options)


def _of_iterators(name: str) -> Callable[..., Any]:
    """The function of NumPy, also of an iterator in place of a list."""
    function = of_rows(getattr(np, name), f"numpy.{name}")

    @functools.wraps(function)
    def call(arrays: Any, *args: Any, **options: Any) -> Any:
        if isinstance(arrays, Iterator):
            notices.tell_of(f"numpy.{name}", "of an iterator", "a list of it")
            arrays = list(arrays)
        return function(arrays, *args, **options)

    return call


vstack, hstack, dstack, column_stack, stack, concatenate = map(_of_iterators, JOINING)


def _over_an_axis(name: str) -> Callable[..., Any]:
    """The function of NumPy, with the axis of `np.min(0.1, 0.5)`: the whole part of a number."""
    function = of_rows(getattr(np, name), f"numpy.{name}")

    @functools.wraps(function)
    def call(values: Any, axis: Any = None, *args: Any, **options: Any) -> Any:
        if isinstance(axis, float | np.floating):
            notices.tell_of(f"numpy.{name}", f"over an axis {axis}", f"axis {int(axis)}")
            axis = int(axis)
        return function(values, axis, *args, **options)

    return call


amax, amin, max_, min_ = map(_over_an_axis, ("amax", "amin", "max", "min"))


def _between(name: str) -> Callable[..., Any]:
    """The function of NumPy, with a float for the number of points: its whole part."""
    function = getattr(np, name)

    @functools.wraps(function)
    def call(start: Any, stop: Any, num: Any = 50, *args: Any, **options: Any) -> Any:
        if isinstance(num, float | np.floating):
            notices.tell_of(f"numpy.{name}", f"of {num} points", f"{int(num)} points")
            num = int(num)
        return function(start, stop, num, *args, **options)

    return call


linspace, logspace, geomspace = map(_between, ("linspace", "logspace", "geomspace"))


def _as_list(name: str) -> Callable[..., Any]:
    """The function of NumPy, its results in a list, which programs may append to.

    Most only take them out of it, so that there is nothing to tell.
    """
    function = of_rows(getattr(np, name), f"numpy.{name}")

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        return list(found) if isinstance(found, tuple) else found

    return call


meshgrid, broadcast_arrays, atleast_1d, atleast_2d, atleast_3d = map(
    _as_list, ("meshgrid", "broadcast_arrays", "atleast_1d", "atleast_2d", "atleast_3d")
)


def _renamed(function: Callable[..., Any], name: str, old: str, new: str) -> Callable[..., Any]:
    """`function` with the old name of a parameter."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        if old in options:
            notices.tell_of(name, f"with {old}=", f"{new}=")
            options[new] = options.pop(old)
        return function(*args, **options)

    return call


histogram = _renamed(np.histogram, "numpy.histogram", "normed", "density")
unravel_index = _renamed(np.unravel_index, "numpy.unravel_index", "dims", "shape")
reshape = _renamed(of_rows(np.reshape, "numpy.reshape"), "numpy.reshape", "newshape", "shape")


def _decorator(*_: Any, **__: Any) -> Callable[[Any], Any]:
    """A decorator of tests that leaves them as they are."""
    return lambda function: function


class Tester:
    """What ran a package's tests with nose: packages make one when they are imported."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def test(self, *_: Any, **__: Any) -> None:
        """Needs nose, which is gone."""
        raise ImportError("Need nose >= 1.0.0 for tests")

    bench = test


# `numpy.testing.decorators`
slow = deprecate
skipif = knownfailureif = setastest = _decorator
# `numpy.core.umath_tests`
inner1d = functools.partial(np.einsum, "...i,...i->...")
matrix_multiply = np.matmul
