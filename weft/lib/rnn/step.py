"""Shared parts of loops over time: sizes, types, and steps that pass finished sequences by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import nest
from weft.core.shapes import TensorShape, as_shape
from weft.graph.constant_value import constant_value
from weft.graph.graph import Tensor, colocate_with, get_default_graph
from weft.lib.rnn.cells import assert_like_rnncell
from weft.ops.array import join as array_join
from weft.ops.array import one_hot_search as select
from weft.ops.array import shape as array_shape
from weft.ops.control.cond import cond
from weft.ops.control.control_flow_context import containing_loop
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import reduce, sequence
from weft.ops.state import variable_scope as vs


def transpose_batch_time(x: Any) -> Any:
    """`x` with its first two axes exchanged; as it is when it has fewer."""
    shape = x.shape
    if shape.ndims is not None and shape.ndims < 2:
        return x
    order = array_join.concat(([1, 0], sequence.range(2, array_shape.rank(x))), axis=0)
    turned = array_shape.transpose(x, order)
    if shape.ndims is not None:
        dims = shape.as_list()
        turned.set_shape([dims[1], dims[0], *dims[2:]])
    return turned


def cache_variables(scope: Any) -> None:
    """Inside a loop, variables are to be read once, before it, not in every iteration."""
    in_loop = containing_loop(get_default_graph()._get_control_flow_context()) is not None
    if not in_loop and scope.caching_device is None:
        scope.set_caching_device(lambda op: op.device)


def infer_state_dtype(explicit_dtype: Any, state: Any) -> Any:
    """The type of outputs: the one given, or that of all parts of the state."""
    if explicit_dtype is not None:
        return explicit_dtype
    found = list(dict.fromkeys(part.dtype for part in nest.flatten(state)))
    if not found:
        raise ValueError("Unable to infer dtype from empty state.")
    if len(found) > 1:
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single "
            "representative dtype."
        )
    return found[0]


def static_shape(shape: Any) -> TensorShape:
    """A size or shape that may be a tensor, as far as it is known."""
    if isinstance(shape, Tensor):
        value = constant_value(shape)
        return as_shape(None if value is None else [int(n) for n in value])
    return as_shape(shape)


def first_state(cell: Any, given: Any, batch_size: Any, dtype: Any, message: str) -> Any:
    """The state a loop starts with: the one given, or the cell's own for this type."""
    if given is not None:
        return given
    if not dtype:
        raise ValueError(message)
    make = getattr(cell, "get_initial_state", None)
    if make is None:
        return cell.zero_state(batch_size, dtype)
    return make(inputs=None, batch_size=batch_size, dtype=dtype)


def check_alike(*pairs: tuple[Any, Any]) -> None:
    """Raises unless the two of each pair are nested in the same way."""
    for first, second in pairs:
        nest.assert_same_structure(first, second)


def both_ways(
    run: Callable[..., tuple[Any, Any]],
    turn: Callable[[Any], Any],
    inputs: Any,
    forward: tuple[Any, Any],
    backward: tuple[Any, Any],
    scope: Any,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Outputs and last state of one network forward in time, and of one backward.

    Each has a cell and a first state, which `run` gets with the inputs and a scope; `turn`
    reverses inputs and outputs.
    """
    assert_like_rnncell("cell_fw", forward[0])
    assert_like_rnncell("cell_bw", backward[0])
    with vs.variable_scope(scope or "bidirectional_rnn"):
        with vs.variable_scope("fw") as opened:
            found = run(forward[0], inputs, forward[1], opened)
        with vs.variable_scope("bw") as opened:
            outputs, state = run(backward[0], turn(inputs), backward[1], opened)
    return found, (turn(outputs), state)


def copy_through(finished: Tensor, old: Any, new: Any) -> Any:
    """`new`, but `old` in the rows that are finished; arrays and scalars are always new."""
    if isinstance(old, TensorArray) or old.shape.ndims == 0:
        return new
    with colocate_with(new):
        return select.where(finished, old, new)


class Lengths(NamedTuple):
    """The lengths of sequences: of each of them, of the shortest and of the longest."""

    each: Tensor
    shortest: Tensor
    longest: Tensor

    @classmethod
    def of(cls, sequence_length: Tensor) -> Lengths:
        shortest = reduce.reduce_min(sequence_length)
        return cls(sequence_length, shortest, reduce.reduce_max(sequence_length))


def rnn_step(
    cell: Any,
    inputs: Any,
    state: Any,
    time: Any,
    lengths: Lengths | None,
    zero_output: Any,
    skip_conditionals: bool = False,
) -> tuple[Any, Any]:
    """One step of `cell`: sequences that have ended give zeros and keep their state.

    Unless `skip_conditionals`, nothing is computed after the longest sequence has ended, and
    nothing is selected before the shortest has.
    """
    if lengths is None:
        return cell(inputs, state)
    flat_zero, flat_state = nest.flatten(zero_output), nest.flatten(state)
    finished = time >= lengths.each

    def call_flat() -> list[Any]:
        output, new_state = cell(inputs, state)
        check_alike((zero_output, output), (state, new_state))
        return nest.flatten(output) + nest.flatten(new_state)

    def copied(new: list[Any]) -> list[Any]:
        old = [*flat_zero, *flat_state]
        return [copy_through(finished, *pair) for pair in zip(old, new, strict=True)]

    def some_left() -> Any:
        new = call_flat()
        return cond(time < lengths.shortest, lambda: new, lambda: copied(new))

    if skip_conditionals:
        result = copied(call_flat())
    else:
        result = cond(time >= lengths.longest, lambda: flat_zero + flat_state, some_left)
    outputs, new_state = result[: len(flat_zero)], result[len(flat_zero) :]
    for made, known in zip([*outputs, *new_state], [*flat_zero, *flat_state], strict=True):
        if not isinstance(made, TensorArray):
            made.set_shape(known.shape)
    return (
        nest.pack_sequence_as(structure=zero_output, flat_sequence=outputs),
        nest.pack_sequence_as(structure=state, flat_sequence=new_state),
    )
