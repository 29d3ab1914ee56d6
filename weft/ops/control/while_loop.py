"""`while_loop`: a loop as nodes of the graph, or at once where operations are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, add_to_collection, get_default_graph, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.op_def import raw
from weft.ops.control.function_forms import function_form
from weft.ops.control.loop_builder import add_back_edge
from weft.ops.control.loop_shapes import shape_invariant
from weft.ops.control.while_context import WhileContext
from weft.ops.kit.eager import executing_eagerly
from weft.ops.lists.tensor_array import TensorArray

__all__ = ["WhileContext", "add_back_edge", "while_loop"]


def _loop_now(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, alone: bool, counted: bool
) -> Any:
    """The loop of a graph that computes at once. `alone`: the body may return the one variable."""
    values, packed = loop_vars, False
    while cond(*values):
        values = body(*values)
        if alone and not isinstance(values, list | tuple):
            values, packed = (values,), True
        nest.assert_same_structure([*loop_vars], [*values])
    values = nest.map_structure(_result, values, expand_composites=True)
    if counted:
        return values[1]
    return values[0] if packed else values


def _result(value: Any) -> Any:
    """A loop variable as loops return them: a tensor or a TensorArray."""
    return value if isinstance(value, TensorArray) else convert_to_tensor(value)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """`body` applied to `loop_vars` again and again while `cond` of them holds.

    Both are called once, now, to build the loop. A variable keeps its shape from one iteration to
    the next, unless `shape_invariants` says less about it.

    Args:
        cond: a function of the loop variables that gives a boolean scalar.
        body: a function of them that gives their next values, in the same form.
        loop_vars: a list or tuple of tensors, TensorArrays, or structures of them.
        shape_invariants: a shape for each, for those that change.
        parallel_iterations: how many iterations may be under way at once.
        back_prop: whether gradients flow.
        swap_memory: whether what gradients need may wait on the host.
        name: of the operations.
        maximum_iterations: where to stop at the latest.
        return_same_structure: whether a list of one variable stays a list.

    Returns:
        The values when `cond` no longer holds.

    Raises:
        TypeError: `cond` or `body` cannot be called.
        ValueError: there are no variables, or `body` changes their number, type or shape.

    Example:
        >>> doubled = tf.while_loop(lambda n: n < 100, lambda n: n * 2, [tf.constant(3)])
        >>> int(session.run(doubled))
        192
    """
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    if get_default_graph().functional_control_flow:
        if shape_invariants is not None:
            shape_invariants = _invariants(loop_vars, shape_invariants)
        return function_form("while")(
            cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations,
            name, return_same_structure,
        )  # fmt: skip
    with name_scope(name, "while", loop_vars):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        alone = len(loop_vars) == 1 and not return_same_structure
        if maximum_iterations is not None:
            maximum_iterations = _limit(maximum_iterations)
            cond, body = _counted(cond, body, maximum_iterations, alone)
            counter = constant(0, maximum_iterations.dtype, name="iteration_counter")
            loop_vars = (counter, loop_vars[0] if alone else loop_vars)
            if shape_invariants is not None:
                shape_invariants = (TensorShape([]), shape_invariants)
        if executing_eagerly():
            counted = maximum_iterations is not None
            return _loop_now(cond, body, loop_vars, alone and not counted, counted)
        if shape_invariants is not None:
            shape_invariants = _invariants(loop_vars, shape_invariants)
        context = WhileContext(
            maximum_iterations=maximum_iterations,
            parallel_iterations=parallel_iterations,
            back_prop=back_prop,
            swap_memory=swap_memory,
        )
        if context.outer_context is None:
            # Contexts inside others travel with those.
            add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result = context.build(cond, body, loop_vars, shape_invariants, return_same_structure)
        return result if maximum_iterations is None else result[1]


def _invariants(loop_vars: Any, given: Any) -> Any:
    nest.assert_same_structure(loop_vars, given)
    return nest.map_structure(shape_invariant, loop_vars, given)


def _limit(maximum_iterations: Any) -> Tensor:
    limit = convert_to_tensor(maximum_iterations, name="maximum_iterations")
    if limit.shape.ndims != 0:
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
    return limit


def _counted(
    cond: Callable[..., Any], body: Callable[..., Any], limit: Tensor, alone: bool
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """`cond` and `body` with a counter in front; `alone` if the variables are a single one."""

    def spread(variables: Any) -> Any:
        return (variables,) if alone else variables

    def counted_cond(i: Tensor, variables: Any) -> Tensor:
        return raw.LogicalAnd(raw.Less(i, limit), cond(*spread(variables)))

    def counted_body(i: Tensor, variables: Any) -> Any:
        return i + 1, body(*spread(variables))

    return counted_cond, counted_body
