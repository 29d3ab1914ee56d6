"""Sizes, paddings and data formats of the windows that convolutions and pools move about."""

from __future__ import annotations

import itertools
from typing import Any

_FORMATS = {
    "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
    "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"},
}


def op_format(data_format: str, rank: int) -> str:
    """The name of `data_format` for operations: `channels_last` of rank 4 is NHWC."""
    if data_format not in _FORMATS:
        raise ValueError("Invalid data_format:", data_format)
    if rank not in _FORMATS[data_format]:
        raise ValueError("Input rank not supported:", rank)
    return _FORMATS[data_format][rank]


def is_data_format(value: Any) -> bool:
    return value in _FORMATS


def normalize_data_format(value: str | None) -> str:
    # The backend is built on this module.
    from weft.lib.keras.backend.config import image_data_format

    data_format = str(value or image_data_format()).lower()
    if data_format not in _FORMATS:
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {value}"
        )
    return data_format


def normalize_padding(value: Any) -> Any:
    padding = value if isinstance(value, (list, tuple)) else str(value).lower()
    if isinstance(padding, str) and padding not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" '
            f'(or "causal", only for `Conv1D). Received: {padding}'
        )
    return padding


def normalize_tuple(value: Any, n: int, name: str) -> tuple[int, ...]:
    """An integer for all `n` axes, or one for each, as a tuple."""
    values = (value,) * n if isinstance(value, int) else _as_tuple(value)
    wrong = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    if len(values) != n:
        raise ValueError(wrong)
    for one in itertools.filterfalse(_is_integral, values):
        raise ValueError(f"{wrong} including element {one} of type {type(one)}")
    return values


def _as_tuple(value: Any) -> tuple[Any, ...]:
    try:
        return tuple(value)
    except TypeError:
        return ()


def _is_integral(value: Any) -> bool:
    try:
        int(value)
    except (ValueError, TypeError):
        return False
    return True


def take(layer: Any, rank: int, padding: Any, data_format: str | None, **sizes: Any) -> None:
    """Makes attributes of the settings of windows; `sizes` are one for all axes, or for each."""
    for name, value in sizes.items():
        setattr(layer, name, normalize_tuple(value, rank, name))
    layer.padding = normalize_padding(padding)
    layer.data_format = normalize_data_format(data_format)


def output_length(length: Any, window: int, padding: str, stride: int, dilation: int = 1) -> Any:
    """How many windows fit along an axis of `length`."""
    if length is None:
        return None
    if padding == "valid":
        length -= window + (window - 1) * (dilation - 1) - 1
    return (length + stride - 1) // stride


def transposed_length(
    length: Any,
    window: int,
    padding: str,
    stride: int,
    output_padding: int | None = None,
    dilation: int = 1,
) -> Any:
    """The length that gives `length` windows; works on tensors too."""
    if length is None:
        return None
    window += (window - 1) * (dilation - 1)
    if output_padding is None:
        whole = length * stride
        return whole + max(window - stride, 0) if padding == "valid" else whole
    cut = 2 * (window // 2) if padding == "same" else 0
    return (length - 1) * stride + window - cut + output_padding


def channel_axis(data_format: str) -> int:
    return 1 if data_format == "channels_first" else -1


def spatial(dims: Any, data_format: str) -> Any:
    """The entries of `dims` that are neither batch nor channels."""
    return dims[2:] if data_format == "channels_first" else dims[1:-1]


def joined(batch: Any, space: Any, channels: Any, data_format: str) -> list[Any]:
    """One list of batch, spatial axes and channels, in the order of `data_format`."""
    if data_format == "channels_first":
        return [batch, channels, *space]
    return [batch, *space, channels]


def known_channels(input_shape: Any, data_format: str) -> int:
    """The number of channels, which must be known to make a kernel."""
    channels = input_shape.as_list()[channel_axis(data_format)]
    if channels is None:
        raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
    return int(channels)
