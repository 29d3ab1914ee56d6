"""Strings of Python 2: bytes that mix with text, as `str` and `unicode` did.

Text stands for bytes by UTF-8, in which bytes that are no UTF-8 are kept as they are (Python's
`surrogateescape`): both ways nothing is lost.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

# Methods that take and give strings, as those of bytes do.
_METHODS = (
    "split rsplit splitlines strip lstrip rstrip replace find rfind index rindex count startswith"
    " endswith partition rpartition upper lower title capitalize swapcase center ljust rjust zfill"
    " expandtabs removeprefix removesuffix"
).split()
_ESCAPED = 0xDC00  # where `surrogateescape` keeps bytes


def text_of(data: bytes) -> str:
    """Bytes as the text that stands for them."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of(value: Any) -> Any:
    """Text as the bytes it stands for, alone or in a tuple."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    return tuple(map(bytes_of, value)) if type(value) is tuple else value


def as_text(value: Any) -> Any:
    """Bytes as the text they are, alone or in a tuple: `"%s" % x.encode("utf-8")`."""
    if isinstance(value, bytes):
        return text_of(value)
    return tuple(map(as_text, value)) if type(value) is tuple else value


def as_strings(value: Any) -> Any:
    """Bytes as strings of Python 2, alone, in a list or in a tuple."""
    if isinstance(value, bytes):
        return Bytes(value)
    return type(value)(map(as_strings, value)) if type(value) in (list, tuple) else value


class Bytes(bytes):
    """A string of Python 2: its elements are strings, and it equals the text that it spells."""

    def __new__(cls, value: Any = b"") -> Bytes:
        return super().__new__(cls, bytes_of(value))

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        return super().__repr__()[1:]

    def __format__(self, form: str) -> str:
        return format(str(self), form)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> Any:
        return bytes, (bytes(self),)  # pickles are for others, too

    def __copy__(self, _: Any = None) -> Bytes:
        return self

    __deepcopy__ = __copy__

    def __getitem__(self, where: Any) -> Any:
        found = super().__getitem__(where)
        return Bytes(found if isinstance(found, bytes) else bytes([found]))

    def __iter__(self) -> Iterator[Any]:
        return (Bytes(bytes([each])) for each in super().__iter__())

    def __contains__(self, part: Any) -> bool:
        return super().__contains__(bytes_of(part))

    def __add__(self, other: Any) -> Any:
        return _joined(self, other)

    def __radd__(self, other: Any) -> Any:
        return _joined(other, self)

    def __mul__(self, times: Any) -> Bytes:
        return Bytes(super().__mul__(times))

    __rmul__ = __mul__

    def __mod__(self, values: Any) -> Any:
        return str(self) % as_text(values)

    def format(self, *args: Any, **options: Any) -> str:
        """`str.format`."""
        return str(self).format(*args, **options)

    def encode(self, *_: Any, **__: Any) -> Bytes:
        """It is encoded already."""
        return self

    def join(self, parts: Iterable[Any]) -> Bytes:
        """`str.join`."""
        return Bytes(super().join(map(bytes_of, parts)))


def _joined(one: Any, other: Any) -> Any:
    """Two strings as one: text where both are plain, else bytes."""
    if not isinstance(one, str | bytes) or not isinstance(other, str | bytes):
        return NotImplemented
    both = b"".join((bytes_of(one), bytes_of(other)))
    has_text = isinstance(one, str) or isinstance(other, str)
    return text_of(both) if has_text and both.isascii() else Bytes(both)


def _method(name: str) -> Callable[..., Any]:
    function = getattr(bytes, name)

    @functools.wraps(function)
    def call(self: Bytes, *args: Any, **options: Any) -> Any:
        return as_strings(function(self, *map(bytes_of, args), **options))

    return call


def _comparison(name: str) -> Callable[[Bytes, Any], Any]:
    compare, of_bytes = getattr(operator, name), getattr(bytes, f"__{name}__")

    def call(self: Bytes, other: Any) -> Any:
        return compare(str(self), other) if isinstance(other, str) else of_bytes(self, other)

    return call


for _name in _METHODS:
    setattr(Bytes, _name, _method(_name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Bytes, f"__{_name}__", _comparison(_name))


def with_strings(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of bytes, which takes and gives strings: `zlib.compress("text")`."""

    def call(*args: Any, **options: Any) -> Any:
        return as_strings(function(*map(bytes_of, args), **options))

    return call


def with_text(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of text, which takes strings of bytes, too: `re.findall("a", data)`."""

    def call(*args: Any, **options: Any) -> Any:
        return function(*map(as_text, args), **options)

    return call


def join(between: Any, *args: Any) -> Any:
    """`between.join(parts)`; what other objects have under that name is theirs."""
    if type(between) is str and len(args) == 1:
        return between.join(map(as_text, args[0]))
    return between.join(*args)


def translate(text: Any, table: Any = None, deleted: Any = "") -> Any:
    """`text.translate(table, deleted)`, with a table of 256 characters, or none."""
    if not isinstance(text, str | bytes):
        return text.translate(table, deleted) if deleted else text.translate(table)
    removed = dict.fromkeys(map(ord, as_text(deleted)))
    if isinstance(table, str | bytes):
        table = dict(enumerate(as_text(table)))
    return as_text(text).translate({**(table or {}), **removed})


def is_instance(value: Any, kinds: Any) -> bool:
    """`isinstance`, in which strings of bytes are `str`."""
    if isinstance(value, Bytes) and str in (kinds if isinstance(kinds, tuple) else (kinds,)):
        return True
    return isinstance(value, kinds)


def type_of(value: Any) -> type:
    """`type(value)`, likewise."""
    return str if isinstance(value, Bytes) else type(value)


def chr_(number: int) -> str:
    """The character of a byte."""
    if not 0 <= number < 256:
        raise ValueError("chr() arg not in range(256)")
    return chr(number if number < 128 else _ESCAPED + number)


def ord_(character: Any) -> int:
    """The number of a character, or of a byte."""
    if isinstance(character, int):
        return character  # an element of bytes
    number = ord(bytes(character) if isinstance(character, bytes) else character)
    return number - _ESCAPED if _ESCAPED + 128 <= number < _ESCAPED + 256 else number
