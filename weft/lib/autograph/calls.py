"""Calls in converted code: user functions are converted in turn, all others called as they are."""

from __future__ import annotations

import functools
import inspect
import os
import types
import weakref
from collections.abc import Callable
from typing import Any

from weft.graph.conversion_status import Status, control_status_ctx
from weft.lib.autograph.builtin_functions import OVERLOADS
from weft.lib.autograph.compile import converted, is_convertible, is_done
from weft.lib.autograph.context import log, warn
from weft.lib.autograph.source import NoSource

# Code of ours and of libraries whose control flow is Python's.
_LIBRARIES = {
    "weft", "tensorflow", "numpy", "jax", "jaxlib", "scipy", "ml_dtypes", "tensorboard", "google",
    "absl", "pytest", "_pytest", "PIL", "h5py", "matplotlib", "pandas",
}  # fmt: skip
_PYTHON = os.path.dirname(os.__file__)
_failed: weakref.WeakSet[Any] = weakref.WeakSet()


def is_allowed(function: Any) -> bool:
    """Whether a function is to be left as it is."""
    if is_done(function) or getattr(function, "ag_do_not_convert", False):
        return True
    package = (getattr(function, "__module__", None) or "").partition(".")[0]
    return package in _LIBRARIES or _is_of_python(function)


def _is_of_python(function: Any) -> bool:
    """Whether a function is in Python's own library. Names do not tell: users have a `test.py`."""
    code = getattr(function, "__code__", None)
    place = "" if code is None else code.co_filename
    return place.startswith(_PYTHON + os.sep) and "site-packages" not in place


def converted_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    """`function(*args, **kwargs)` in converted code."""
    words = kwargs or {}
    overload = _overload(function)
    if overload is not None:
        return overload(*args, **words)
    if control_status_ctx().status is Status.DISABLED:
        return function(*args, **words)
    return _target(function)(*args, **words)


def _overload(function: Any) -> Callable[..., Any] | None:
    try:
        return OVERLOADS.get(function)
    except TypeError:
        return None


def _target(function: Any) -> Callable[..., Any]:
    """The converted form of what is called, where it has one."""
    if isinstance(function, functools.partial):
        inner = _target(function.func)
        return functools.partial(inner, *function.args, **function.keywords)
    if inspect.isclass(function) or isinstance(function, types.BuiltinFunctionType):
        return function  # type: ignore[no-any-return]
    if inspect.ismethod(function):
        made = _convert_if_user(function.__func__)
        return function if made is function.__func__ else types.MethodType(made, function.__self__)
    if inspect.isfunction(function):
        return _convert_if_user(function)
    return _target_of_object(function)


def _target_of_object(function: Any) -> Callable[..., Any]:
    """Objects that can be called: their `__call__` may be a user's."""
    call = getattr(type(function), "__call__", None)  # noqa: B004
    if not inspect.isfunction(call) or is_allowed(type(function)):
        return function  # type: ignore[no-any-return]
    made = _convert_if_user(call)
    return function if made is call else types.MethodType(made, function)  # type: ignore[no-any-return]


def _convert_if_user(function: Any) -> Callable[..., Any]:
    if is_allowed(function) or not is_convertible(function):
        return function  # type: ignore[no-any-return]
    return convert_or_warn(function, control_status_ctx().features)


def convert_or_warn(function: Any, features: frozenset[str]) -> Callable[..., Any]:
    """The converted function; the function itself, with a warning, if its source is not there."""
    code = function.__code__
    if code in _failed:
        return function  # type: ignore[no-any-return]
    try:
        made = converted(function, features)
    except (NoSource, SyntaxError) as error:
        _failed.add(code)
        warn("AutoGraph could not transform %s and will run it as-is. Cause: %s", function, error)
        return function  # type: ignore[no-any-return]
    log(1, "Converted %s", function)
    return made
