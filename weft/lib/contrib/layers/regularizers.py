"""Costs of large weights."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, Tensor, add_to_collection, get_collection, name_scope
from weft.lib.platform import tf_logging
from weft.ops.math import math
from weft.ops.nn import activations as nn_impl

Regularizer = Callable[[Any], Any]


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """`scale` times the sum of magnitudes."""
    return _scaled(
        scale, scope, "l1_regularizer", lambda w: math.reduce_sum(math.abs(w)), ending=""
    )


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """`scale` times half the sum of squares.

    Args:
        scale: a number; 0 turns it off.
        scope: the name scope of the operations.

    Returns:
        A function of a tensor, for `regularizer` arguments.

    Raises:
        ValueError: `scale` is negative, or an integer.

    Example:
        >>> float(session.run(tf.contrib.layers.l2_regularizer(0.1)(tf.constant([2.0, 4.0]))))
        1.0
    """
    return _scaled(scale, scope, "l2_regularizer", nn_impl.l2_loss, ending=".")


def _scaled(
    scale: Any, scope: str | None, default: str, cost: Callable[[Any], Tensor], ending: str
) -> Regularizer:
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    known = scale if isinstance(scale, numbers.Real) else 1.0
    if known < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}{ending}")
    if known == 0.0:
        tf_logging.info("Scale of 0 disables regularizer.")
        return lambda _: None

    def scaled_cost(weights: Any) -> Tensor:
        kind = weights.dtype.base_dtype
        with name_scope(scope, default, [weights]) as name:
            return math.multiply(convert_to_tensor(scale, kind, "scale"), cost(weights), name=name)

    return scaled_cost


def l1_l2_regularizer(
    scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None
) -> Regularizer | None:
    """Both costs together, or the one whose scale is not 0."""
    scales = {"scale_l1": scale_l1, "scale_l2": scale_l2}
    for what, scale in scales.items():
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{what} cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if 0.0 not in scales.values():
        both = [l1_regularizer(scale_l1), l2_regularizer(scale_l2)]
        return sum_regularizer(both, scope=scope)
    return l2_regularizer(scale_l2, scope) if scale_l1 == 0.0 else l1_regularizer(scale_l1, scope)


def sum_regularizer(regularizer_list: Any, scope: str | None = None) -> Regularizer | None:
    """The sum of several costs."""
    parts = [part for part in regularizer_list if part is not None]

    def total(weights: Any) -> Tensor | None:
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            costs = [cost for part in parts if (cost := part(weights)) is not None]
            return math.add_n(costs, name=name) if costs else None

    return total if parts else None


def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Tensor:
    """The total cost of `weights_list`, also added to the regularization losses."""
    regularized = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not regularized:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=regularized) as scope:
        costs = [regularizer(weights) for weights in regularized]
        costs = [constant(0.0) if cost is None else cost for cost in costs]
        wrong = next((cost.shape.ndims for cost in costs if cost.shape.ndims != 0), 0)
        if wrong != 0:
            raise ValueError(
                f"regularizer must return a scalar Tensor instead of a Tensor with rank {wrong}."
            )
        total = math.add_n(costs, name=scope)
    add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
    return total
