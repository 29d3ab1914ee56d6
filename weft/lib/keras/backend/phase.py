"""The learning phase: whether what is built, or run, is for training or for testing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import init_scope, name_scope
from weft.graph.tensor_util import is_tensor
from weft.lib.keras.backend.graph_state import state_of
from weft.lib.keras.backend.symbolic import in_model_graph, model_graph, runs_eagerly
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.control import cond
from weft.ops.math import casts, math


def learning_phase() -> Any:
    """1 or 0 where it was set; else a boolean placeholder that is False unless it is fed.

    Outside of models, in eager execution, it is 0 by default.
    """
    state = state_of()
    if runs_eagerly():
        return state.learning_phase if isinstance(state.learning_phase, int) else 0
    if state.learning_phase is None:
        with init_scope(), model_graph(), name_scope(None):
            state.learning_phase = array.placeholder_with_default(
                False, shape=(), name="keras_learning_phase"
            )
    return state.learning_phase


@in_model_graph
def symbolic_learning_phase() -> Any:
    """The learning phase that models are made with."""
    return learning_phase()


def set_learning_phase(value: int) -> None:
    """Fixes the learning phase of the current graph to 0 (test) or 1 (training)."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    state_of().learning_phase = value


@contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """Within this scope the learning phase is `value`."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    state = state_of()
    before = state.learning_phase
    state.learning_phase = value
    try:
        yield
    finally:
        state.learning_phase = before


def _function(given: Any) -> Callable[[], Any]:
    return given if callable(given) else lambda: given


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` when training, else `alt`; each a tensor or a function that makes one."""
    training = learning_phase() if training is None else training
    if not is_tensor(training):
        return _function(x)() if training else _function(alt)()
    return switch(training, x, alt)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`alt` when training, else `x`."""
    return in_train_phase(alt, x, training=training)


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two expressions as a whole, or element by element if `condition` has elements."""
    if condition.dtype.base_dtype != dtypes.bool:
        condition = casts.cast(condition, dtypes.bool)
    if not condition.shape.ndims:
        return cond.cond(condition, _function(then_expression), _function(else_expression))
    then_value = convert_to_tensor(_function(then_expression)())
    else_value = convert_to_tensor(_function(else_expression)())
    return select.where(_as_wide_as(condition, then_value), then_value, else_value)


def _as_wide_as(condition: Any, value: Any) -> Any:
    """`condition` repeated along the axes that only `value` has."""
    have, want = condition.shape.ndims, value.shape.ndims
    if have > want:
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and "
            f"`else_expression`. ndim(condition)={have}, ndim(then_expression)={want}"
        )
    if have == 1:
        return condition
    shape = array.concat([array.shape(condition), [1] * (want - have)], axis=0)
    wanted = array.shape(value)
    times = select.where(math.greater(wanted - shape, 0), wanted, array.ones_like(wanted))
    return array.tile(array.reshape(condition, shape), times)
