"""Functions of each element, comparisons, and reductions over axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import constant
from weft.graph.graph import Tensor
from weft.lib.keras.backend.config import floatx
from weft.ops.math import arg_extremes, casts, cumulative, math, reduce, unary
from weft.ops.math import clip as clipping


def max(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The largest element along an axis, or of all."""
    return reduce.reduce_max(x, axis, keepdims)


def min(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The smallest element along an axis, or of all."""
    return reduce.reduce_min(x, axis, keepdims)


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The sum along an axis, or of all."""
    return reduce.reduce_sum(x, axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The product along an axis, or of all."""
    return reduce.reduce_prod(x, axis, keepdims)


def _float_if_bool(x: Any) -> Any:
    return casts.cast(x, floatx()) if x.dtype.base_dtype == dtypes.bool else x


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean along an axis, or of all; of booleans, the fraction that holds."""
    return reduce.reduce_mean(_float_if_bool(x), axis, keepdims)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The variance along `axis`."""
    return reduce.reduce_variance(_float_if_bool(x), axis=axis, keepdims=keepdims)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The standard deviation along `axis`."""
    return reduce.reduce_std(_float_if_bool(x), axis=axis, keepdims=keepdims)


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    return reduce.reduce_logsumexp(x, axis, keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether any element is not zero."""
    return reduce.reduce_any(casts.cast(x, dtypes.bool), axis, keepdims)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether no element is zero."""
    return reduce.reduce_all(casts.cast(x, dtypes.bool), axis, keepdims)


def argmax(x: Any, axis: int = -1) -> Tensor:
    """The position of the largest element along an axis."""
    return arg_extremes.argmax(x, axis)


def argmin(x: Any, axis: int = -1) -> Tensor:
    """The position of the smallest element along an axis."""
    return arg_extremes.argmin(x, axis)


def cumsum(x: Any, axis: int = 0) -> Tensor:
    """The sum of all elements up to each along an axis."""
    return cumulative.cumsum(x, axis=axis)


def cumprod(x: Any, axis: int = 0) -> Tensor:
    """The product of all elements up to each along an axis."""
    return cumulative.cumprod(x, axis=axis)


def square(x: Any) -> Tensor:
    """Each element times itself."""
    return unary.square(x)


def abs(x: Any) -> Tensor:
    """The magnitude of each element."""
    return math.abs(x)


def exp(x: Any) -> Tensor:
    """e to the power of each element."""
    return unary.exp(x)


def log(x: Any) -> Tensor:
    """The natural logarithm of each element."""
    return unary.log(x)


def round(x: Any) -> Tensor:
    """The nearest integer, the even one of two."""
    return math.round(x)


def sign(x: Any) -> Tensor:
    """-1, 0 or 1 for each element."""
    return unary.sign(x)


def pow(x: Any, a: Any) -> Tensor:
    """Each element to the power of `a`."""
    return math.pow(x, a)


def sin(x: Any) -> Tensor:
    """The sine of each element."""
    return unary.sin(x)


def cos(x: Any) -> Tensor:
    """The cosine of each element."""
    return unary.cos(x)


def sqrt(x: Any) -> Tensor:
    """The square root, 0 for what is negative."""
    return unary.sqrt(_clipped(x, 0.0, np.inf))


def clip(x: Any, min_value: Any, max_value: Any) -> Tensor:
    """`x` between the two; where they are in the wrong order, the lower one counts."""
    if max_value is not None and max_value < min_value:
        max_value = min_value
    return _clipped(x, min_value, np.inf if max_value is None else max_value)


def _clipped(x: Any, low: Any, high: Any) -> Tensor:
    dtype = x.dtype.base_dtype
    return clipping.clip_by_value(x, constant(low, dtype=dtype), constant(high, dtype=dtype))


def _of_two(name: str) -> Callable[[Any, Any], Tensor]:
    """The operation `name` as a function of `x` and `y` alone."""
    operation = getattr(math, name)

    def apply(x: Any, y: Any) -> Tensor:
        return operation(x, y)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = (operation.__doc__ or "").partition("\n")[0]
    return apply


equal = _of_two("equal")
not_equal = _of_two("not_equal")
greater = _of_two("greater")
greater_equal = _of_two("greater_equal")
less = _of_two("less")
less_equal = _of_two("less_equal")
maximum = _of_two("maximum")
minimum = _of_two("minimum")
