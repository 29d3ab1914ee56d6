"""Text of others, made fit to be shown: it may hold what terminals obey."""

from __future__ import annotations

import unicodedata

# Cc: control characters; Cf: those that turn the direction of text, and other invisible ones;
# Zl, Zp: ends of lines; Cs: halves of characters, which cannot be written.
_OBEYED = frozenset(("Cc", "Cf", "Zl", "Zp", "Cs"))


def escaped(text: object) -> str:
    """The text with everything that is not shown as a character written as Python writes it."""
    return "".join(map(_shown, str(text)))


def escaped_lines(text: object) -> str:
    """As `escaped`, for text of several lines, perhaps indented, such as a message."""
    return "".join(_shown(c) if c not in "\n\t" else c for c in str(text))


def _shown(character: str) -> str:
    if character.isascii() and character.isprintable():
        return character
    if unicodedata.category(character) not in _OBEYED:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
