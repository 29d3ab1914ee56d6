"""What translated Python 2 code calls: its built-in functions, its division, its imports."""

from __future__ import annotations

import codecs
import functools
import importlib
import importlib.util
import math
import numbers
import operator
import sys
from collections.abc import Callable, ItemsView, Iterable, KeysView, ValuesView
from types import ModuleType, TracebackType
from typing import Any

import numpy as np

from weft.legacy.old import python_behaviour
from weft.legacy.old.python2.files import GzipFile as GzipFile
from weft.legacy.old.python2.files import Popen as Popen
from weft.legacy.old.python2.files import ZipFile as ZipFile
from weft.legacy.old.python2.files import csv_dict_reader as csv_dict_reader
from weft.legacy.old.python2.files import csv_reader as csv_reader
from weft.legacy.old.python2.files import file as file
from weft.legacy.old.python2.files import giving_files as giving_files
from weft.legacy.old.python2.files import gzip_open as gzip_open
from weft.legacy.old.python2.files import open_ as open_
from weft.legacy.old.python2.order import cmp as cmp
from weft.legacy.old.python2.order import least as least
from weft.legacy.old.python2.order import max_ as max_
from weft.legacy.old.python2.order import min_ as min_
from weft.legacy.old.python2.order import sort as sort
from weft.legacy.old.python2.order import sorted_ as sorted_
from weft.legacy.old.python2.strings import Bytes, as_text, bytes_of
from weft.legacy.old.python2.strings import chr_ as chr_
from weft.legacy.old.python2.strings import is_instance as is_instance
from weft.legacy.old.python2.strings import join as join
from weft.legacy.old.python2.strings import ord_ as ord_
from weft.legacy.old.python2.strings import translate as translate
from weft.legacy.old.python2.strings import type_of as type_of
from weft.legacy.old.python2.strings import with_strings as with_strings
from weft.legacy.old.python2.strings import with_text as with_text

# Python 2's name -> the name here.
BUILTINS = {
    "apply": "apply",
    "basestring": "basestring",
    "buffer": "Bytes",
    "chr": "chr_",
    "cmp": "cmp",
    "coerce": "coerce",
    "execfile": "execfile",
    "file": "file",
    "filter": "filter_",
    "input": "input_",
    "intern": "intern",
    "long": "long",
    "map": "map_",
    "max": "max_",
    "min": "min_",
    "oct": "oct_",
    "ord": "ord_",
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
reduce, reload, long = functools.reduce, importlib.reload, int


class _Text(type):
    """Text of either kind counts as an instance."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, str | bytes if cls.__name__ == "basestring" else str)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, str | bytes)

    def __eq__(cls, other: object) -> bool:
        """`type(x) == unicode`."""
        return other is cls or (other is str and cls.__name__ == "unicode")

    def __hash__(cls) -> int:
        return hash(str if cls.__name__ == "unicode" else cls.__name__)


class basestring(metaclass=_Text):
    """The class that `str` and `unicode` had in common."""


class unicode(metaclass=_Text):
    """`unicode(x)`, `unicode(x, "utf-8")`: text that is text already stays as it is."""

    def __new__(cls, value: Any = "", encoding: str = "utf-8", errors: str = "strict") -> str:  # type: ignore[misc]
        if isinstance(value, bytes):
            return value.decode(encoding, errors)
        own = getattr(type(value), "__unicode__", None)
        return str(value) if own is None else str(own(value))


def apply(function: Callable[..., Any], args: Iterable[Any] = (), options: Any = None) -> Any:
    """Calls a function."""
    return function(*args, **(options or {}))


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


def oct_(number: int) -> str:
    """`010`, which was an octal number in a program, too."""
    return oct(number).replace("0o", "0") if number else "0"


def floor(number: Any) -> float:
    """`math.floor`, which gave a float."""
    return float(math.floor(number))


def ceil(number: Any) -> float:
    """`math.ceil`, likewise."""
    return float(math.ceil(number))


def print_(*values: Any, **options: Any) -> None:
    """Writes values; bytes are written as they are, and what ends a line has no blank after it."""
    if options.get("sep") is None:
        parts = [str(as_text(each)) for each in values]
        text = "".join(_with_blank(part) for part in parts[:-1]) + "".join(parts[-1:])
        values = (text,) if values else ()
    try:
        print(*values, **options)  # noqa: T201
    except UnicodeEncodeError:  # bytes that are no text, on their way to a terminal
        shown = [bytes_of(str(each)).decode("utf-8", "replace") for each in values]
        print(*shown, **options)  # noqa: T201


def _with_blank(part: str) -> str:
    return part if part[-1:].isspace() and part[-1] != " " else f"{part} "


_VIEWS: Any = (KeysView, ValuesView, ItemsView)


def as_list(values: Any) -> Any:
    """`d.keys()` as a list, where it is a view of a dictionary."""
    return list(values) if isinstance(values, _VIEWS) else values


# Codecs between strings.
_CODECS = frozenset({"hex", "base64", "rot13", "string_escape", "string-escape", "unicode_escape"})


def encode(value: Any, encoding: str, *args: Any, **options: Any) -> Any:
    """`x.encode(y)`; bytes are encoded already, and codecs between bytes give text."""
    if encoding in _CODECS and isinstance(value, str | bytes):
        if encoding == "rot13" and isinstance(value, str):
            return codecs.encode(value, "rot13")
        data = bytes_of(value)
        if encoding == "string_escape":
            return data.decode("latin1").encode("unicode_escape").decode("ascii")
        return codecs.encode(data, encoding).decode("ascii")  # type: ignore[call-overload]
    if isinstance(value, bytes):
        return Bytes(value)
    found = value.encode(encoding, *args, **options)
    return Bytes(found) if isinstance(found, bytes) else found


_UTF8 = frozenset({"utf-8", "utf8", "utf_8", "ascii"})


def decode(value: Any, encoding: str = "ascii", *args: Any, **options: Any) -> Any:
    """`x.decode(y)`; text stands for bytes of UTF-8, and is decoded already."""
    if not isinstance(value, str | bytes):
        return value.decode(encoding, *args, **options)
    if encoding in _CODECS:
        return as_text(python_behaviour.decode(str(as_text(value)), encoding))
    if isinstance(value, str) and encoding.lower() in _UTF8:
        return value
    encoding = "utf-8" if encoding.lower() in _UTF8 else encoding
    return bytes(bytes_of(value)).decode(encoding, *args, **options)


def next_(iterator: Any) -> Any:
    """`x.next()`, of iterators and of whatever else has such a method."""
    method = getattr(iterator, "next", None)
    return next(iterator) if method is None else method()


def message(error: Any) -> Any:
    """`error.message`: of its own, or the only argument."""
    own = getattr(error, "message", None)
    return python_behaviour.message(error) if own is None else own


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
    for shown in ("__str__", "__repr__"):
        if shown in own:
            setattr(kind, shown, _giving_text(own[shown]))
    if "__cmp__" in own:
        _add_order(kind)
    for name in ("get", "set", "del"):
        if f"__{name}slice__" in own:
            _add_slices(kind, name)
    if ("__eq__" in own or "__cmp__" in own) and own.get("__hash__", None) is None:
        kind.__hash__ = object.__hash__  # type: ignore[method-assign, assignment]
    return kind


def _giving_text(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return functools.wraps(function)(lambda self: as_text(function(self)))


def _add_order(kind: type) -> None:
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        if f"__{name}__" not in vars(kind):
            setattr(kind, f"__{name}__", _by_comparing(getattr(operator, name)))


def _by_comparing(holds: Callable[[int, int], bool]) -> Callable[[Any, Any], bool]:
    return lambda self, other: holds(self.__cmp__(other), 0)


def _add_slices(kind: type, name: str) -> None:
    """Slices without a step go to `__getslice__` and its like, with both ends as numbers."""
    own, item = vars(kind)[f"__{name}slice__"], getattr(kind, f"__{name}item__", None)

    def call(self: Any, where: Any, *value: Any) -> Any:
        if not isinstance(where, slice) or where.step is not None:
            return item(self, where, *value)  # type: ignore[misc]
        ends = (where.start or 0, sys.maxsize if where.stop is None else where.stop)
        return own(self, *(end + len(self) if end < 0 else end for end in ends), *value)

    setattr(kind, f"__{name}item__", call)
