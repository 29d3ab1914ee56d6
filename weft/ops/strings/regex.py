"""Regular expressions on tensors of strings."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.step_limits import looking_up
from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import as_array, invalid
from weft.ops.kit.string_arrays import flat, flat_parts, mapped, string, strings
from weft.ops.strings.regular import Rewrite, compiled, replaced, substitution


def _checked(value: Any, what: str) -> bytes:
    if np.ndim(value):
        raise invalid(f"{what} must be scalar, but received {s.show(np.shape(value))}")
    return string(value)


def _attr(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _match_dims(c: ShapeContext) -> Dims:
    for i in range(1, c.num_inputs):
        s.with_rank(c.dims(i), 0)
    return c.dims(0)


def _full_match(input: Any, pattern: bytes) -> np.ndarray:
    match = compiled(pattern).fullmatch
    found = np.array([match(each) is not None for each in looking_up(flat(input))], bool)
    return found.reshape(np.shape(as_array(input)))


@op(
    "RegexFullMatch", inputs="input: string, pattern: string", outputs="output: bool",
    shape=_match_dims, traits=HOST,
)  # fmt: skip
def regex_full_match_(xp: Any, input: Any, pattern: Any) -> Any:
    return _full_match(input, _checked(pattern, "Pattern"))


@op(
    "StaticRegexFullMatch", inputs="input: string", outputs="output: bool",
    attrs="pattern: string", shape=s.unchanged, traits=HOST,
)  # fmt: skip
def static_regex_full_match_(xp: Any, input: Any, *, pattern: str) -> Any:
    return _full_match(input, _attr(pattern))


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether `pattern` matches the whole of each string."""
    if isinstance(pattern, (str, bytes)):
        return raw.StaticRegexFullMatch(input, pattern=pattern, name=name)
    return raw.RegexFullMatch(input, pattern, name=name)


# ---- replacing -----------------------------------------------------------------------------------


def _quickly(replace: Any, input: Any) -> np.ndarray | None:
    """The texts of `replace`, if it knows those of all."""
    found: list[bytes] = []
    for part in flat_parts(input):
        some = replace(part.tolist())
        if some is None:
            return None
        found += some
    return strings(found, np.shape(as_array(input)))


def _replace(input: Any, pattern: bytes, rewrite: bytes, everywhere: bool) -> np.ndarray:
    quick = substitution(pattern, rewrite) if everywhere else None
    if quick is not None and (found := _quickly(quick, input)) is not None:
        return found
    expression, new = compiled(pattern), Rewrite(rewrite)
    return mapped(lambda each: replaced(expression, new, each, everywhere), input)


@op(
    "RegexReplace", inputs="input: string, pattern: string, rewrite: string",
    outputs="output: string", attrs="replace_global: bool = true", shape=_match_dims,
    traits=HOST | NO_GRADIENT,
)  # fmt: skip
def regex_replace_(xp: Any, input: Any, pattern: Any, rewrite: Any, *, replace_global: bool) -> Any:
    wanted, replacement = _checked(pattern, "Pattern"), _checked(rewrite, "Rewrite")
    return _replace(input, wanted, replacement, replace_global)


@op(
    "StaticRegexReplace", inputs="input: string", outputs="output: string",
    attrs="pattern: string, rewrite: string, replace_global: bool = true", shape=s.unchanged,
    traits=HOST,
)  # fmt: skip
def static_regex_replace_(
    xp: Any, input: Any, *, pattern: str, rewrite: str, replace_global: bool
) -> Any:
    return _replace(input, _attr(pattern), _attr(rewrite), replace_global)


def regex_replace(
    input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None
) -> Tensor:
    r"""`input` with matches of `pattern` replaced by `rewrite`, in which \1 is the first group."""
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return raw.StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return raw.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)
