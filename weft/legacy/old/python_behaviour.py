"""Substitutes for what Python's own library had or allowed."""

from __future__ import annotations

import collections
import hashlib
import html
import inspect
import io
import json
import numbers
import os
import pickle
import platform
import random as random_module
import re
import ssl
import unittest
from collections.abc import Callable, Iterator, Sequence, Set
from types import FunctionType, MethodType
from typing import Any

from weft.legacy.old import notices
from weft.storage import file_io

STRING_TYPES = (str, bytes)
NONE_TYPE = type(None)
ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")


def getargspec(function: Callable[..., Any]) -> ArgSpec:
    """The parameters of a function, as four fields; keyword-only ones cannot be told."""
    full = inspect.getfullargspec(function)
    if full.kwonlyargs:
        raise ValueError("Function has keyword-only parameters, use inspect.signature()")
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def formatargspec(
    args: Any, varargs: Any = None, varkw: Any = None, defaults: Any = None, *_: Any, **__: Any
) -> str:
    """The text of a list of parameters: `(a, b=1, *c, **d)`."""
    values = list(defaults or ())
    plain = list(args[: len(args) - len(values)])
    given = [f"{name}={value!r}" for name, value in zip(args[len(plain) :], values, strict=True)]
    rest = [f"{stars}{name}" for stars, name in (("*", varargs), ("**", varkw)) if name]
    return f"({', '.join([*plain, *given, *rest])})"


def linux_distribution(*_: Any, **__: Any) -> tuple[str, str, str]:
    """(name, version, code name) of the system."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "", "", ""
    names = ("NAME", "VERSION_ID", "VERSION_CODENAME")
    return tuple(release.get(name, "") for name in names)  # type: ignore[return-value]


def escape(text: str, quote: bool = False) -> str:
    """HTML's special characters as entities; quotes only where asked for."""
    return html.escape(text, quote)


def unescape(_: Any, text: str) -> str:
    """`HTMLParser().unescape(text)`."""
    return html.unescape(text)


def wrap_socket(
    sock: Any, keyfile: str | None = None, certfile: str | None = None, **options: Any
) -> Any:
    """A socket that speaks TLS, without asking the other side for a certificate."""
    server_side = options.pop("server_side", False)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server_side else ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = options.pop("cert_reqs", ssl.CERT_NONE)
    if options.get("ca_certs"):
        context.load_verify_locations(options["ca_certs"])
    if certfile:
        context.load_cert_chain(certfile, keyfile)
    return context.wrap_socket(sock, server_side=server_side)


def assert_dict_contains_subset(case: Any, expected: Any, actual: Any, msg: Any = None) -> None:
    """Fails unless every item of `expected` is in `actual`."""
    case.assertEqual({**actual, **expected}, dict(actual), msg)


def make_suite(case: type, prefix: str = "test", *_: Any, **__: Any) -> unittest.TestSuite:
    """The tests of a class as a suite."""
    loader = unittest.TestLoader()
    loader.testMethodPrefix = prefix
    return loader.loadTestsFromTestCase(case)


def find_test_cases(module: Any, *_: Any, **__: Any) -> unittest.TestSuite:
    """The tests of a module as a suite."""
    return unittest.TestLoader().loadTestsFromModule(module)


def join(words: Any, between: str = " ") -> str:
    """`string.join`: the words come first."""
    return between.join(words)


def nothing(*_: Any, **__: Any) -> None:
    """A call that no longer has anything to do."""


def walk(top: str, visit: Callable[[Any, str, list[str]], Any], argument: Any) -> None:
    """Calls `visit(argument, folder, names)` for `top` and every folder below."""
    for folder, folders, files in os.walk(top):
        names = folders + files
        visit(argument, folder, names)
        folders[:] = [each for each in folders if each in names]


def iterate_items(mapping: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """`iteritems`: what `mapping.items()` says, also where a subclass says otherwise."""
    return iter(mapping.items())


def iterate_keys(mapping: dict[Any, Any]) -> Iterator[Any]:
    """`iterkeys`."""
    return iter(mapping.keys())


def iterate_values(mapping: dict[Any, Any]) -> Iterator[Any]:
    """`itervalues`."""
    return iter(mapping.values())


def decode(text: str, encoding: str = "utf-8", errors: str = "strict") -> Any:
    """Text that today's libraries give where bytes came before: it is decoded already."""
    if encoding in ("string_escape", "unicode_escape", "string-escape", "unicode-escape"):
        return text.encode("latin1", "backslashreplace").decode("unicode_escape")
    if encoding in ("hex", "base64"):
        import codecs

        return codecs.decode(text.encode("latin1"), encoding)
    return text


def message(error: BaseException) -> Any:
    """The only argument of an exception; empty where there are more."""
    return error.args[0] if len(error.args) == 1 else ""


def is_sequence(value: Any) -> bool:
    """Whether elements can be taken of a value by number."""
    return hasattr(value, "__getitem__") and not isinstance(value, dict)


def is_mapping(value: Any) -> bool:
    """Whether values can be taken of a value by key."""
    return hasattr(value, "__getitem__") and hasattr(value, "keys")


def is_number(value: Any) -> bool:
    """Whether a value is a number."""
    return isinstance(value, numbers.Number)


def request_get_host(request: Any) -> Any:
    """`Request.get_host()`."""
    return request.host


def request_get_type(request: Any) -> Any:
    """`Request.get_type()`."""
    return request.type


def request_get_data(request: Any) -> Any:
    """`Request.get_data()`."""
    return request.data


def get_slice(values: list[Any], start: int, end: int) -> list[Any]:
    """`list.__getslice__`."""
    return list.__getitem__(values, slice(start, end))


def _property(new: str) -> Callable[[FunctionType], Any]:
    return lambda function: getattr(function, new)


func_name, func_code, func_defaults, func_globals, func_doc, func_dict, func_closure = (
    _property(f"__{name}__")
    for name in ("name", "code", "defaults", "globals", "doc", "dict", "closure")
)


def im_func(method: MethodType) -> Any:
    """The function of a method."""
    return method.__func__


def plain_function(function: FunctionType) -> FunctionType:
    """The function of a method of a class: itself."""
    return function


def im_self(method: MethodType) -> Any:
    """The object of a method."""
    return method.__self__


def im_class(method: MethodType) -> Any:
    """The class of a method's object."""
    found = method.__self__
    return found if isinstance(found, type) else type(found)


def load(file: Any, **options: Any) -> Any:
    """`pickle.load`, of files opened as text and of what Python 2 wrote."""
    opened = file  # the file of text closes the one of bytes when it goes
    if isinstance(opened, file_io.FileIO) and "b" not in opened.mode:
        place = opened.tell()
        opened = file_io.FileIO(opened.name, "rb")
        opened.seek(place)
    file = getattr(opened, "buffer", opened)
    if "encoding" in options:
        return pickle.load(file, **options)
    try:
        start = file.tell()
    except (AttributeError, OSError):
        return pickle.load(file, encoding="latin1", **options)
    try:
        return pickle.load(file, **options)
    except UnicodeDecodeError:
        notices.tell_of("pickle.load", "of strings that Python 2 wrote", "encoding='latin1'")
        file.seek(start)
        return pickle.load(file, encoding="latin1", **options)
    finally:
        del opened


def _bytes_of(text: str) -> bytes:
    """The bytes that text stands for, where each is a character or is kept in one."""
    try:
        return text.encode("latin1")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")


def loads(data: Any, **options: Any) -> Any:
    """`pickle.loads`, of text and of what Python 2 wrote."""
    stream = io.BytesIO(_bytes_of(data) if isinstance(data, str) else data)
    return load(stream, **options)


def dump(value: Any, file: Any, *args: Any, **options: Any) -> None:
    """`pickle.dump`, also into files opened as text."""
    if isinstance(file, io.TextIOBase) and hasattr(file, "buffer"):
        file.flush()
        pickle.dump(value, file.buffer, *args, **options)
    else:
        pickle.dump(value, file, *args, **options)


class _Hash:
    """A hash object that takes text."""

    def __init__(self, name: str, data: Any, options: Any) -> None:
        self._name, self._made = name, getattr(hashlib, name)(**options)
        self.update(data)

    def update(self, data: Any) -> None:
        """Goes on with more data."""
        if isinstance(data, str):
            notices.tell_of(f"hashlib.{self._name}", "of text", "text.encode()")
            data = data.encode("utf-8", "surrogateescape")
        self._made.update(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)


def _of_text(name: str) -> Callable[..., Any]:
    """The hash function of that name, also of text."""
    return lambda data=b"", **options: _Hash(name, data, options)


md5, sha1, sha224, sha256, sha384, sha512 = map(
    _of_text, ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
)


def sample(population: Any, k: int, **options: Any) -> list[Any]:
    """`random.sample`, also from a set, in the order the set has, or from an array."""
    if not isinstance(population, Sequence):
        kind = "a set" if isinstance(population, Set) else "what is no sequence"
        notices.tell_of("random.sample", f"from {kind}", "a tuple of it")
        population = tuple(population)
    return random_module.sample(population, k, **options)


def split(pattern: Any, string: Any, maxsplit: int = 0, flags: Any = 0) -> list[Any]:
    """`re.split`, which did not split where the pattern, such as `x*`, matches nothing."""
    compiled = re.compile(pattern, flags)
    if compiled.fullmatch("" if isinstance(string, str) else b"") is None:
        return compiled.split(string, maxsplit)
    notices.tell_of("re.split", "by a pattern that matches nothing", "what it matches besides")
    found, start = [], 0
    matches = [match for match in compiled.finditer(string) if match.end() > match.start()]
    for match in matches[: maxsplit or None]:
        found += [string[start : match.start()], *match.groups()]
        start = match.end()
    return [*found, string[start:]]


def randint(low: Any, high: Any) -> int:
    """`random.randint`, also between whole numbers that are floats."""
    if isinstance(low, float) or isinstance(high, float):
        if low != int(low) or high != int(high):
            raise ValueError("non-integer arg 1 for randrange()")
        notices.tell_of("random.randint", "of floats", "int(...)")
    return random_module.randint(int(low), int(high))


def shuffle(items: Any, random: Callable[[], float] | None = None) -> None:
    """`random.shuffle`, also with a source of random numbers."""
    if random is None:
        random_module.shuffle(items)
        return
    notices.tell_of("random.shuffle", "with a function", "a loop over it")
    for i in reversed(range(1, len(items))):
        j = int(random() * (i + 1))
        items[i], items[j] = items[j], items[i]


def json_loads(text: Any, encoding: str | None = None, **options: Any) -> Any:
    """`json.loads`, also with the encoding that bytes came in."""
    if encoding is not None:
        notices.tell_of("json.loads", "with an encoding", "bytes.decode")
        text = text.decode(encoding) if isinstance(text, bytes) else text
    return json.loads(text, **options)
