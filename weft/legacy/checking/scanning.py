"""Tokens of a program with their places: imports, dotted names and strings.

Python 2 and 3 are read alike, and nothing is lost on the way: an edit at the place of a token
leaves every other character of the file as it was.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

_QUOTED = r"""'''(?:\\.|[^\\])*?'''|\"\"\"(?:\\.|[^\\])*?\"\"\""""
_QUOTED += r"""|'(?:\\.|[^\\'\n])*'|"(?:\\.|[^\\"\n])*\""""
_TOKEN = re.compile(
    rf"(?P<string>[rRbBuUfF]{{0,2}}(?:{_QUOTED}))"
    r"|(?P<number>\d[\w.]*(?:(?<=[eE])[-+]\d+)?|\.\d\w*)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<blank>(?:[ \t\f\r]|\\\r?\n)+|\#[^\n]*)|(?P<newline>\n)"
    r"|(?P<operator>\*\*=?|//=?|>>=?|<<=?|<>|->|:=|[-+*/%&|^=!<>@]=|.)",
    re.DOTALL,
)
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class Token(NamedTuple):
    """A token that is not blank; `kind` is a group's name above."""

    kind: str
    text: str
    start: int
    depth: int  # of brackets around it

    @property
    def end(self) -> int:
        """The offset after it."""
        return self.start + len(self.text)


class Chain(NamedTuple):
    """A dotted name, `tf.nn.relu`, as an expression has it."""

    parts: tuple[Token, ...]
    is_assigned: bool

    @property
    def path(self) -> str:
        """The name as it is written, without blanks."""
        return ".".join(part.text for part in self.parts)


class Alias(NamedTuple):
    """One name of an import statement: `name as bound`."""

    name: str
    bound: str | None
    start: int
    end: int


class Import(NamedTuple):
    """An import statement; `module` is None in `import a, b`."""

    start: int
    end: int
    module: str | None
    module_start: int
    module_end: int
    names: tuple[Alias, ...]


class Scan:
    """The text of a program in tokens, by statement."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.statements = _statements(text)
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """(line, column), both from 1."""
        line = bisect.bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def start_of(self, line: int) -> int:
        """The offset at which a line begins; of one past the end, the last."""
        return self._lines[min(line, len(self._lines)) - 1]

    @functools.cached_property
    def imports(self) -> list[Import]:
        """The import statements, in order."""
        found = (_import(statement) for statement in self.statements)
        return [each for each in found if each is not None]

    @functools.cached_property
    def chains(self) -> list[Chain]:
        """Every dotted name of one or more parts outside of import statements."""
        return [
            chain
            for statement in self.statements
            if _import(statement) is None
            for chain in _chains(statement)
        ]

    def strings(self) -> Iterator[Token]:
        """The string literals."""
        return (each for line in self.statements for each in line if each.kind == "string")


def _statements(text: str) -> list[list[Token]]:
    """Tokens by statement: lines that brackets hold together; `if x: y; z` is three."""
    lines: list[list[Token]] = [[]]
    depth = 0
    for found in _TOKEN.finditer(text):
        kind, value = str(found.lastgroup), found.group()
        depth = max(0, depth - (value in _CLOSING))
        if kind == "newline" and depth == 0:
            lines.append([])
        elif kind not in ("blank", "newline"):
            lines[-1].append(Token(kind, value, found.start(), depth))
            if depth == 0 and (value == ";" or (value == ":" and _opens_block(lines[-1]))):
                lines.append([])
        depth += value in _OPENING
    return [line for line in lines if line]


def _opens_block(line: list[Token]) -> bool:
    words = {token.text for token in line if token.depth == 0 and token.kind == "name"}
    first = line[0].text
    blocks = "if elif else while for try except finally with def class".split()
    return first in blocks and "lambda" not in words


def _import(statement: list[Token]) -> Import | None:
    first = statement[0]
    if first.text not in ("import", "from") or len(statement) < 2:
        return None
    body = [token for token in statement if token.text not in "();"]
    end = next(token for token in reversed(statement) if token.text != ";").end
    if first.text == "import":
        return Import(first.start, end, None, first.end, first.end, _aliases(body[1:]))
    middle = next((i for i, token in enumerate(body) if token.text == "import"), 0)
    if middle < 2:
        return None
    module, names = body[1:middle], _aliases(body[middle + 1 :])
    path = "".join(token.text for token in module)
    return Import(first.start, end, path, module[0].start, module[-1].end, names)


def _aliases(tokens: list[Token]) -> tuple[Alias, ...]:
    groups: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == ",":
            groups.append([])
        else:
            groups[-1].append(token)
    return tuple(map(_alias, filter(None, groups)))


def _alias(group: list[Token]) -> Alias:
    words = [token.text for token in group]
    bound = words[-1] if len(words) > 2 and words[-2] == "as" else None
    name = "".join(words[:-2] if bound else words)
    return Alias(name, bound, group[0].start, group[-1].end)


def _chains(statement: list[Token]) -> Iterator[Chain]:
    i = 0
    while i < len(statement):
        end = i + 1
        if statement[i].kind == "name":
            while end + 1 < len(statement) and _goes_on(statement[end], statement[end + 1]):
                end += 2
            if i == 0 or statement[i - 1].text != ".":
                after = statement[end] if end < len(statement) else None
                assigned = after is not None and after.text == "=" and after.depth == 0
                yield Chain(tuple(statement[i:end:2]), assigned)
        i = end


def _goes_on(dot: Token, name: Token) -> bool:
    return dot.text == "." and name.kind == "name"
