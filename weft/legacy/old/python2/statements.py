"""Python 2's syntax as Python 3's, line for line.

Comes in: the text of a Python 2 file. Goes out: text that Python 3 parses, with as many lines and
the same statement on each, so that tracebacks name the right ones. What the statements mean is
`meaning`'s business, on the tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from weft.legacy.old.python2.tokens import (
    CLOSING,
    OPENING,
    Token,
    logical_lines,
    split,
    text_of,
    tokens,
)

RUNTIME = "__weft_python2__"
# A parameter that is a tuple, `def f(a, (b, c))`, is passed under this name and its pattern.
TUPLE = "__weft_tuple_"
_BLOCKS = frozenset(
    "if elif else while for try except finally with def class".split(),
)
# Names that are words of the language today.
_RESERVED = frozenset({"async", "await", "nonlocal"})
_BYTE_ESCAPES = re.compile(r"(?<!\\)((?:\\\\)*)((?:\\x[89a-fA-F][\da-fA-F]|\\[23][0-7]{2})+)")
_UNICODE_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\([uUN])")


def translate(text: str) -> str:
    """The text of a Python 2 file as Python 3 takes it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    all_tokens = tokens(text if text.endswith("\n") else text + "\n")
    futures = set(re.findall(r"^from\s+__future__\s+import\s+(.+)$", text, re.MULTILINE))
    return _Translator(" ".join(futures)).lines(all_tokens)


def rename_reserved(text: str) -> str:
    """`async` and the like as names, in a file that is Python 3 but for these."""
    return text_of([_renamed(token) for token in tokens(text)])


def _renamed(token: Token) -> Token:
    reserved = token.kind == "name" and token.text in _RESERVED
    return Token("name", f"{token.text}_") if reserved else token


class _Translator:
    def __init__(self, futures: str) -> None:
        self._has_print = "print_function" not in futures
        self._has_unicode = "unicode_literals" in futures

    def lines(self, all_tokens: list[Token]) -> str:
        changed = [self._token(token) for token in all_tokens]
        return "".join(map(self._line, logical_lines(_without_backquotes(changed))))

    def _token(self, token: Token) -> Token:
        if token.kind == "number":
            return Token("number", _number(token.text))
        if token.kind == "string":
            return Token("string", self._string(token.text))
        return Token("operator", "!=") if token.text == "<>" else _renamed(token)

    def _string(self, text: str) -> str:
        prefix = text[: min(text.find(quote) for quote in "'\"" if quote in text)].lower()
        if prefix == "ur":
            return text[1:]
        if prefix or self._has_unicode:
            return text
        # `\u` was no escape in a string of bytes.
        text = _UNICODE_ESCAPE.sub(r"\1\\\\\2", text)
        return _BYTE_ESCAPES.sub(lambda found: found[1] + _text_of_escapes(found[2]), text)

    def _line(self, line: list[Token]) -> str:
        indent = text_of(line[:1]) if line and line[0].kind == "space" else ""
        rest = line[1:] if indent else line
        if "\n" not in indent:
            indent = indent.expandtabs(8).replace("\f", "")
        return indent + "".join(self._statements(_with_parentheses(rest)))

    def _statements(self, line: list[Token]) -> Iterator[str]:
        """The statements of a line: `if x: print y; print z` has three."""
        while line:
            head, line = _block_head(line)
            if not head:
                break
            yield self._head(head)
        parts = split(line, ";")
        yield ";".join(map(self._statement, parts))

    def _head(self, head: list[Token]) -> str:
        words = [token.text for token in head if not token.is_blank]
        if words[0] == "except":
            return _except(head)
        return text_of(_without_tuples(head))

    def _statement(self, statement: list[Token]) -> str:
        before, body, after = _trimmed(_without_tuples(statement))
        rule = self._rule(body)
        return text_of(before) + (rule(body) if rule else text_of(body)) + text_of(after)

    def _rule(self, body: list[Token]) -> Callable[[list[Token]], str] | None:
        if not body or body[0].kind != "name":
            return None
        if body[0].text == "print" and self._has_print:
            return _print
        return {"exec": _exec, "raise": _raise}.get(body[0].text)


def _block_head(line: list[Token]) -> tuple[list[Token], list[Token]]:
    """(`if x:` and the like, what follows on the line); ([], line) where it is no block."""
    first = next((token.text for token in line if not token.is_blank), "")
    if first not in _BLOCKS:
        return [], line
    depth = lambdas = 0
    for i, token in enumerate(line):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        lambdas += depth == 0 and token.text == "lambda"
        if depth == 0 and token.text == ":":
            if not lambdas:
                return line[: i + 1], line[i + 1 :]
            lambdas -= 1
    return [], line


def _trimmed(part: list[Token]) -> tuple[list[Token], list[Token], list[Token]]:
    """(blanks, what is between, blanks)."""
    first, last = 0, len(part)
    while first < last and part[first].is_blank:
        first += 1
    while last > first and part[last - 1].is_blank:
        last -= 1
    return part[:first], part[first:last], part[last:]


def _except(head: list[Token]) -> str:
    kinds, *name = split(head[:-1], ",")
    if not name:
        kinds, *name = split(head[:-1], "as")
    if not name:
        return text_of(head)
    _, target, _ = _trimmed(name[0])
    bound = _tuple_name(target) if target[0].text == "(" else text_of(target)
    return f"{text_of(kinds).rstrip()} as {bound}:"


def _print(statement: list[Token]) -> str:
    parts = [text_of(part).strip(" ") for part in split(statement[1:], ",")]
    options = ""
    if parts[0].startswith(">>"):
        options = f"file={parts[0][2:].strip()}"
        parts = parts[1:] or [""]
    if len(parts) > 1 and not parts[-1].strip():
        options += ", end=' '" if options else "end=' '"
        parts = parts[:-1]
    given = ", ".join([each for each in (*parts, options) if each])
    return f"print({given})"


def _exec(statement: list[Token]) -> str:
    code, *where = split(statement[1:], "in")
    spaces = [text_of(part).strip() for part in where]
    if not where and text_of(code).lstrip().startswith("("):
        return f"{RUNTIME}.execute{text_of(code).lstrip()}"
    return f"{RUNTIME}.execute({', '.join([text_of(code).strip(), *spaces])})"


def _raise(statement: list[Token]) -> str:
    parts = [text_of(part).strip() for part in split(statement[1:], ",")]
    if len(parts) == 1:
        return text_of(statement)
    return f"raise {RUNTIME}.exception({', '.join(parts)})"


def _text_of_escapes(escapes: str) -> str:
    """`\\xc3\\xa9`, which are bytes, as escapes of the text that stands for them."""
    numbers = [int(x or o, 16 if x else 8) for x, o in re.findall(r"\\(?:x(..)|(...))", escapes)]
    text = bytes(numbers).decode("utf-8", "surrogateescape")
    return "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}" for c in text)


def _number(text: str) -> str:
    text = text.rstrip("lL")
    return f"0o{text[1:]}" if re.fullmatch(r"0\d+", text) else text


def _without_backquotes(all_tokens: list[Token]) -> list[Token]:
    """`x` in backquotes is its repr."""
    found, is_open = [], False
    for token in all_tokens:
        if token.text == "`":
            new = [Token("operator", ")")] * 2
            if not is_open:
                new = [Token("name", "repr"), *[Token("operator", "(")] * 2]
            found += new
            is_open = not is_open
        else:
            found.append(token)
    return found


def _with_parentheses(line: list[Token]) -> list[Token]:
    """`[x for x in 1, 2]` with the tuple in parentheses."""
    found = list(line)
    for i in reversed(range(len(line))):
        if line[i].text == "in" and _is_in_list(line[:i]):
            end, commas = _extent(line, i + 1)
            if commas:
                found.insert(end, Token("operator", ")"))
                found.insert(i + 1, Token("operator", "("))
    return found


def _is_in_list(before: list[Token]) -> bool:
    """Whether an `in` after these tokens belongs to a `for` right inside of square brackets."""
    depth, has_for = 0, False
    for token in reversed(before):
        depth += (token.text in CLOSING) - (token.text in OPENING)
        has_for |= depth == 0 and token.text == "for"
        if depth < 0:
            return has_for and token.text == "["
    return False


def _extent(line: list[Token], start: int) -> tuple[int, int]:
    """(where an iterable that starts here ends, how many commas are in it)."""
    depth = commas = 0
    for i in range(start, len(line)):
        text = line[i].text
        depth += (text in OPENING) - (text in CLOSING)
        if depth < 0 or (depth == 0 and text in ("for", "if")):
            return i, commas
        commas += depth == 0 and text == ","
    return len(line), 0


def _without_tuples(part: list[Token]) -> list[Token]:
    """Parameters that are tuples, each as one name that says which names it is taken apart into."""
    found: list[Token] = []
    i = 0
    while i < len(part):
        end = _parameters_end(part, i)
        found.append(part[i])
        if end:
            found += _flat_parameters(part[i + 1 : end])
            i = end - 1
        i += 1
    return found


def _parameters_end(part: list[Token], i: int) -> int:
    """Where the parameters of the function that starts at token `i` end; 0: none starts here."""
    if part[i].kind != "name" or part[i].text not in ("def", "lambda"):
        return 0
    depth = 0
    for end in range(i + 1, len(part)):
        text = part[end].text
        depth += (text in OPENING) - (text in CLOSING)
        if depth == 0 and text == ":":
            return end
    return 0


def _flat_parameters(parameters: list[Token]) -> list[Token]:
    """Those of a `def` are in parentheses of their own, after its name."""
    inside = 1 if _next_text(parameters) == "(" else 0
    found: list[Token] = []
    depth = i = 0
    before = ","  # the sign before a parameter; its default may have parentheses, too
    while i < len(parameters):
        token = parameters[i]
        if token.text == "(" and depth == inside and before in (",", "("):
            end = _closing(parameters, i)
            found.append(Token("name", _tuple_name(parameters[i : end + 1])))
            before, i = ")", end + 1
            continue
        depth += (token.text in OPENING) - (token.text in CLOSING)
        before = before if token.is_blank else token.text
        found.append(token)
        i += 1
    return found


def _next_text(parameters: list[Token]) -> str:
    """The second token: of `f(a, b)` the parenthesis; of a lambda's `a, b` the comma."""
    seen = [token for token in parameters if not token.is_blank][:2]
    return seen[1].text if len(seen) == 2 and seen[0].kind == "name" else ""


def _closing(part: list[Token], i: int) -> int:
    depth = 0
    for end in range(i, len(part)):
        depth += (part[end].text in OPENING) - (part[end].text in CLOSING)
        if depth == 0:
            return end
    return len(part) - 1


def _tuple_name(pattern: list[Token]) -> str:
    """A name that holds a pattern: `(b, (c, d))`, with letters for its signs."""
    text = "".join(token.text for token in pattern if not token.is_blank)
    return TUPLE + text.encode().hex()


def tuple_pattern(name: str) -> str | None:
    """The pattern that a parameter's name holds."""
    return bytes.fromhex(name.removeprefix(TUPLE)).decode() if name.startswith(TUPLE) else None
