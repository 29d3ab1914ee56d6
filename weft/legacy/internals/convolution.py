"""Names of `tensorflow.python.ops.nn_ops` that are not public."""

from __future__ import annotations

import functools
from typing import Any

import weft as tf


class Convolution:
    """A convolution of known shapes, to be called with an input and a filter."""

    def __init__(
        self, input_shape: Any, filter_shape: Any, padding: str, strides: Any = None,
        dilation_rate: Any = None, name: str | None = None, data_format: str | None = None,
    ) -> None:  # fmt: skip
        self.input_shape, self.filter_shape = input_shape, filter_shape
        self._convolve = functools.partial(
            tf.nn.convolution, padding=padding, strides=strides, dilation_rate=dilation_rate,
            name=name, data_format=data_format,
        )  # fmt: skip

    def __call__(self, inp: Any, filter: Any) -> Any:
        return self._convolve(inp, filter)
