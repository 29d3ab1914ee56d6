"""Hints on misspelled names: a note on the error, whose message stays TensorFlow's."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TypeVar

Error = TypeVar("Error", bound=BaseException)
_MOST = 12
_TOO_MANY = 500


def hinted(error: Error, name: str, known: Iterable[str]) -> Error:
    """`error`, with a note that tells which of the `known` names may have been meant.

    Where none is alike and there are few, all are named. Where there are very many, none is looked
    for: programs ask for names that may not be there, and catch the error.
    """
    names = sorted({str(each) for each in known})
    if len(names) > _TOO_MANY:
        return error
    close = difflib.get_close_matches(name, names, n=2, cutoff=0.7)
    if close:
        error.add_note(f"Did you mean {' or '.join(map(repr, close))}?")
    elif 0 < len(names) <= _MOST:
        error.add_note(f"There are: {', '.join(names)}")
    return error
