"""Regular expressions as RE2 has them: in bytes, and in a time that grows with the text alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

from weft.core.errors import InvalidArgumentError
from weft.core.step_limits import looking_up

Span = tuple[int, int]


@lru_cache(maxsize=256)
def compiled(pattern: bytes) -> Any:
    """The pattern for use; InvalidArgumentError if RE2 does not read it."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        shown = pattern.decode("utf-8", "replace")
        raise InvalidArgumentError(
            None, None, f"Invalid pattern: {shown}, error: {_reason(error)}"
        ) from None


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)


class Rewrite:
    r"""The replacement of a match: \0 to \9 are its groups, \\ a backslash.

    RE2 stops at any other use of a backslash: `is_whole` is false then, and what comes before it
    is all there is.
    """

    def __init__(self, text: bytes) -> None:
        self.parts: list[bytes | int] = []
        self.is_whole = True
        first, *rest = text.split(b"\\")
        self.parts.append(first)
        pieces = iter(rest)
        for piece in pieces:
            if piece[:1].isdigit():
                self.parts += [int(piece[:1]), piece[1:]]
            elif not piece and (after := next(pieces, None)) is not None:
                self.parts.append(b"\\" + after)
            else:
                self.is_whole = False
                break

    def applied(self, match: Any) -> bytes:
        """What takes the place of the match; a group that the pattern does not have is empty."""
        groups = (match[0], *match.groups()).__getitem__
        count = match.re.groups + 1
        wanted = (part for part in self.parts if not isinstance(part, int) or part < count)
        found = (groups(part) if isinstance(part, int) else part for part in wanted)
        return b"".join(part or b"" for part in found)


# One character or class of characters, written as Python's own expressions write it, too.
_ONE = re.compile(
    rb"(?:[A-Za-z0-9 _,;:<>/!'\"&%#@=~-]|\[\^?(?:[A-Za-z0-9 _,;:<>/!'\"%#@=.()*+?-]|\\[dw])+\])\+?"
)


# A byte that no text of ASCII has, in place of each that is to go; and one between texts.
_MARK, _BETWEEN = b"\xff", b"\0"


@lru_cache(maxsize=256)
def substitution(pattern: bytes, rewrite: bytes) -> Any:
    """A function that replaces all matches in a list of texts; None if it takes RE2 to do that.

    Calls of RE2 from Python take several times as long, and there is one for each match.
    """
    if not _ONE.fullmatch(pattern) or b"\\" in rewrite or _BETWEEN in rewrite:
        return None
    compiled(pattern)  # a range that goes backwards is an error with RE2's words
    is_run = len(pattern) > 1 and pattern.endswith(b"+")
    fits = re.compile(pattern).fullmatch
    each = (bytes([i]) for i in range(256))
    table = b"".join(_MARK if byte != _BETWEEN and fits(byte) else byte for byte in each)
    return partial(_substituted, table=table, is_run=is_run, rewrite=rewrite)


def _substituted(
    texts: list[bytes], table: bytes, is_run: bool, rewrite: bytes
) -> list[bytes] | None:
    """All texts as one, with the bytes that `table` marks replaced; None if one has odd bytes."""
    text = _BETWEEN.join(texts)
    if not text.isascii() or text.count(_BETWEEN) != len(texts) - 1:
        return None
    text = text.translate(table)
    while is_run and 2 * _MARK in text:
        text = text.replace(2 * _MARK, _MARK)
    return text.replace(_MARK, rewrite).split(_BETWEEN)


def replaced(expression: Any, rewrite: Rewrite, text: bytes, everywhere: bool) -> bytes:
    """`text` with `rewrite` in place of the first match, or of all."""
    if not everywhere:
        match = expression.search(text)
        if match is None or not rewrite.is_whole:
            return text
        start, end = match.span()
        return text[:start] + rewrite.applied(match) + text[end:]
    pieces, done = [], 0
    for match in looking_up(_matches(expression, text)):
        start, end = match.span()
        pieces += [text[done:start], rewrite.applied(match)]
        done = end
    return b"".join([*pieces, text[done:]])


def _matches(expression: Any, text: bytes) -> Iterator[Any]:
    """Matches from left to right; an empty one does not follow another at its end."""
    place, last = 0, -1
    while place <= len(text) and (match := expression.search(text, place)) is not None:
        start, end = match.span()
        if start == end == last:
            place = start + _character(text, start)
            continue
        yield match
        place = last = end


def _character(text: bytes, place: int) -> int:
    """How many bytes the character at `place` has; one that is no UTF-8 is a byte by itself."""
    for count in range(1, 5):
        try:
            text[place : place + count].decode()
        except UnicodeDecodeError:
            continue
        return count
    return 1
