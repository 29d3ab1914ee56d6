"""Old names as the user's code runs: what the rewritten code calls.

`np.float` has become `__weft_old__.having(np, "float").float`: the attribute is still taken by the
user's own line, so that errors are Python's, and are at that line.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import operator
import os
import sys
from collections.abc import MappingView
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from weft.core import flags
from weft.legacy.old import notices, table

_OPERATORS = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "MatMult": operator.matmul,
    "Div": operator.truediv, "FloorDiv": operator.floordiv, "Mod": operator.mod,
    "Pow": operator.pow, "LShift": operator.lshift, "RShift": operator.rshift,
    "BitOr": operator.or_, "BitXor": operator.xor, "BitAnd": operator.and_,
}  # fmt: skip
_SLICES = (slice, type(...))


class StandIn(ModuleType):
    """A package that is gone; the table has its modules."""

    def __getattr__(self, name: str) -> Any:
        if f"{self.__name__}.{name}" in table.MODULES:
            return import_module(f"{self.__name__}.{name}")
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


def having(holder: Any, name: str) -> Any:
    """`holder`, or where it lacks `name`, something that has it as it was."""
    if isinstance(holder, ModuleType):
        return _module_having(holder, name)
    row = table.member(holder, name)
    if row is None or _has(holder, name):
        return holder
    notices.tell(row)
    return SimpleNamespace(**{name: _member(row, holder)})


def _has(holder: Any, name: str) -> bool:
    """Whether an object has a name, without its `__getattr__`, which Python 2 did not ask."""
    return hasattr(type(holder), name) or name in getattr(holder, "__dict__", ())


def _module_having(holder: ModuleType, name: str) -> Any:
    row = table.NAMES.get((holder.__name__, name))
    if row is None:
        full = f"{holder.__name__}.{name}"
        is_old = name not in vars(holder) and full in table.MODULES
        return SimpleNamespace(**{name: import_module(full)}) if is_old else holder
    if row.kind != "changed":
        if _is_there(holder, name):
            return holder
        notices.tell(row)
    elif flags.STRICT:
        return holder
    return _substitute(row, name)


def _is_there(holder: ModuleType, name: str) -> bool:
    """Whether a module has a name. Some warn, in `__getattr__`, of the very names in the table."""
    if holder.__name__.partition(".")[0] == "tensorflow":
        return hasattr(holder, name)  # where weft makes the names as they are asked for
    return name in vars(holder)


@functools.cache
def _substitute(row: table.Row, name: str) -> SimpleNamespace:
    return SimpleNamespace(**{name: row.value()})


def _member(row: table.Row, holder: Any) -> Any:
    function = row.value()
    if row.kind == "property":
        return function(holder)
    return function if isinstance(holder, type) else functools.partial(function, holder)


def import_module(name: str, package: str | None = None) -> Any:
    """The module `name`, as `importlib.import_module` gives it, or its substitute."""
    try:
        return importlib.import_module(name, package)
    except ModuleNotFoundError as error:
        row = table.MODULES.get(name)
        missing = error.name or (name if name.startswith("tensorflow.") else None)
        if row is None or missing is None or not f"{name}.".startswith(f"{missing}."):
            raise
    notices.tell(row)
    return _module_of(row)


@functools.cache
def _module_of(row: table.Row) -> Any:
    if row.substitute.startswith("pip "):
        raise ModuleNotFoundError(
            f"No module named {row.old!r}, {row.reason}: {row.advice}", name=row.old
        ) from None
    return row.value() if row.substitute else StandIn(row.old)


def import_root(name: str) -> Any:
    """What `import a.b.c` binds: `a`, with the modules below it imported."""
    import_module(name)
    root = name.partition(".")[0]
    return sys.modules.get(root) or import_module(root)


def import_from(module: str, name: str) -> Any:
    """What `from module import name` binds."""
    if f"{module}.{name}" in table.MODULES:
        try:
            return import_module(f"{module}.{name}")
        except ModuleNotFoundError:
            pass  # no module: perhaps another kind of name
    holder = import_module(module)
    try:
        return getattr(having(holder, name), name)
    except notices.OldNameError as error:
        raise notices.OldModuleError(str(error)) from None
    except AttributeError:
        return _submodule(holder, module, name)


def import_all(space: dict[str, Any], module: str) -> None:
    """`from module import *`, of a module that may be gone."""
    holder = import_module(module)
    public = [name for name in vars(holder) if not name.startswith("_")]
    space.update({name: getattr(holder, name) for name in getattr(holder, "__all__", public)})


def _submodule(holder: Any, module: str, name: str) -> Any:
    try:
        return importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        where = getattr(holder, "__file__", "unknown location")
        message = f"cannot import name {name!r} from {module!r} ({where})"
        raise ImportError(message, name=module, path=where) from None


def built_in(name: str, space: dict[str, Any]) -> Any:
    """A name that only Python 2 had, unless `from x import *` brought another of that name."""
    if name in space:
        return space[name]
    row = table.NAMES["builtins", name]
    if not hasattr(builtins, name):
        notices.tell(row)
    return getattr(builtins, name, None) or row.value()


def scalar(value: Any) -> Any:
    """An array of one element, of any rank, as the scalar that `float(x)` took it for."""
    if type(value) is np.ndarray and value.ndim and value.size == 1 and not flags.STRICT:
        notices.tell(_SCALARS)
        return value.reshape(())
    return value


def count(value: Any) -> Any:
    """An array of one whole number as that number, where a number counts something."""
    if flags.STRICT:
        return value
    if type(value) is np.ndarray and value.ndim and value.size == 1 and value.dtype.kind in "iu":
        notices.tell(_COUNTS)
        return value.item()
    return value


def index(value: Any) -> Any:
    """An index: a list with slices in it as the tuple that it was taken for."""
    if type(value) is list and any(each is None or isinstance(each, _SLICES) for each in value):
        if not flags.STRICT:
            notices.tell(_INDICES)
            return tuple(value)
    return value


def bound(value: Any) -> Any:
    """An end of a slice: the whole part of a float, as arrays took it."""
    if isinstance(value, float | np.floating) and not flags.STRICT:
        notices.tell(_BOUNDS)
        return int(value)
    return value


def listed(value: Any) -> Any:
    """What a dictionary's method gave, of which an element is taken: the list that it was."""
    if isinstance(value, MappingView) and not hasattr(value, "__getitem__"):
        if not flags.STRICT:
            notices.tell(_VIEWS)
            return list(value)  # type: ignore[call-overload]
    return value


def iterators(kind: type) -> type:
    """A class with the method of iterators under the name that it had."""
    if not (flags.STRICT or hasattr(kind, "__next__")):
        kind.__next__ = kind.next  # type: ignore[attr-defined]
        notices.tell(_NEXT)
    return kind


def equal(one: Any, other: Any) -> Any:
    """`one == other`; arrays that cannot be compared by elements are not equal."""
    return _compared(operator.eq, one, other, False)


def unequal(one: Any, other: Any) -> Any:
    """`one != other`, likewise."""
    return _compared(operator.ne, one, other, True)


def _compared(compare: Any, one: Any, other: Any, otherwise: bool) -> Any:
    try:
        found = compare(one, other)
    except ValueError:
        if flags.STRICT or not (isinstance(one, np.ndarray) or isinstance(other, np.ndarray)):
            raise
        notices.tell(_COMPARED)
        return otherwise
    if type(found) is np.ndarray and not found.size and not flags.STRICT:
        notices.tell(_EMPTY)
        return False
    return found


def element(value: Any, holder: Any) -> Any:
    """What is assigned to `holder[i]`: an array of one element stands for its element."""
    if type(value) is np.ndarray and isinstance(holder, np.ndarray) and holder.dtype != object:
        return scalar(value)
    return value


def format_values(form: str, values: Any) -> Any:
    """What `form % values` is given: arrays of one element count as numbers where it needs them."""
    several = values if isinstance(values, tuple) else (values,)
    if not any(type(each) is np.ndarray and each.ndim and each.size == 1 for each in several):
        return values
    try:
        form % values
    except TypeError:
        return tuple(map(scalar, several))
    return values


def arithmetic(name: str, left: Any, right: Any) -> Any:
    """`left + right` and the like, of which one is an integer that the program's text has."""
    operate = _OPERATORS[name]
    if type(right) is int:
        return operate(left, _typed(right, left))
    return operate(_typed(left, right), right)


def _typed(number: int, other: Any) -> Any:
    """An integer as NumPy 1 took it: of 64 bits beside a scalar, of what it needs beside an array.

    Since NumPy 2.0 it has the type of what is beside it: what does not fit is wrong, or an error.
    """
    if not isinstance(other, np.integer | np.ndarray) or not -(2**63) <= number < 2**63:
        return number
    dtype = other.dtype
    if dtype.kind not in "iu" or dtype.itemsize == 8:
        return number
    if isinstance(other, np.integer):
        kind: Any = np.int64
    elif np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
        return number
    else:
        kind = np.min_scalar_type(number).type
    notices.tell(_INTEGERS)
    return kind(number)


def text(source: Any) -> Any:
    """What `exec` is given: the code of a program's text."""
    return compiled(source, "<string>", "exec") if isinstance(source, str | bytes) else source


def compiled(source: Any, filename: Any, mode: str, *args: Any, **options: Any) -> Any:
    """`compile`, of the user's code."""
    if mode != "exec" or args or options or not isinstance(source, str | bytes):
        return compile(source, filename, mode, *args, **options)
    from weft.legacy.old import loading

    data = source.encode() if isinstance(source, str) else source
    return loading.compile_users(data, os.fsdecode(filename))


def end_generator() -> None:
    """A generator ends because something in it raised StopIteration."""
    notices.tell(_STOPPED)


_STOPPED = table.Row(
    "StopIteration to end a generator",
    "gone since Python 3.7",
    "return",
    "name",
)
_VIEWS = table.Row(
    "an element of a dictionary's keys, values or items",
    "gone since Python 3",
    "list(x)",
    "name",
)
_NEXT = table.Row(
    "next as the method of an iterator",
    "gone since Python 3",
    "__next__",
    "name",
)
_COMPARED = table.Row(
    "a comparison of arrays of other lengths",
    "gone since NumPy 1.25",
    "their being unequal",
    "name",
)
_EMPTY = table.Row(
    "an empty array as a truth value",
    "gone since NumPy 2.2",
    "False",
    "name",
)
_COUNTS = table.Row(
    "an array of one element as a number of things",
    "gone since NumPy 1.12",
    "x.item()",
    "name",
)
_BOUNDS = table.Row(
    "a float as the end of a slice",
    "gone since NumPy 1.12",
    "int(x)",
    "name",
)
_INDICES = table.Row(
    "a list of slices as an index",
    "gone since NumPy 1.23",
    "tuple(x)",
    "name",
)
_INTEGERS = table.Row(
    "a larger integer with a narrow NumPy type",
    "not widened since NumPy 2.0",
    "a wider type",
    "name",
)
_SCALARS = table.Row(
    "an array of one element as a scalar",
    "gone since NumPy 2.4",
    "x.item()",
    "name",
)
