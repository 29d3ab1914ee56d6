"""What translated Python 2 code calls: its built-in functions, its division, its imports."""

from __future__ import annotations

import codecs
import functools
import importlib
import importlib.util
import io
import numbers
import operator
import sys
from collections.abc import Callable, Iterable
from types import ModuleType, TracebackType
from typing import Any

import numpy as np

from weft.legacy.old import python_behaviour

# Python 2's name -> the name here.
BUILTINS = {
    "apply": "apply",
    "basestring": "basestring",
    "buffer": "memoryview_",
    "cmp": "cmp",
    "coerce": "coerce",
    "execfile": "execfile",
    "file": "open_",
    "filter": "filter_",
    "input": "input_",
    "intern": "intern",
    "long": "long",
    "map": "map_",
    "open": "open_",
    "print": "print_",
    "range": "range_",
    "raw_input": "raw_input",
    "reduce": "reduce",
    "reload": "reload",
    "round": "round_",
    "sorted": "sorted_",
    "unichr": "unichr",
    "unicode": "unicode",
    "xrange": "xrange",
    "zip": "zip_",
}

# Names of methods that have others in Python 3: a class gets both.
METHODS = {
    "next": "__next__",
    "__nonzero__": "__bool__",
    "__div__": "__truediv__",
    "__rdiv__": "__rtruediv__",
    "__idiv__": "__itruediv__",
    "__unicode__": "__str__",
}

xrange, raw_input, unichr, intern = range, input, chr, sys.intern
reduce, reload, long, memoryview_ = functools.reduce, importlib.reload, int, memoryview


class _Text(type):
    """Text of either kind counts as an instance."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, str | bytes) if cls.__name__ == "basestring" else _is_text(value)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, str | bytes)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


class basestring(metaclass=_Text):
    """The class that `str` and `unicode` had in common."""


class unicode(metaclass=_Text):
    """`unicode(x)`, `unicode(x, "utf-8")`: text that is text already stays as it is."""

    def __new__(cls, value: Any = "", encoding: str = "utf-8", errors: str = "strict") -> str:  # type: ignore[misc]
        return value.decode(encoding, errors) if isinstance(value, bytes) else str(value)


def apply(function: Callable[..., Any], args: Iterable[Any] = (), options: Any = None) -> Any:
    """Calls a function."""
    return function(*args, **(options or {}))


def cmp(one: Any, other: Any) -> int:
    """-1, 0 or 1 by order."""
    return (one > other) - (one < other)


def coerce(one: Any, other: Any) -> tuple[Any, Any]:
    """Two numbers as numbers of one type."""
    kind = type(one + other)
    return kind(one), kind(other)


def range_(*args: Any) -> list[int]:
    """A list of integers."""
    return list(range(*args))


def map_(function: Any, *lists: Any) -> list[Any]:
    """A list; of several lists the shorter ones go on with None."""
    import itertools

    if len(lists) == 1:
        return list(lists[0]) if function is None else [function(each) for each in lists[0]]
    rows = itertools.zip_longest(*lists)
    return list(rows) if function is None else [function(*each) for each in rows]


def filter_(function: Any, values: Any) -> Any:
    """A list; of a string or a tuple one of the same kind."""
    kept = [each for each in values if (each if function is None else function(each))]
    if isinstance(values, str):
        return "".join(kept)
    return tuple(kept) if isinstance(values, tuple) else kept


def zip_(*lists: Any) -> list[Any]:
    """A list of tuples."""
    return list(zip(*lists, strict=False))


def input_(prompt: str = "") -> Any:
    """The value of an expression that is typed in."""
    frame = sys._getframe(1)
    return eval(input(prompt), frame.f_globals, frame.f_locals)


def round_(number: Any, digits: int = 0) -> float:
    """The nearest float with so many digits; halves go away from zero."""
    scaled = abs(float(number)) * 10.0**digits
    whole = float(int(scaled + 0.5)) if scaled < 2**52 else scaled
    return float(np.copysign(whole / 10.0**digits, number))


def sorted_(values: Any, cmp: Any = None, key: Any = None, reverse: bool = False) -> list[Any]:
    """A sorted list, by a function that compares or one that gives keys."""
    return sorted(values, key=_sort_key(cmp, key), reverse=reverse)


def sort(values: Any, cmp: Any = None, *args: Any, **options: Any) -> Any:
    """`values.sort(compare)` of a list; what other objects have under that name is theirs."""
    if not isinstance(values, list):
        given = (cmp, *args) if cmp is not None else args
        return values.sort(*given, **options)
    key, reverse = (*args, None, None)[:2]
    key, reverse = options.get("key", key), options.get("reverse", reverse)
    return values.sort(key=_sort_key(cmp, key), reverse=bool(reverse))


def _sort_key(compare: Any, key: Any) -> Any:
    if compare is None:
        return key
    ordered = functools.cmp_to_key(compare)
    return ordered if key is None else lambda each: ordered(key(each))


def print_(*values: Any, **options: Any) -> None:
    """Writes values; bytes are written as they are."""
    print(*map(as_text, values), **options)  # noqa: T201


def as_text(value: Any) -> Any:
    """Bytes as the text they are, alone or in a tuple: `"%s" % x.encode("utf-8")`."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return tuple(map(as_text, value)) if type(value) is tuple else value


_VIEWS: Any = tuple(map(type, ({}.keys(), {}.values(), {}.items())))


def as_list(values: Any) -> Any:
    """`d.keys()` as a list, where `d` is a dictionary of Python's."""
    return list(values) if isinstance(values, _VIEWS) else values


def encode(value: Any, encoding: str, *args: Any, **options: Any) -> Any:
    """`x.encode(y)`; bytes are encoded already, and codecs between bytes give text."""
    if encoding in ("hex", "base64", "rot13", "string_escape") and isinstance(value, str | bytes):
        if encoding == "rot13" and isinstance(value, str):
            return codecs.encode(value, "rot13")
        data = value.encode("utf-8") if isinstance(value, str) else value
        if encoding == "string_escape":
            return data.decode("latin1").encode("unicode_escape").decode("ascii")
        return codecs.encode(data, encoding).decode("ascii")  # type: ignore[call-overload]
    if isinstance(value, bytes):
        return value
    return value.encode(encoding, *args, **options)


def decode(value: Any, *args: Any, **options: Any) -> Any:
    """`x.decode(y)`; text is decoded already."""
    if isinstance(value, str):
        return python_behaviour.decode(value, *args, **options)
    return value.decode(*args, **options)


def next_(iterator: Any) -> Any:
    """`x.next()`, of iterators and of whatever else has such a method."""
    method = getattr(iterator, "next", None)
    return next(iterator) if method is None else method()


def message(error: Any) -> Any:
    """`error.message`: of its own, or the only argument."""
    own = getattr(error, "message", None)
    return python_behaviour.message(error) if own is None else own


class _Writer(io.BufferedWriter):
    """A file for bytes that takes text, too."""

    def write(self, data: Any) -> int:
        return super().write(data.encode("utf-8", "surrogateescape") if _is_text(data) else data)


def open_(name: Any, mode: str = "r", buffering: int = -1, *args: Any, **options: Any) -> Any:
    """A file. Any bytes can be read and written as text; `wb` takes text."""
    if args or options:
        return open(name, mode, buffering, *args, **options)
    newline = None if "U" in mode else "\n"
    mode = mode.replace("U", "") or "r"
    mode = mode if mode[0] in "rwax" else f"r{mode}"
    if "b" not in mode:
        buffering = 1 if buffering == 0 else buffering  # text cannot be unbuffered
        return open(
            name, mode, buffering, encoding="utf-8", errors="surrogateescape", newline=newline
        )
    if "+" in mode or "r" in mode:
        return open(name, mode, buffering)
    raw = io.FileIO(name, mode.replace("b", ""))
    return _Writer(raw, buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE)


def divide(one: Any, other: Any) -> Any:
    """`one / other`: of whole numbers a whole number."""
    if _is_whole(one) and _is_whole(other):
        return one // other
    for holder, args, name in ((one, (other,), "__div__"), (other, (one,), "__rdiv__")):
        method = getattr(type(holder), name, None)
        found = method(holder, *args) if method is not None else NotImplemented
        if found is not NotImplemented:
            return found
    if _is_whole_tensor(one) or _is_whole_tensor(other):
        return one // other
    return one / other


def divide_in_place(one: Any, other: Any) -> Any:
    """`one /= other`."""
    if isinstance(one, np.ndarray):
        return operator.ifloordiv(one, other) if _are_whole(one, other) else _into(one, other)
    if hasattr(type(one), "__itruediv__") and not _is_whole(one):
        return operator.itruediv(one, other)
    return divide(one, other)


def _into(one: np.ndarray, other: Any) -> np.ndarray:
    """Whole numbers divided by others are cut off, as they must fit in."""
    casting: Any = "unsafe" if _is_whole(one) else "same_kind"
    return np.true_divide(one, other, out=one, casting=casting)


def _are_whole(one: Any, other: Any) -> bool:
    return _is_whole(one) and _is_whole(other)


def _is_whole(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iub"
    return isinstance(value, numbers.Integral | np.bool_)


def _is_whole_tensor(value: Any) -> bool:
    kind = getattr(value, "dtype", None)
    return bool(getattr(kind, "is_integer", False))


@functools.total_ordering
class _Least:
    """None, in comparisons: less than everything else."""

    def __eq__(self, other: object) -> bool:
        return other is None

    def __lt__(self, other: Any) -> bool:
        return other is not None

    __hash__ = None  # type: ignore[assignment]


_LEAST = _Least()


def least() -> _Least:
    """What None is in `x > None`."""
    return _LEAST


def exception(kind: Any, value: Any = None, trace: TracebackType | None = None) -> BaseException:
    """What `raise kind, value, trace` raises."""
    if isinstance(kind, BaseException):
        error = kind
    elif isinstance(value, kind):
        error = value
    elif value is None:
        error = kind()
    else:
        error = kind(*value) if isinstance(value, tuple) else kind(value)
    return error.with_traceback(trace) if trace is not None else error


def execute(code: Any, space: Any = None, local: Any = None) -> None:
    """`exec code in space, local`."""
    if space is None:
        frame = sys._getframe(1)
        space, local = frame.f_globals, frame.f_locals
    exec(_compiled(code, "<string>"), space, local)


def execfile(name: str, space: Any = None, local: Any = None) -> None:
    """Runs a file in a name space."""
    if space is None:
        frame = sys._getframe(1)
        space, local = frame.f_globals, frame.f_locals
    with open(name, "rb") as file:
        exec(_compiled(file.read(), name), space, local)


def _compiled(code: Any, name: str) -> Any:
    if not isinstance(code, str | bytes):
        return code
    from weft.legacy.old import loading

    tree, _ = loading.tree_of(code.encode() if isinstance(code, str) else code, name, True)
    return compile(tree, name, "exec", dont_inherit=True)


def is_neighbour(name: str, importer: str) -> bool:
    """Whether `import name` in the module `importer` means a module of its own package."""
    package = _package(importer)
    if not package:
        return False
    full = f"{package}.{name.partition('.')[0]}"
    return full in sys.modules or importlib.util.find_spec(full) is not None


def _package(importer: str) -> str:
    return getattr(sys.modules.get(importer), "__package__", None) or ""


def import_neighbour(name: str, importer: str) -> ModuleType:
    """What `import a.b` binds, where `a` is in the same package: that `a`."""
    package = _package(importer)
    importlib.import_module(f"{package}.{name}")
    return sys.modules[f"{package}.{name.partition('.')[0]}"]


def import_neighbour_below(name: str, importer: str) -> ModuleType:
    """What `import a.b as c` binds, where `a` is in the same package."""
    return importlib.import_module(f"{_package(importer)}.{name}")


def completed(kind: type) -> type:
    """A class with Python 3's names for the methods that Python 2 calls otherwise."""
    own = vars(kind)
    for old, new in METHODS.items():
        if old in own and new not in own:
            setattr(kind, new, own[old])
    if "__cmp__" in own:
        _add_order(kind)
    if ("__eq__" in own or "__cmp__" in own) and own.get("__hash__", None) is None:
        kind.__hash__ = object.__hash__  # type: ignore[method-assign, assignment]
    return kind


def _add_order(kind: type) -> None:
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        if f"__{name}__" not in vars(kind):
            setattr(kind, f"__{name}__", _by_comparing(getattr(operator, name)))


def _by_comparing(holds: Callable[[int, int], bool]) -> Callable[[Any, Any], bool]:
    return lambda self, other: holds(self.__cmp__(other), 0)
