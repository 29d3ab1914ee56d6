"""Clipping values and gradients by value or by norm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, colocate_with, name_scope
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.ops.array import array
from weft.ops.kit.operands import operands, with_values
from weft.ops.math import indexing, math


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """`t` with everything below `clip_value_min` or above `clip_value_max` replaced by those.

    Args:
        t: a tensor or IndexedSlices of numbers.
        clip_value_min, clip_value_max: scalars, or tensors that broadcast to the shape of `t`.
        name: of the operation.

    Returns:
        The same kind of object.

    Raises:
        ValueError: a bound would make the result larger than `t`.

    Example:
        >>> session.run(tf.clip_by_value([-5, 0, 5], -1, 2))
        array([-1,  0,  2], dtype=int32)
    """
    with _values(name, "clip_by_value", t, clip_value_min, clip_value_max) as (scope, values):
        capped = _fitting(values, math.minimum(values, clip_value_max))
        clipped = math.maximum(capped, clip_value_min, name=scope)
        return with_values(t, _fitting(values, clipped))


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t` scaled down to an l2 norm of `clip_norm` (over `axes`) if its norm is larger.

    Args:
        t: a tensor or IndexedSlices of floating-point numbers.
        clip_norm: the largest norm allowed.
        axes: the dimensions a norm is taken over; None: all together.
        name: of the operation.

    Returns:
        The same kind of object.

    Raises:
        TypeError: `t` holds integers.

    Example:
        >>> session.run(tf.clip_by_norm([3.0, 4.0], 1.0))
        array([0.6, 0.8], dtype=float32)
    """
    with _values(name, "clip_by_norm", t, clip_norm) as (scope, values):
        squares = math.reduce_sum(values * values, axes, keepdims=True)
        positive = squares > 0
        # Two selects, so that neither the value nor the gradient of sqrt(0) appears.
        safe = indexing.where(positive, squares, array.ones_like(squares))
        norm = indexing.where(positive, math.sqrt(safe), squares)
        scaled = _fitting(values, values * clip_norm) / math.maximum(norm, clip_norm)
        return with_values(t, raw.Identity(scaled, name=scope))


def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The l2 norm of all tensors of `t_list` together; None entries count nothing.

    Args:
        t_list: tensors, IndexedSlices and None.
        name: of the operation.

    Returns:
        A scalar.

    Raises:
        TypeError: `t_list` is no sequence.

    Example:
        >>> float(session.run(tf.global_norm([[3.0], [4.0]])))
        5.0
    """
    t_list = _as_list(t_list)
    with name_scope(name, "global_norm", t_list):
        values = [value for value in _values_of_list(t_list) if value is not None]
        half = math.reduce_sum(array.stack([_beside(value, raw.L2Loss) for value in values]))
        return math.sqrt(half * constant(2.0, half.dtype), name="global_norm")


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """(`t_list` scaled down together to a global norm of `clip_norm` if it is larger, the norm).

    Everything becomes NaN if the norm is not finite, so that the mistake shows.

    Args:
        t_list: tensors, IndexedSlices and None, as `tf.gradients` gives them.
        clip_norm: the largest norm allowed of all together.
        use_norm: the norm, if it is known already.
        name: of the operation.

    Returns:
        A list like `t_list`, and the norm before clipping.

    Raises:
        TypeError: `t_list` is no sequence.

    Example:
        >>> session.run(tf.clip_by_global_norm([[3.0], [4.0]], 2.5))
        ([array([1.5], dtype=float32), array([2.], dtype=float32)], np.float32(5.0))
    """
    t_list = _as_list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    kind = use_norm.dtype
    with name_scope(name, "clip_by_global_norm", [*t_list, clip_norm]) as scope:
        finite = clip_norm * math.minimum(1.0 / use_norm, constant(1.0, kind) / clip_norm)
        scale = indexing.where(math.is_finite(use_norm), finite, constant(float("nan"), kind))

        def scaled(value: Tensor, number: int) -> Tensor:
            return raw.Identity(value * scale, name=f"{scope}_{number}")

        clipped = [
            None if value is None else with_values(t, _beside(value, scaled, i))
            for i, (t, value) in enumerate(zip(t_list, _values_of_list(t_list), strict=True))
        ]
    return clipped, use_norm


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """`t` scaled down to an l2 norm per element of `clip_norm` if it is larger."""
    with operands(name, "clip_by_average_norm", clip_norm, t=t) as (scope, t):
        count = math.cast(array.size(t), dtypes.float32)
        inverse = math.rsqrt(math.reduce_sum(t * t, math.range(array.rank(t))))
        clipped = t * clip_norm
        limit = math.minimum(inverse * count, constant(1.0) / clip_norm)
        return raw.Identity(clipped * limit, name=scope)


def _values(name: str | None, default: str, t: Any, *others: Any) -> operands:
    """The scope of a function of `t`, and the values of `t` in it."""
    return operands(name, default, t, *others, t=_dense(t))


def _dense(t: Any) -> Any:
    return t.values if isinstance(t, IndexedSlices) else t


def _values_of_list(t_list: list[Any]) -> list[Tensor | None]:
    return [
        None if t is None else convert_to_tensor(_dense(t), name=f"t_{i}")
        for i, t in enumerate(t_list)
    ]


def _fitting(values: Tensor, result: Tensor) -> Tensor:
    """`result`, which no bound may have broadcast to another shape."""
    values.shape.merge_with(result.shape)
    return result


def _beside(value: Tensor, compute: Callable[..., Tensor], *arguments: Any) -> Tensor:
    """`compute`, on the device of its argument."""
    with colocate_with(value):
        return compute(value, *arguments)


def _as_list(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError("t_list should be a sequence")
    return list(t_list)
