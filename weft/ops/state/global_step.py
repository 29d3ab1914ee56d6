"""The global step: one integer variable that counts training steps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weft.core import dtypes
from weft.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collection,
    control_dependencies,
    get_default_graph,
)
from weft.ops.state.initializers import Zeros
from weft.ops.state.updates import assign_add
from weft.ops.state.variable_scope import get_variable
from weft.ops.state.variables import Variable, VariableAggregation

# The read of the step that hooks share, so that all of them see one value per run.
GLOBAL_STEP_READ_KEY = "global_step_read_op_cache"


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of the step in session `sess`."""
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Any = None) -> Any:
    """The global step of the graph, or None if it has none.

    Args:
        graph: None: the default graph.

    Returns:
        A variable or tensor, or None.

    Raises:
        TypeError: there is one that is no integer scalar.

    Example:
        >>> tf.train.get_global_step() is None
        True
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


def create_global_step(graph: Any = None) -> Any:
    """Makes the global step; ValueError if there is one already."""
    return make_global_step(graph)


def make_global_step(graph: Any = None, use_resource: bool | None = None) -> Any:
    """The global step as a variable of either kind; ValueError if there is one already."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    joined = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP]
    with graph.as_default(), graph.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP, [], dtypes.int64, Zeros(), collections=joined,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA, trainable=False,
            use_resource=use_resource,
        )  # fmt: skip


def get_or_create_global_step(graph: Any = None) -> Any:
    """The step counter of the graph, made if it has none: an int64 variable, 0 at first.

    Args:
        graph: None: the default graph.

    Returns:
        A variable; `Optimizer.minimize(loss, global_step)` counts it up.

    Raises:
        TypeError: there is one that is no integer scalar.

    Example:
        >>> step = tf.train.get_or_create_global_step()
        >>> step.name, tf.train.get_global_step() is step
        ('global_step:0', True)
    """
    graph = graph or get_default_graph()
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor: Any) -> None:
    """TypeError unless the argument is an integer scalar variable or tensor."""
    if wrong := _what_is_wrong(global_step_tensor):
        raise TypeError(f'Existing "global_step" {wrong}')


def _what_is_wrong(step: Any) -> str | None:
    if not isinstance(step, Variable | Tensor):
        return f"must be a Variable or Tensor: {step}."
    if not step.dtype.base_dtype.is_integer:
        return f"does not have integer type: {step.dtype}"
    shape = step.get_shape()
    return f"is not scalar: {shape}" if shape.ndims and shape.is_fully_defined() else None


def _get_global_step_read(graph: Any = None) -> Tensor | None:
    reads = (graph or get_default_graph()).get_collection(GLOBAL_STEP_READ_KEY)
    if len(reads) > 1:
        raise RuntimeError(
            f"There are multiple items in collection {GLOBAL_STEP_READ_KEY}. There should be only "
            "one."
        )
    return reads[0] if reads else None


def _get_or_create_global_step_read(graph: Any = None) -> Tensor | None:
    graph = graph or get_default_graph()
    read = _get_global_step_read(graph)
    step = get_global_step(graph) if read is None else None
    if step is None:
        return read
    with _within(graph, step):
        value = step.initialized_value() if isinstance(step, Variable) else step
        add_to_collection(GLOBAL_STEP_READ_KEY, value + 0)
    return _get_global_step_read(graph)


@contextmanager
def _within(graph: Any, step: Any) -> Iterator[None]:
    """New operations are in the name scope of the step, however many scopes are open."""
    with graph.as_default(), graph.name_scope(None), graph.name_scope(f"{step.op.name}/"):
        yield


def _increment_global_step(increment: Any, graph: Any = None) -> Any:
    home = graph or get_default_graph()
    if (step := get_global_step(home)) is None:
        raise ValueError(
            "Global step tensor should be created by tf.train.get_or_create_global_step before "
            "calling increment."
        )
    before = [_get_or_create_global_step_read(home)]
    with _within(home, step), control_dependencies(before):
        return assign_add(step, increment)
