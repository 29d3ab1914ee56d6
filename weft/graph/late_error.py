"""Errors that a graph raises when a node is made, and eager execution as of a node that is run."""

from __future__ import annotations

from weft.core.errors import OpError


def told_late(error: TypeError, late: OpError) -> TypeError:
    """`error`, with what stands for it where operations are run as they are made."""
    error._weft_late = late  # type: ignore[attr-defined]
    return error


def late_error(error: TypeError) -> OpError | None:
    """What stands for an error where operations are run as they are made, if anything does."""
    return getattr(error, "_weft_late", None)
