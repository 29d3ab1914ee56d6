"""tf.compat.v2.test.compute_gradient: gradients of a function next to the slopes of its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.client.session import Session
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph
from weft.graph.stacks import get_default_session
from weft.lib.testing import gradient_check
from weft.ops.array.placeholders import placeholder
from weft.ops.kit.eager import EagerTensor

Jacobians = tuple[np.ndarray, ...]


def compute_gradient(
    f: Callable[..., Any], x: Any, delta: float = 1e-3
) -> tuple[Jacobians, Jacobians]:
    """The Jacobians of f by each argument, as gradients give them and as small steps show them.

    Args:
        f: a function of tensors.
        x: a list of its arguments.
        delta: how small the steps are.

    Returns:
        Two tuples of matrices with a row for each element of x and a column for each of f(x).

    Raises:
        ValueError: x is not a list.
    """
    if not isinstance(x, list):
        raise ValueError(f"`x` must be a list of Tensors (arguments to `f`), not a {type(x)}")
    tensors: list[Any] = [convert_to_tensor(each) for each in x]
    if not any(isinstance(each, EagerTensor) for each in tensors):
        return _both(f, [get_default_session().run(each) for each in tensors], delta)
    with Graph().as_default(), Session():
        return _both(f, [each.numpy() for each in tensors], delta)


def _both(f: Callable[..., Any], values: list[Any], delta: float) -> tuple[Jacobians, Jacobians]:
    given = [placeholder(value.dtype, value.shape) for value in values]
    y, feeds = convert_to_tensor(f(*given)), dict(zip(given, values, strict=True))
    shape = np.shape(get_default_session().run(y, feeds))
    pairs = [
        gradient_check.compute_gradient(one, value.shape, y, shape, value, delta, None, feeds)
        for one, value in feeds.items()
    ]
    by_gradients, by_steps = zip(*pairs, strict=True)
    return by_gradients, by_steps


def max_error(grad1: Any, grad2: Any) -> Any:
    """The largest difference between the matrices of two lists."""
    pairs = zip(grad1, grad2, strict=False)
    return max((np.abs(a - b).max() for a, b in pairs if a.size or b.size), default=0)
