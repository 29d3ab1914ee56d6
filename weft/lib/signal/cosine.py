"""Cosine transforms of types I, II and III, by way of Fourier transforms of real signals."""

from __future__ import annotations

from math import pi
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.signal.fourier import irfft, rfft
from weft.ops.array import array
from weft.ops.kit.seed_counts import count_further
from weft.ops.math import math


def _check(x: Any, kind: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    orthonormal = kind == 1 and norm == "ortho"
    short = kind == 1 and not orthonormal and x.shape[-1] is not None and x.shape[-1] < 2
    unknown = "Unknown normalization."
    rules = (
        (n is not None and n < 1, "n should be a positive integer or None"),
        (kind not in (1, 2, 3), "Only Types I, II and III (I)DCT are supported."),
        (orthonormal, "Normalization is not supported for the Type-I DCT."),
        (short, "Type-I DCT requires the dimension to be greater than one."),
        (norm not in (None, "ortho"), f"{unknown} Expected None or 'ortho', got: {norm}"),
    )
    for holds, message in rules:
        if holds:
            raise ValueError(message)


def _last(x: Tensor) -> Any:
    """The size of the last axis, as a number if it is known."""
    known = None if x.dims is None else x.dims[-1]
    return array.shape(x)[-1] if known is None else known


def _resized(x: Tensor, n: int) -> Tensor:
    size = _last(x)
    if not isinstance(size, int):
        missing = array.stack([0, math.maximum(n - size, 0)])[None]
        outer = array.zeros([array.rank(x) - 1, 2], dtypes.int32)
        return array.pad(x, array.concat([outer, missing], 0))[..., :n]
    if n <= size:
        return x[..., 0:n]
    return array.pad(x, [[0, 0]] * (len(x.shape) - 1) + [[0, n - size]])


def _turned(size: Tensor, sign: float) -> Tensor:
    """2 exp(sign i pi k / 2n) for k from 0 to n - 1."""
    angle = math.range(size) * (sign * pi * 0.5) / size
    return 2.0 * math.exp(math.complex(0.0, angle))


def _first_and_rest(first: Tensor, rest: Tensor, count: Any) -> Tensor:
    return array.pad(array.expand_dims(first, 0), [[0, count - 1]], constant_values=rest)


def _second(x: Tensor, count: Any, norm: str | None) -> Tensor:
    size = math.cast(count, dtypes.float32)
    spectrum = rfft(x, fft_length=[2 * count])[..., :count]
    found = math.real(spectrum * _turned(size, -1.0))
    if norm == "ortho":
        first = 0.5 * math.rsqrt(size)
        found *= _first_and_rest(first, first * math.sqrt(2.0), count)
    return found


def _third(x: Tensor, count: Any, norm: str | None) -> Tensor:
    size = math.cast(count, dtypes.float32)
    if norm == "ortho":
        first = math.sqrt(size)
        x = x * _first_and_rest(first, first * math.sqrt(0.5), count)
    else:
        x = x * size
    spectrum = _turned(size, 1.0) * math.complex(x, 0.0)
    return math.real(irfft(spectrum, fft_length=[2 * count]))[..., :count]


def dct(
    input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The cosine transform of the last axis, cut or padded to `n`; "ortho" makes it orthonormal."""
    _check(input, type, n, axis, norm)
    with name_scope(name, "dct"):
        x = convert_to_tensor(input, dtype=dtypes.float32)
        if n is not None:
            x = _resized(x, n)
        count_further(3 if type == 2 else 2)
        if type == 1:
            return math.real(rfft(array.concat([x, x[..., -2:0:-1]], axis=-1)))
        return (_second if type == 2 else _third)(x, _last(x), norm)


def idct(
    input: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The inverse of `dct` of the same type, up to a factor if `norm` is None."""
    _check(input, type, n, axis, norm)
    return dct(input, type={1: 1, 2: 3, 3: 2}[type], n=n, axis=axis, norm=norm, name=name)
