"""Names of `tensorflow.python.layers.utils`: the sizes that convolutions have."""

from __future__ import annotations

from weft.lib.keras.backend.config import image_data_format
from weft.lib.keras.layers.windows import op_format as convert_data_format

__all__ = [
    "conv_input_length",
    "conv_output_length",
    "convert_data_format",
    "deconv_output_length",
    "normalize_data_format",
    "normalize_padding",
]

# How much longer or shorter than its input an output is at stride 1, in filters less one.
_GROWTH = {"same": 0, "valid": -1, "full": 1}


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if (lower := value.lower()) not in allowed:
        choices = ", ".join(f'"{each}"' for each in allowed)
        raise ValueError(f"The `{name}` argument must be one of {choices}. Received: {value}")
    return lower


def normalize_data_format(value: str | None) -> str:
    if value is None:
        value = image_data_format()
    return _one_of("data_format", value, ("channels_first", "channels_last"))


def normalize_padding(value: str) -> str:
    return _one_of("padding", value, ("valid", "same"))


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """How long what comes out of a convolution is."""
    if input_length is None:
        return None
    longer = _GROWTH[padding] * (filter_size - 1) * dilation
    return -(-(input_length + longer) // stride)


def conv_input_length(
    output_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """How long what goes into a convolution must be."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride + filter_size - 2 * pad


def deconv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int
) -> int | None:
    """How long what comes out of a transposed convolution is."""
    if input_length is None:
        return None
    longer = {"valid": max(filter_size - stride, 0), "full": 2 - stride - filter_size}
    return input_length * stride + longer.get(padding, 0)
