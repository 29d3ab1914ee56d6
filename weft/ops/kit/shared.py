"""Small things that the kernels and shape rules of many ops share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import DType
from weft.core.shapes import MAX_RANK
from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.tensor import Tensor


def invalid(message: str) -> errors.InvalidArgumentError:
    """The error of a kernel for inputs that do not fit; the runtime adds the node."""
    return errors.InvalidArgumentError(None, None, message)


def blank(dtype: Any) -> Any:
    """The element that zeros of a NumPy dtype are made of (objects hold strings)."""
    return b"" if np.dtype(dtype).kind == "O" else np.zeros((), dtype)[()]


class Variant:
    """An element of a tensor of variants; a scalar of them is the element itself."""

    __slots__ = ()


_BARE = (bytes, str, Variant)


def as_array(x: Any) -> Any:
    """`x`, but an object array where a scalar string or variant is the bare element."""
    return np.array(x, object) if isinstance(x, _BARE) else x


def counts_up(ids: np.ndarray, count: int) -> bool:
    """Whether `ids` are 0, 1, ... up to `count`: what they pick is all there is, in order."""
    return len(ids) == count and bool((ids == np.arange(count)).all())


def is_tensor_like(x: Any) -> bool:
    """Whether `x` is a tensor, or a variable, which reads as one."""
    return isinstance(x, Tensor) or (
        hasattr(x, "_as_graph_element") and isinstance(getattr(x, "dtype", None), DType)
    )


def shape_argument(c: ShapeContext, i: int) -> Dims:
    """Input `i` read as a shape in which -1 stands for an unknown size."""
    dims = shape_vector(c, i)
    for d in dims or ():
        if d is not None and d < 0:
            raise ValueError(f"Invalid value in tensor used for shape: {d}")
    return dims


def shape_vector(c: ShapeContext, i: int) -> Dims:
    """What is known of input `i`, a vector that is a shape."""
    s.with_rank(c.dims(i), 1)
    return c.partial(i)


def check_rank(dims: Any) -> None:
    """InvalidArgumentError if no tensor has so many dimensions."""
    if len(dims) > MAX_RANK:
        raise invalid("Too many dimensions")


def divide(size: int | None, by: int) -> int | None:
    """A dimension split evenly into `by` parts."""
    if size is None:
        return None
    if by == 0 or size % by:
        raise ValueError(f"Dimension size must be evenly divisible by {by} but is {size}")
    return size // by


def check_size(dims: Dims) -> Dims:
    """`dims`, unless no integer could number that many elements."""
    if (s.size(dims) or 0) >= 1 << 63:
        count = 1
        for size in dims or ():
            before, count = count, count * (size or 0)
            if count >= 1 << 63:
                wrapped = (count + (1 << 63)) % (1 << 64) - (1 << 63)
                raise ValueError(
                    f"Encountered overflow when multiplying {before} with {size}, result:"
                    f" {min(wrapped, -1)}"
                )
    return dims


def deprecated_alias(new_name: str, new: Any, old_name: str, old: Any) -> Any:
    """The value of a parameter that has an old name too."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old


def piece(x: Any, axis: int, begin: int, end: int) -> Any:
    """`x[begin:end]` along `axis`."""
    return x[(slice(None),) * axis + (slice(begin, end),)]


def is_concrete(*values: Any) -> bool:
    """Whether values are NumPy's, not what a trace stands in for."""
    return all(isinstance(v, np.ndarray | np.generic) for v in values)


def check_sparse(indices: Any, values: Any, shape: Any) -> None:
    """InvalidArgumentError if there are too many or too few of the parts of a sparse tensor."""
    if len(indices) != len(values):
        counts = f"indices ({len(indices)}) and values ({len(values)})"
        raise invalid(f"Number of elements in {counts} do not match")
    if indices.shape[1] != len(shape):
        rank = indices.shape[1]
        raise invalid(f"Index rank ({rank}) and shape rank ({len(shape)}) do not match")


class PartlyKnown:
    """A traced vector of which some numbers are known; `parts` are NumPy's where they are."""

    def __init__(self, vector: Any, parts: Sequence[Any]) -> None:
        self.vector, self.parts = vector, parts
        self.shape, self.ndim, self.dtype = vector.shape, vector.ndim, vector.dtype

    def __getitem__(self, i: int) -> Any:
        return self.parts[i]


def known_numbers(vector: Any) -> list[int | None]:
    """The numbers of a vector, None for those that only a trace stands in for."""
    if is_concrete(vector):
        return [int(number) for number in vector]
    if not isinstance(vector, PartlyKnown):
        return [None] * vector.shape[0]
    return [int(part) if is_concrete(part) else None for part in vector.parts]


def place(position: Sequence[int]) -> str:
    """An index as errors print it: [1,2], and nothing for that of a scalar."""
    return f"[{','.join(map(str, position))}]" if position else ""


def taking_attrs(compute: Callable[..., Any], attrs: Sequence[str]) -> Callable[..., Any]:
    """`compute(xp, *inputs, **attrs)` as a kernel that says which attributes it takes."""

    def kernel(xp: Any, *inputs: Any, **attrs: Any) -> Any:
        return compute(xp, *inputs, **attrs)

    first, rest, _ = inspect.signature(kernel).parameters.values()
    named = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in attrs]
    kernel.__signature__ = inspect.Signature([first, rest, *named])  # type: ignore[attr-defined]
    return kernel


_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}


def c_escaped(text: str) -> str:
    """`text` as a string literal of C would spell it; bytes that were no text are surrogates."""
    return "".join(_ESCAPES.get(char) or _octal(char) for char in text)


def _octal(char: str) -> str:
    if " " <= char <= "~":
        return char
    return "".join(f"\\{byte:03o}" for byte in char.encode(errors="surrogateescape"))


def positions(counts: Any) -> Any:
    """[row, place in the row] of each value, where `counts` of them are in each row."""
    ends = np.cumsum(counts)
    found = np.empty((int(ends[-1]) if len(ends) else 0, 2), np.int64)
    found[:, 0] = np.repeat(np.arange(len(counts)), counts)
    found[:, 1] = np.arange(len(found))
    found[:, 1] -= np.repeat(ends - counts, counts)
    return found
