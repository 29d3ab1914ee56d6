"""Errors that running a graph can raise: one exception class per canonical status code.

An error may carry the operation it concerns; its text then ends with where the user's program
created that operation.
"""

from __future__ import annotations

import inspect
import os
import traceback
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from weft.core.user_frames import PACKAGE as PACKAGE
from weft.core.user_frames import shown

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16


_STARTERS = (
    *("<frozen runpy>", "runpy.py", os.path.join("bin", "weft")),
    os.path.join("IPython", "core", "interactiveshell.py"),
)

Frame = tuple[str, int, str, str | None]


class OperatorNotAllowedInGraphError(TypeError):
    """Python would have to know the value of a tensor, which only a step has."""


class OpError(Exception):
    """An error met while running a graph.

    Attributes:
        message: what happened, without the creation site.
        op: the `Operation` concerned, when known.
        node_def: its `NodeDef`, when known (an op made by the runtime has one but no `op`).
        error_code: the canonical status code, one of the constants of this module.
    """

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int) -> None:
        super().__init__(message)
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses take fewer arguments, and graphs do not travel between processes.
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        state = {"node_def": self._node_def, "op": None, "message": self._message}
        state["error_code"] = self._error_code
        return type(self), tuple(state[name] for name in names)

    @property
    def message(self) -> str:
        """The error message."""
        return self._message

    @property
    def op(self) -> Any:
        """The operation that failed, or None."""
        return self._op

    @property
    def node_def(self) -> Any:
        """The NodeDef of the operation that failed, or None."""
        return self._node_def

    @property
    def error_code(self) -> int:
        """The canonical status code."""
        return self._error_code

    def __str__(self) -> str:
        if self._op is None:
            return self._message
        return self._message + _creation_site(self._op)


def _creation_site(op: Any) -> str:
    """The paragraphs that tell where `op`, and what it was derived from, came from."""
    frames = _frames(op)
    text = f"\n\nOriginal stack trace for {op.name!r}:\n{_format(frames[_started(frames) :])}"
    original = getattr(op, "_original_op", None)
    while original is not None:
        earlier = _frames(original)
        shared = _common_prefix(frames, earlier)
        text += f"\n...which was made for op {original.name!r}, created at:\n"
        if shared:
            text += f"  [{shared} outer lines, same as above, left out]\n"
        text += _format(earlier[shared:])
        frames, original = earlier, getattr(original, "_original_op", None)
    return text


def _frames(op: Any) -> list[Frame]:
    return list(getattr(op, "traceback", None) or ())


def _started(frames: Sequence[Frame]) -> int:
    """How many outer frames are of what has started the program, or runs the cell of a notebook."""
    starters = [i for i, frame in enumerate(frames, 1) if frame[0].endswith(_STARTERS)]
    return starters[-1] if starters and starters[-1] < len(frames) else 0


def _format(frames: Sequence[Frame]) -> str:
    return "".join(traceback.format_list([tuple(frame[:4]) for frame in frames]))  # type: ignore[misc]


def _common_prefix(a: Sequence[Frame], b: Sequence[Frame]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if tuple(x) != tuple(y):
            break
        count += 1
    return count


def raise_from(found: BaseException, cause: BaseException) -> NoReturn:
    """Raises `found` with its cause, or alone if that is the same: no error causes itself."""
    try:
        if found is cause:
            raise found
        raise found from cause
    finally:  # the error knows this frame: it would keep itself, and what its step had, alive
        del found, cause


def let_go(error: BaseException) -> None:
    """Forgets where an error and its causes were raised, and so what the calls had at hand."""
    for each in _with_causes(error):
        each.__traceback__ = None


def _with_causes(error: BaseException) -> list[BaseException]:
    """An error, and what it came of: errors of two threads may each have come of the other."""
    found: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in found:
        found.append(each)
        each = each.__cause__ or each.__context__
    return found


def node_text(op: Any, name: str) -> str:
    """How a message names a node: with the line that made it, or as another process fills it in."""
    if op is None:
        return f"[[node {name} ]]"
    if not _frames(op):
        return f"[[{{{{node {name}}}}}]]"
    return f"[[node {name} (defined at {locate(op)}) ]]"


def locate(op: Any) -> str:
    """Where the user's program created `op`, as `"train.py:41"`."""
    frames = _frames(op)
    outside = [frame for frame in frames if not os.path.abspath(frame[0]).startswith(PACKAGE)]
    if not frames:
        return "<unknown>"
    file, line = (outside or frames)[-1][:2]
    return f"{shown(file)}:{line}"


class CancelledError(OpError):
    """The step was cancelled, by the user or because a queue it waited on was closed."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, CANCELLED)


class UnknownError(OpError):
    """Something failed in a way no other class describes."""

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int = UNKNOWN) -> None:
        super().__init__(node_def, op, message, error_code)


class InvalidArgumentError(OpError):
    """An operation got an argument it can never accept, such as a wrong shape.

    Args:
        node_def: the node that failed, or None.
        op: the operation that failed, or None.
        message: what happened.

    Example:
        >>> x = tf.placeholder(tf.float32)
        >>> try:
        ...     session.run(tf.matmul(x, x), {x: np.zeros([2, 3])})
        ... except tf.errors.InvalidArgumentError as error:
        ...     print(error.op.name)
        MatMul
    """

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, INVALID_ARGUMENT)


class DeadlineExceededError(OpError):
    """The time allowed ran out first."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, DEADLINE_EXCEEDED)


class NotFoundError(OpError):
    """A file, key or other thing asked for does not exist.

    Args:
        node_def: the node that failed, or None.
        op: the operation that failed, or None.
        message: what happened.

    Example:
        >>> try:
        ...     tf.gfile.GFile("/no/such/file").read()
        ... except tf.errors.NotFoundError as error:
        ...     print(error.error_code == tf.errors.NOT_FOUND)
        True
    """

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, NOT_FOUND)


class AlreadyExistsError(OpError):
    """The thing to be created is already there."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, ALREADY_EXISTS)


class PermissionDeniedError(OpError):
    """The caller is not allowed to do this."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, PERMISSION_DENIED)


class ResourceExhaustedError(OpError):
    """Memory, disk or a quota ran out."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, RESOURCE_EXHAUSTED)


class FailedPreconditionError(OpError):
    """The system is not in the state needed, such as a variable not yet initialized."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, FAILED_PRECONDITION)


class AbortedError(OpError):
    """Stopped halfway by something concurrent; trying again may work."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, ABORTED)


class OutOfRangeError(OpError):
    """Went past the end of the input, such as an exhausted queue or iterator.

    Args:
        node_def: the node that failed, or None.
        op: the operation that failed, or None.
        message: what happened.

    Example:
        >>> numbers = tf.data.Dataset.range(1).make_one_shot_iterator().get_next()
        >>> int(session.run(numbers))
        0
        >>> try:
        ...     session.run(numbers)
        ... except tf.errors.OutOfRangeError:
        ...     print("the end")
        the end
    """

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, OUT_OF_RANGE)


class UnimplementedError(OpError):
    """The operation exists but not for this case."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNIMPLEMENTED)


class InternalError(OpError):
    """Something the runtime relies on does not hold."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, INTERNAL)


class UnavailableError(OpError):
    """The process asked cannot be reached now."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNAVAILABLE)


class DataLossError(OpError):
    """Data was lost or is corrupt beyond repair."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, DATA_LOSS)


class UnauthenticatedError(OpError):
    """The request carries no valid credentials."""

    def __init__(self, node_def: Any, op: Any, message: str) -> None:
        super().__init__(node_def, op, message, UNAUTHENTICATED)


_CLASS_OF_CODE: dict[int, type[OpError]] = {
    CANCELLED: CancelledError,
    UNKNOWN: UnknownError,
    INVALID_ARGUMENT: InvalidArgumentError,
    DEADLINE_EXCEEDED: DeadlineExceededError,
    NOT_FOUND: NotFoundError,
    ALREADY_EXISTS: AlreadyExistsError,
    PERMISSION_DENIED: PermissionDeniedError,
    RESOURCE_EXHAUSTED: ResourceExhaustedError,
    FAILED_PRECONDITION: FailedPreconditionError,
    ABORTED: AbortedError,
    OUT_OF_RANGE: OutOfRangeError,
    UNIMPLEMENTED: UnimplementedError,
    INTERNAL: InternalError,
    UNAVAILABLE: UnavailableError,
    DATA_LOSS: DataLossError,
    UNAUTHENTICATED: UnauthenticatedError,
}
_CODE_OF_CLASS = {cls: code for code, cls in _CLASS_OF_CODE.items()}


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    """The exception class of a status code; KeyError for OK and unknown codes."""
    return _CLASS_OF_CODE[error_code]


def error_code_from_exception_type(cls: type) -> int:
    """The status code of an exception class; UNKNOWN, with a warning, for others."""
    try:
        return _CODE_OF_CLASS[cls]
    except KeyError:
        warnings.warn(f"Unknown class exception: {cls!r}", stacklevel=2)
        return UNKNOWN


def make_error(node_def: Any, op: Any, message: str, error_code: int) -> OpError:
    """The exception for a status that came as a bare code and message."""
    cls: Any = _CLASS_OF_CODE.get(error_code)
    if cls is None:
        return UnknownError(node_def, op, message, error_code)
    return cls(node_def, op, message)  # type: ignore[no-any-return]


class Status:
    """A code and a message: what a call of TensorFlow's C library leaves behind."""

    def __init__(self) -> None:
        self.code, self.message = 0, ""


class raise_exception_on_not_ok_status:
    """Gives a status to be filled in, and raises the error that it tells of."""

    def __enter__(self) -> Status:
        self.status = Status()
        return self.status

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if self.status.code:
            raise make_error(None, None, self.status.message, self.status.code)
