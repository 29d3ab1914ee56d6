"""Initial weights scaled by how many inputs and outputs a unit has."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor
from weft.ops.random import random
from weft.ops.state.initializers import zeros_initializer

_MODES = ("FAN_IN", "FAN_OUT", "FAN_AVG")


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: dtypes.DType = dtypes.float32
) -> Callable[..., Tensor]:
    """Keeps the scale of gradients about the same in all layers (Glorot and Bengio).

    Args:
        uniform: whether to draw from a uniform or a normal distribution.
        seed: makes the draw repeatable.
        dtype: a floating-point type.

    Returns:
        An initializer: a function of a shape.

    Raises:
        TypeError: the type is not floating point.

    Example:
        >>> drawn = session.run(tf.contrib.layers.xavier_initializer()([3, 3]))
        >>> bool(abs(drawn).max() <= 1)
        True
    """
    return variance_scaling_initializer(
        factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype
    )


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: dtypes.DType = dtypes.float32,
) -> Callable[..., Tensor]:
    """Draws with variance `factor / n`, n being the inputs, outputs or their mean by `mode`.

    Args:
        factor: the numerator.
        mode: "FAN_IN", "FAN_OUT" or "FAN_AVG".
        uniform: whether to draw from a uniform or a truncated normal distribution.
        seed: makes the draw repeatable.
        dtype: a floating-point type.

    Returns:
        An initializer: a function of a shape.

    Raises:
        TypeError: the type is not floating point, or the mode unknown.

    Example:
        >>> draw = tf.contrib.layers.variance_scaling_initializer(uniform=True)
        >>> bool(abs(session.run(draw([6, 5]))).max() <= 1)
        True
    """
    _check_floating(dtype)
    if mode not in _MODES:
        raise TypeError("Unknown mode %s [FAN_IN, FAN_OUT, FAN_AVG]", mode)
    default = dtype

    def initializer(
        shape: Any, dtype: dtypes.DType = default, partition_info: Any = None
    ) -> Tensor:
        _check_floating(dtype)
        variance = factor / _fan(shape, mode)
        if uniform:
            limit = math.sqrt(3.0 * variance)
            return random.random_uniform(shape, -limit, limit, dtype, seed=seed)
        # Cutting the tails off takes about a quarter of the variance.
        return random.truncated_normal(shape, 0.0, math.sqrt(1.3 * variance), dtype, seed=seed)

    return initializer


def _check_floating(dtype: dtypes.DType) -> None:
    if not dtype.is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")


def _fan(shape: Any, mode: str) -> float:
    shape = [int(size) for size in shape]
    if not shape:
        return 1.0
    window = math.prod(shape[:-2])
    inputs = float(shape[-2] if len(shape) > 1 else shape[-1]) * window
    outputs = float(shape[-1]) * window
    return {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2.0}[mode]


# What the layers start from unless told otherwise.
XAVIER = xavier_initializer()
ZEROS = zeros_initializer()
