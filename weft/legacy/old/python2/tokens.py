"""The tokens of a Python 2 file. Joined again, they are the file."""

from __future__ import annotations

import re
from typing import NamedTuple

_STRING = r"""[uUbB]?[rR]?(?:'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\""""
_STRING += r"""|'(?:\\.|[^\\'\n])*'|"(?:\\.|[^\\"\n])*")"""
_NUMBER = r"""0[xX][\da-fA-F]+[lL]?|0[bB][01]+[lL]?|0[oO][0-7]+[lL]?"""
_NUMBER += r"""|(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?[jJ]?|\d+[eE][-+]?\d+[jJ]?|\d+[jJlL]?"""
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<number>{_NUMBER})|(?P<name>[^\W\d]\w*)"
    r"|(?P<space>(?:[ \t\f]|\\\r?\n)+)|(?P<comment>\#[^\n]*)|(?P<newline>\r?\n)"
    r"|(?P<operator>\*\*=?|//=?|>>=?|<<=?|<>|[-+*/%&|^=!<>]=|[^\w\s])|(?P<other>.)",
    re.DOTALL,
)
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


class Token(NamedTuple):
    """One token: `kind` is the name of a group above."""

    kind: str
    text: str

    @property
    def is_blank(self) -> bool:
        """Whether it is there for the reader alone."""
        return self.kind in ("space", "comment", "newline")


def tokens(text: str) -> list[Token]:
    """The tokens of a file."""
    return [Token(str(found.lastgroup), found.group()) for found in _TOKEN.finditer(text)]


def logical_lines(all_tokens: list[Token]) -> list[list[Token]]:
    """The tokens of each statement line, its end with it; brackets hold lines together."""
    lines: list[list[Token]] = [[]]
    depth = 0
    for token in all_tokens:
        lines[-1].append(token)
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if token.kind == "newline" and depth <= 0:
            depth = 0
            lines.append([])
    return lines


def split(part: list[Token], separator: str) -> list[list[Token]]:
    """The parts between separators that are in no brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in part:
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth == 0 and token.text == separator:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def text_of(part: list[Token]) -> str:
    """The text of some tokens."""
    return "".join(token.text for token in part)
