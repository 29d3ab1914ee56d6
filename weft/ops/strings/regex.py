"""Regular expressions on tensors of strings."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.ops.kit.shared import as_array, invalid
from weft.ops.kit.string_arrays import flat, mapped, string

_HOST: dict[str, Any] = dict(runs_on="host")


# What is special in RE2's syntax: an escaped character, a class of Unicode, a bracket.
_TOKENS = re.compile(r"\\[pP](?:\{\^?\w+\}|\w)|\\.|\[\^?\]?|\]|.", re.DOTALL)
# What RE2 calls \z is Python's \Z; \C, any byte, is a dot that also matches line feeds.
_RENAMED = {r"\z": r"\Z", r"\C": "(?s:.)"}


def _text(value: bytes) -> str:
    """As characters; bytes that are no UTF-8 become some that `_bytes` turns back into them."""
    return value.decode("utf-8", "surrogateescape")


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogateescape")


@lru_cache(maxsize=256)
def _compiled(pattern: bytes) -> re.Pattern[str]:
    r"""RE2's patterns are of characters; \w, \d, \s and \b know ASCII only."""
    try:
        return re.compile(_translated(_text(pattern)), re.ASCII)
    except re.error as error:
        raise invalid(f"Invalid pattern: {pattern.decode()}, error: {error}") from None


def _translated(pattern: str) -> str:
    """The pattern in Python's syntax."""
    inside, found = False, []
    for token in _TOKENS.findall(pattern):
        if token[:2] in (r"\p", r"\P"):
            found.append(_unicode_class(token, inside))
            continue
        if not inside and token[0] == "[":
            inside = True
        elif token == "]":
            inside = False
        found.append(_RENAMED.get(token, token))
    return "".join(found)


def _unicode_class(token: str, inside: bool) -> str:
    name = token[2:].strip("{}")
    negated = (token[1] == "P") != name.startswith("^")
    ranges = _ranges(name.lstrip("^"), negated)
    return ranges if inside else f"[{ranges}]"


@lru_cache(maxsize=64)
def _ranges(category: str, negated: bool) -> str:
    """The characters of a general category ("Lu", "L"), or all others, for use between brackets."""
    member = np.array(_categories()) == category
    if len(category) == 1:
        member = np.array([each[0] for each in _categories()]) == category
    if not member.any():
        raise re.error(f"invalid character class range: {category}")
    edges = np.flatnonzero(np.diff(np.concatenate([[False], member != negated, [False]])))
    pairs = zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True)
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in pairs)


@lru_cache(maxsize=1)
def _categories() -> list[str]:
    return [unicodedata.category(chr(i)) for i in range(sys.maxunicode + 1)]


def _checked(value: Any, what: str) -> bytes:
    if np.ndim(value):
        raise invalid(f"{what} must be scalar, but received {s.show(np.shape(value))}")
    return string(value)


def _match_dims(c: ShapeContext) -> Dims:
    for i in range(1, c.num_inputs):
        s.with_rank(c.dims(i), 0)
    return c.dims(0)


def _full_match(input: Any, pattern: bytes) -> np.ndarray:
    match = _compiled(pattern).fullmatch
    found = np.array([match(_text(each)) is not None for each in flat(input)], bool)
    return found.reshape(np.shape(as_array(input)))


@op(
    "RegexFullMatch", inputs="input: string, pattern: string", outputs="output: bool",
    shape=_match_dims, **_HOST,
)  # fmt: skip
def regex_full_match_(xp: Any, input: Any, pattern: Any) -> Any:
    return _full_match(input, _checked(pattern, "Pattern"))


@op(
    "StaticRegexFullMatch", inputs="input: string", outputs="output: bool",
    attrs="pattern: string", shape=s.unchanged, **_HOST,
)  # fmt: skip
def static_regex_full_match_(xp: Any, input: Any, *, pattern: str) -> Any:
    return _full_match(input, pattern.encode())


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether `pattern` matches the whole of each string."""
    if isinstance(pattern, (str, bytes)):
        return raw.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return raw.RegexFullMatch(input, pattern, name=name)


# ---- replacing -----------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _rewriter(rewrite: str) -> Any:
    r"""The function from a match to its replacement: \0 to \9 are groups, \\ a backslash."""
    parts = re.split(r"\\(\d|\\)", rewrite)
    if any("\\" in part for part in parts[::2]):
        raise invalid(f"Invalid rewrite pattern: {rewrite}")

    def replacement(match: re.Match[str]) -> str:
        found = [
            part if i % 2 == 0 else "\\" if part == "\\" else match.group(int(part)) or ""
            for i, part in enumerate(parts)
        ]
        return "".join(found)

    return replacement


def _replace(input: Any, pattern: bytes, rewrite: bytes, everywhere: bool) -> np.ndarray:
    compiled, replacement = _compiled(pattern), _rewriter(_text(rewrite))
    highest = max((int(g) for g in re.findall(rb"\\(\d)", rewrite)), default=0)
    if highest > compiled.groups:
        return as_array(input)  # there is nothing to put in: RE2 leaves the strings alone
    count = 0 if everywhere else 1
    return mapped(lambda each: _bytes(compiled.sub(replacement, _text(each), count)), input)


@op(
    "RegexReplace", inputs="input: string, pattern: string, rewrite: string",
    outputs="output: string", attrs="replace_global: bool = true", shape=_match_dims,
    differentiable=False, **_HOST,
)  # fmt: skip
def regex_replace_(xp: Any, input: Any, pattern: Any, rewrite: Any, *, replace_global: bool) -> Any:
    wanted, replacement = _checked(pattern, "Pattern"), _checked(rewrite, "Rewrite")
    return _replace(input, wanted, replacement, replace_global)


@op(
    "StaticRegexReplace", inputs="input: string", outputs="output: string",
    attrs="pattern: string, rewrite: string, replace_global: bool = true", shape=s.unchanged,
    **_HOST,
)  # fmt: skip
def static_regex_replace_(
    xp: Any, input: Any, *, pattern: str, rewrite: str, replace_global: bool
) -> Any:
    return _replace(input, pattern.encode(), rewrite.encode(), replace_global)


def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""What `pattern` matches replaced by `rewrite`, in which \1 is the first group."""
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return raw.StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return raw.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)
