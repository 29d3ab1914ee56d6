"""Exceptions of Python and its libraries as TensorFlow's.

Kernels, graph import, planning and eager execution let none but TensorFlow's out. What a kernel
raises about its input is an InvalidArgumentError, unless a table here has a class that fits better.
"""

from __future__ import annotations

import errno
import os
import re
from typing import Any

from weft.core import errors

OS_KINDS: dict[int, Any] = {
    errno.ENOENT: errors.NotFoundError,
    errno.EEXIST: errors.AlreadyExistsError,
    errno.EACCES: errors.PermissionDeniedError,
    errno.EPERM: errors.PermissionDeniedError,
    errno.EROFS: errors.PermissionDeniedError,
    errno.EISDIR: errors.FailedPreconditionError,
    errno.ENOTDIR: errors.FailedPreconditionError,
    errno.ENOTEMPTY: errors.FailedPreconditionError,
    errno.EBUSY: errors.FailedPreconditionError,
    errno.EINVAL: errors.InvalidArgumentError,
    errno.ENAMETOOLONG: errors.InvalidArgumentError,
    errno.ENOSPC: errors.ResourceExhaustedError,
    errno.EMFILE: errors.ResourceExhaustedError,
    errno.EXDEV: errors.UnimplementedError,
    errno.ECONNREFUSED: errors.UnavailableError,
}

# The first that fits decides. The last row is mistakes of weft's own: no input is to blame.
_KINDS: tuple[tuple[Any, Any], ...] = (
    (MemoryError, errors.ResourceExhaustedError),
    (NotImplementedError, errors.UnimplementedError),
    (RecursionError, errors.InvalidArgumentError),
    ((AssertionError, RuntimeError, NameError, ImportError, SystemError), errors.InternalError),
)

# How messages of XLA begin, and what they are then.
_STATUSES: tuple[tuple[str, Any], ...] = (
    ("RESOURCE_EXHAUSTED", errors.ResourceExhaustedError),
    ("INVALID_ARGUMENT", errors.InvalidArgumentError),
    ("UNIMPLEMENTED", errors.UnimplementedError),
)


# What Python and NumPy say of values that a kernel cannot use, and what that means to its caller.
_SCALAR = "An input that must be a scalar is not"
_RANK = "An input does not have the rank or size that the operation takes"
_MEANINGS: tuple[tuple[str, str], ...] = (
    ("only 0-dimensional arrays can be converted", _SCALAR),
    ("only length-1 arrays can be converted", _SCALAR),
    ("can only convert an array of size 1", _SCALAR),
    ("only integer scalar arrays can be converted", _SCALAR),
    ("truth value of an", _SCALAR),
    ("iteration over a 0-d array", "An input that must not be a scalar is one"),
    ("len() of unsized object", "An input that must not be a scalar is one"),
    ("values to unpack", _RANK),
    ("too many indices for array", _RANK),
    ("tuple index out of range", _RANK),
    ("out of bounds for array of dimension", _RANK),
    ("must have same number of dimensions", _RANK),
)
_UNLIKE = re.compile(r"operands could not be broadcast together with shapes (\(.*?\)) (\(.*?\))")


def os_number(error: OSError) -> int | None:
    """The operating system's number of an error, also where a library left it out."""
    if error.errno is not None:
        return error.errno
    for kind, number in ((FileNotFoundError, errno.ENOENT), (FileExistsError, errno.EEXIST)):
        if isinstance(error, kind):
            return number
    return None


def kind_of(error: BaseException) -> Any:
    """The class of `tf.errors` that stands for an exception of a kernel."""
    text = str(error)
    if "array is too big" in text:
        return errors.ResourceExhaustedError
    if isinstance(error, OSError) and (number := os_number(error)) is not None:
        return OS_KINDS.get(number, errors.UnknownError)
    if isinstance(error, RuntimeError):
        for start, kind in _STATUSES:
            if text.startswith(start):
                return kind
    found = (kind for raised, kind in _KINDS if isinstance(error, raised))
    return next(found, errors.InvalidArgumentError)


def message_of(error: BaseException) -> str:
    """The message of an exception: with its class, where its text alone would be a riddle."""
    if isinstance(error, MemoryError) or "array is too big" in str(error):
        return f"out of memory: {error}"
    if isinstance(error, OSError) and (number := os_number(error)) is not None:
        return f"{error.filename or ''}; {os.strerror(number)}"
    if isinstance(error, NotImplementedError):
        return str(error)
    return _meaning(error) or f"{type(error).__name__}: {error}"


def _meaning(error: BaseException) -> str | None:
    """What an error of Python's says of the inputs, where that is known."""
    text = str(error)
    if isinstance(error, AttributeError) and _may_be_held(error.obj):
        kind = type(error.obj).__name__
        return f"Trying to access a handle's resource using the wrong type: it is a {kind}"
    if unlike := _UNLIKE.search(text):
        shapes = ("[" + ",".join(re.findall(r"\d+", dims)) + "]" for dims in unlike.groups())
        return "Incompatible shapes: {} vs. {}".format(*shapes)
    return next((meaning for words, meaning in _MEANINGS if words in text), None)


def _may_be_held(value: Any) -> bool:
    """Whether a handle may stand for `value`: an object of weft's, or an array that was fed."""
    return type(value).__module__.split(".")[0] in ("weft", "numpy") and not callable(value)


def is_public(error: BaseException) -> bool:
    """Whether callers of TensorFlow's API may see `error` as it is."""
    if isinstance(error, errors.OpError) or type(error) in (ValueError, TypeError):
        return True
    is_own = type(error).__module__.startswith("weft.")
    return is_own and isinstance(error, (ValueError, TypeError))


def as_public(error: Exception) -> Exception:
    """`error`, or what stands for it where callers of TensorFlow's API see it."""
    if is_public(error):
        return error
    made: Exception = kind_of(error)(None, None, message_of(error))
    return made


def as_value_error(error: Exception) -> Exception:
    """`error`, or what stands for it where a graph is built: a ValueError about what was given."""
    if is_public(error) or kind_of(error) is not errors.InvalidArgumentError:
        return as_public(error)
    return ValueError(message_of(error))
