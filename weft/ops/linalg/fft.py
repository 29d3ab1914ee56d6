"""Fourier transforms over the last one, two or three axes; all axes before them are a batch.

Of a real signal only frequencies up to half of the last length are kept (RFFT), or given (IRFFT);
`fft_length` says how much of the input is looked at. Every op comes in three ranks of one form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph import shape_fn as s
from weft.graph.graph import Operation, Tensor
from weft.graph.op_def import OpDef, op, raw
from weft.graph.traits import DEPRECATED
from weft.ops.array import array
from weft.ops.kit.shared import invalid
from weft.ops.math import math

SUFFIXES = ("", "2D", "3D")  # of ranks 1, 2 and 3


def _check_rank(x: Any, rank: int) -> None:
    if x.ndim < rank:
        raise invalid(f"Input must have rank of at least {rank} but got: {s.show(x.shape)}")


def _half(size: int) -> int:
    """How many frequencies of a real signal are kept."""
    return size // 2 + 1 if size else 0


# ---- of complex numbers --------------------------------------------------------------------------


def _complex_shape(rank: int) -> s.Rule:
    return lambda c: s.with_rank_at_least(c.dims(0), rank)


def _complex(name: str, rank: int, function: str) -> OpDef:
    @op(
        name, inputs="input: Tcomplex", outputs="output: Tcomplex",
        attrs="Tcomplex: {complex64, complex128} = complex64", shape=_complex_shape(rank),
    )  # fmt: skip
    def kernel(xp: Any, input: Any) -> Any:
        _check_rank(input, rank)
        if not input.size:
            return input
        return getattr(xp.fft, function)(input, axes=tuple(range(-rank, 0))).astype(input.dtype)

    op(
        f"Batch{name}", inputs="input: complex64", outputs="output: complex64",
        shape=s.unknown, traits=DEPRECATED,
    )(kernel.kernel)  # fmt: skip
    return kernel


def _size(x: Tensor, rank: int) -> Tensor:
    return math.reduce_prod(array.shape(x)[-rank:])


def _fft_gradient(rank: int) -> Callable[..., Tensor]:
    def gradient(op: Operation, grad: Any) -> Tensor:
        size = math.cast(_size(grad, rank), grad.dtype)
        return getattr(raw, f"IFFT{SUFFIXES[rank - 1]}")(grad) * size

    return gradient


def _ifft_gradient(rank: int) -> Callable[..., Tensor]:
    def gradient(op: Operation, grad: Any) -> Tensor:
        share = 1.0 / math.cast(_size(grad, rank), grad.dtype.real_dtype)
        return getattr(raw, f"FFT{SUFFIXES[rank - 1]}")(grad) * math.cast(share, grad.dtype)

    return gradient


# ---- of real numbers, and back -------------------------------------------------------------------


def _real_shape(rank: int, forward: bool) -> s.Rule:
    def rule(c: s.ShapeContext) -> s.Dims:
        dims = s.with_rank_at_least(c.dims(0), rank)
        (count,) = s.with_rank(c.dims(1), 1)
        if count is not None and count != rank:
            raise ValueError(f"Dimension must be {rank} but is {count}")
        if dims is None:
            return None
        length = c.value(1)
        if length is None:
            inner: list[int | None] = [None] * rank
        else:  # the kernel refuses a negative length
            inner = [None if size < 0 else size for size in length.tolist()]
        if forward and inner[-1] is not None:
            inner[-1] = _half(inner[-1])
        return dims[: len(dims) - rank] + tuple(inner)

    return rule


def _checked_length(x: Any, fft_length: Any, rank: int, forward: bool) -> list[int]:
    _check_rank(x, rank)
    if fft_length.shape != (rank,):
        raise invalid(f"fft_length must have shape [{rank}]")
    length = fft_length.tolist()
    for i, size in enumerate(length):
        axis = x.ndim - rank + i
        least = size // 2 + 1 if not forward and i == rank - 1 else size
        if x.shape[axis] and x.shape[axis] < least:
            raise invalid(
                f"Input dimension {axis} must have length of at least {least}"
                f" but got: {x.shape[axis]}"
            )
    return length


def _forward(name: str, rank: int) -> OpDef:
    @op(
        name, inputs="input: float, fft_length: int32", outputs="output: complex64", attrs="",
        shape=_real_shape(rank, True), static="fft_length",
    )  # fmt: skip
    def kernel(xp: Any, input: Any, fft_length: Any) -> Any:
        length = _checked_length(input, fft_length, rank, True)
        batch = input.shape[: input.ndim - rank]
        if not input.size or 0 in length:
            return xp.zeros((*batch, *length[:-1], _half(length[-1])), np.complex64)
        found = xp.fft.rfftn(input, s=length, axes=tuple(range(-rank, 0)))
        return found.astype(np.complex64)

    return kernel


def _backward(name: str, rank: int) -> OpDef:
    @op(
        name, inputs="input: complex64, fft_length: int32", outputs="output: float", attrs="",
        shape=_real_shape(rank, False), static="fft_length",
    )  # fmt: skip
    def kernel(xp: Any, input: Any, fft_length: Any) -> Any:
        length = _checked_length(input, fft_length, rank, False)
        batch = input.shape[: input.ndim - rank]
        if not input.size or 0 in length:
            return xp.zeros((*batch, *length), np.float32)
        found = xp.fft.irfftn(input, s=length, axes=tuple(range(-rank, 0)))
        return found.astype(np.float32)

    return kernel


def _times_in_whole(fft_length: Tensor) -> Tensor:
    """How often each kept frequency is in the whole spectrum: 1 at both ends, else 2.

    An odd length has no frequency of half its length, so its last one counts twice.
    """
    last = fft_length[-1]
    odd = last % 2
    middle = math.maximum(last // 2 - 1 + odd, 0)
    twos = array.fill(array.expand_dims(middle, 0), 2.0)
    ends = array.ones(array.expand_dims(math.minimum(last, 1), 0), dtypes.float32)
    return array.concat([ends, twos, array.ones(array.expand_dims(1 - odd, 0), dtypes.float32)], 0)


def _padded_like(grad: Tensor, x: Tensor) -> Tensor:
    """`grad` in the shape of `x`, with zeros for the part of `x` that was cut off."""
    if s.known(grad.dims) and grad.dims == x.dims:
        return grad
    missing = array.shape(x) - array.shape(grad)
    return array.pad(grad, array.stack([array.zeros_like(missing), missing], axis=1))


def _rfft_gradient(rank: int) -> Callable[..., Any]:
    def gradient(op: Operation, grad: Any) -> Any:
        x, length = op.inputs
        single = grad / math.cast(_times_in_whole(length), dtypes.complex64)
        back = getattr(raw, f"IRFFT{SUFFIXES[rank - 1]}")(single, length)
        scaled = back * math.cast(math.reduce_prod(length), dtypes.float32)
        return _padded_like(scaled, x), None

    return gradient


def _irfft_gradient(rank: int) -> Callable[..., Any]:
    def gradient(op: Operation, grad: Any) -> Any:
        x, length = op.inputs
        share = math.reciprocal(math.cast(_size(grad, rank), dtypes.float32))
        there = getattr(raw, f"RFFT{SUFFIXES[rank - 1]}")(grad, length)
        scaled = there * math.cast(share * _times_in_whole(length), dtypes.complex64)
        return _padded_like(scaled, x), None

    return gradient


def _declare() -> None:
    for rank, suffix in enumerate(SUFFIXES, 1):
        _complex(f"FFT{suffix}", rank, "fftn").gradient(_fft_gradient(rank))
        _complex(f"IFFT{suffix}", rank, "ifftn").gradient(_ifft_gradient(rank))
        _forward(f"RFFT{suffix}", rank).gradient(_rfft_gradient(rank))
        _backward(f"IRFFT{suffix}", rank).gradient(_irfft_gradient(rank))


_declare()
