"""The errors of a model server: TensorFlow's, made from a few words."""

from __future__ import annotations

from weft.core import errors

# The names of status codes, by number, as answers spell them.
CODE_NAMES = (
    *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND"),
    *("ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION"),
    *("ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"),
    "UNAUTHENTICATED",
)


def invalid(text: str) -> errors.OpError:
    return errors.InvalidArgumentError(None, None, text)


def not_found(text: str) -> errors.OpError:
    return errors.NotFoundError(None, None, text)


def precondition(text: str) -> errors.OpError:
    return errors.FailedPreconditionError(None, None, text)


def exhausted(text: str) -> errors.OpError:
    return errors.ResourceExhaustedError(None, None, text)


def unavailable(text: str) -> errors.OpError:
    return errors.UnavailableError(None, None, text)
