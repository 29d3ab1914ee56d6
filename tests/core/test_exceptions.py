"""Exceptions of Python as TensorFlow's: which class stands for which."""

from __future__ import annotations

import errno
from typing import Any

import numpy as np
import pytest

from weft.core import errors
from weft.core.errors import OperatorNotAllowedInGraphError
from weft.core.exceptions import as_public, as_value_error, is_public, message_of

KINDS: list[tuple[Exception, Any]] = [
    (IndexError("list index out of range"), errors.InvalidArgumentError),
    (KeyError("a"), errors.InvalidArgumentError),
    (AttributeError("no attribute 'read'"), errors.InvalidArgumentError),
    (ZeroDivisionError("division by zero"), errors.InvalidArgumentError),
    (OverflowError("too large"), errors.InvalidArgumentError),
    (RecursionError("too deep"), errors.InvalidArgumentError),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), errors.InvalidArgumentError),
    (np.exceptions.AxisError(3, 2), errors.InvalidArgumentError),
    (np.linalg.LinAlgError("singular"), errors.InvalidArgumentError),
    (OSError("image file is truncated"), errors.InvalidArgumentError),
    (EOFError("ended early"), errors.InvalidArgumentError),
    (MemoryError("4 TiB"), errors.ResourceExhaustedError),
    (NotImplementedError("half"), errors.UnimplementedError),
    (FileNotFoundError(errno.ENOENT, "No such file", "nope"), errors.NotFoundError),
    (IsADirectoryError(errno.EISDIR, "is one", "folder"), errors.FailedPreconditionError),
    (OSError(errno.EIO, "broken", "disk"), errors.UnknownError),
    (RuntimeError("RESOURCE_EXHAUSTED: Out of memory"), errors.ResourceExhaustedError),
    (RuntimeError("INVALID_ARGUMENT: shapes"), errors.InvalidArgumentError),
    (AssertionError("an invariant"), errors.InternalError),
]


@pytest.mark.parametrize("raised, kind", KINDS, ids=lambda value: repr(value)[:40])
def test_class_that_stands_for_an_exception(raised: Exception, kind: Any) -> None:
    assert type(as_public(raised)) is kind


PUBLIC = [ValueError("a"), TypeError("b"), OperatorNotAllowedInGraphError("c")]


@pytest.mark.parametrize("raised", PUBLIC, ids=repr)
def test_what_is_seen_as_it_is(raised: Exception) -> None:
    assert is_public(raised) and as_public(raised) is raised and as_value_error(raised) is raised


def test_while_a_graph_is_built() -> None:
    assert str(as_value_error(KeyError("a"))) == "KeyError: 'a'"
    assert type(as_value_error(KeyError("a"))) is ValueError
    assert type(as_value_error(MemoryError())) is errors.ResourceExhaustedError


def test_a_file_is_named() -> None:
    missing = FileNotFoundError(errno.ENOENT, "", "nope")
    assert message_of(missing) == "nope; No such file or directory"
