"""Fourier transforms under their public names, and shifts of their spectra."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.constant_value import constant_value_as_dims
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.array import array
from weft.ops.array.reverse import roll
from weft.ops.math import math


def fft(input: Any, name: str | None = None) -> Tensor:
    """The Fourier transform of the last axis."""
    return raw.FFT(input, name=name)


def ifft(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft`."""
    return raw.IFFT(input, name=name)


def fft2d(input: Any, name: str | None = None) -> Tensor:
    """The Fourier transform of the last two axes."""
    return raw.FFT2D(input, name=name)


def ifft2d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft2d`."""
    return raw.IFFT2D(input, name=name)


def fft3d(input: Any, name: str | None = None) -> Tensor:
    """The Fourier transform of the last three axes."""
    return raw.FFT3D(input, name=name)


def ifft3d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft3d`."""
    return raw.IFFT3D(input, name=name)


# ---- of real signals -----------------------------------------------------------------------------


def _length_of_signal(x: Tensor, rank: int) -> Tensor:
    dims = x.shape[-rank:]
    if not dims.is_fully_defined():
        return array.shape(x)[-rank:]
    return convert_to_tensor(dims.as_list(), dtypes.int32)


def _length_of_spectrum(x: Tensor, rank: int) -> Tensor:
    """The (even) length of signals that have spectra like `x`."""
    dims = x.shape[-rank:]
    if not dims.is_fully_defined():
        sizes = array.unstack(array.shape(x)[-rank:])
        return array.stack([*sizes[:-1], math.maximum(0, 2 * (sizes[-1] - 1))])
    *outer, last = dims.as_list()
    return convert_to_tensor([*outer, max(0, 2 * (last - 1))], dtypes.int32)


def _padded(x: Tensor, rank: int, length: Tensor, inverse: bool) -> Tensor:
    """`x`, with zeros at the ends of axes that are shorter than the transform."""
    if x.dims is not None and 0 in x.dims:
        return x
    known = constant_value_as_dims(length)
    if (
        x.dims is not None
        and known is not None
        and None not in known
        and None not in x.dims[-rank:]
    ):
        sizes: Any = list(known)
        if inverse:
            sizes[-1] = sizes[-1] // 2 + 1
        have: Any = x.dims[-rank:]
        ends = [max(want - size, 0) for want, size in zip(sizes, have, strict=False)]
        if not any(ends):
            return x
        return array.pad(x, [[0, 0]] * (len(x.dims) - rank) + [[0, end] for end in ends])
    if inverse:
        length = array.concat([length[:-1], length[-1:] // 2 + 1], 0)
    short = math.maximum(0, length - array.shape(x)[-rank:])
    before = array.zeros([math.maximum(0, array.rank(x) - rank)], length.dtype)
    after = array.concat([before, short], 0)
    return array.pad(x, array.stack([array.zeros_like(after), after], axis=1))


def _of_real(
    op: str, rank: int, inverse: bool, input_tensor: Any, fft_length: Any, name: str | None
) -> Tensor:
    with name_scope(name, op.lower(), [input_tensor, fft_length]) as name:
        dtype = dtypes.complex64 if inverse else dtypes.float32
        x = convert_to_tensor(input_tensor, dtype)
        x.shape.with_rank_at_least(rank)
        if fft_length is not None:
            length = convert_to_tensor(fft_length, dtypes.int32)
        else:
            length = (_length_of_spectrum if inverse else _length_of_signal)(x, rank)
        return getattr(raw, op)(_padded(x, rank, length, inverse), length, name=name)


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The frequencies 0 to n/2 of the last axis, which is cut or padded to `fft_length`."""
    return _of_real("RFFT", 1, False, input_tensor, fft_length, name)


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The signal with these frequencies from 0 to n/2, of even length if none is given."""
    return _of_real("IRFFT", 1, True, input_tensor, fft_length, name)


def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`rfft` over the last two axes."""
    return _of_real("RFFT2D", 2, False, input_tensor, fft_length, name)


def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`irfft` over the last two axes."""
    return _of_real("IRFFT2D", 2, True, input_tensor, fft_length, name)


def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`rfft` over the last three axes."""
    return _of_real("RFFT3D", 3, False, input_tensor, fft_length, name)


def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`irfft` over the last three axes."""
    return _of_real("IRFFT3D", 3, True, input_tensor, fft_length, name)


# ---- the middle of a spectrum --------------------------------------------------------------------


def _rolled_by_half(x: Any, axes: Any, sign: int, name: str | None, default: str) -> Tensor:
    with name_scope(name, default) as name:
        x = convert_to_tensor(x)
        if isinstance(axes, int):
            return roll(x, sign * (int(x.shape[axes]) // 2), axes, name=name)
        axes = tuple(range(len(x.shape))) if axes is None else axes
        return roll(x, [sign * (int(x.shape[axis]) // 2) for axis in axes], axes, name=name)


def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """Moves the frequency 0 to the middle of `axes` (all of them by default)."""
    return _rolled_by_half(x, axes, 1, name, "fftshift")


def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`."""
    return _rolled_by_half(x, axes, -1, name, "ifftshift")
