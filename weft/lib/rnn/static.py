"""Recurrent networks unrolled in the graph: one copy of the cell for each input of a list."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import Dimension, TensorShape, unknown_shape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies
from weft.lib.rnn.cells import assert_like_rnncell, concat_shape, concat_static
from weft.lib.rnn.step import (
    Lengths,
    both_ways,
    cache_variables,
    first_state,
    infer_state_dtype,
    rnn_step,
)
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import placeholders as array_pass
from weft.ops.array import reverse as array_reverse
from weft.ops.array import shape as array_shape
from weft.ops.array import split as array_split
from weft.ops.math import casts
from weft.ops.state import variable_scope as vs


def _check_inputs(inputs: Any) -> None:
    if not nest.is_nested(inputs):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def _static_batch(inputs: Any) -> Dimension:
    """The batch size that all inputs agree on; every other size must be known."""
    first = nest.flatten(inputs)[0]
    if first.shape.ndims == 1:
        return first.shape[0]
    batch = Dimension(None)
    for each in nest.flatten(inputs):
        shape = each.shape.with_rank_at_least(2)
        batch = batch.merge_with(Dimension(None) if shape.ndims is None else shape[0])
        for i, size in enumerate([] if shape.ndims is None else shape.as_list()[1:]):
            if size is None:
                raise ValueError(
                    f"Input size (dimension {i} of inputs) must be accessible via shape "
                    "inference, but saw value None."
                )
    return batch


def static_rnn(
    cell: Any,
    inputs: Any,
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Applies `cell` to each of a list of inputs; returns the outputs and the last state.

    Args:
        cell: an `RNNCell`.
        inputs: a list of tensors [batch, size], one for each step; or of structures of them.
        initial_state: the state to start from; None: zeros, which needs a `dtype`.
        dtype: the type of state and outputs, where there is no initial state.
        sequence_length: the length of each sequence; None: all are full.
        scope: the variable scope; None: "rnn".

    Returns:
        The list of outputs, and the final state.

    Raises:
        TypeError: `cell` is no cell, or `inputs` no list.
        ValueError: there are no inputs, or neither a state nor a type.

    Example:
        >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
        >>> outputs, state = tf.nn.static_rnn(cell, [tf.ones([2, 5])] * 3, dtype=tf.float32)
        >>> len(outputs), state.shape.as_list()
        (3, [2, 4])
    """
    assert_like_rnncell("cell", cell)
    _check_inputs(inputs)
    with vs.variable_scope(scope or "rnn") as opened:
        cache_variables(opened)
        known_batch = _static_batch(inputs).value
        batch_size = known_batch or array_shape.shape(nest.flatten(inputs)[0])[0]
        message = "If no initial_state is provided, dtype must be specified"
        state = first_state(cell, initial_state, batch_size, dtype, message)
        lengths = zero_output = None
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if sequence_length.shape.ndims not in (None, 1):
                raise ValueError("sequence_length must be a vector of length batch_size")
            output_dtype = infer_state_dtype(dtype, state)

            def zeros(size: Any) -> Tensor:
                made = array_fill.zeros(concat_shape(batch_size, size), output_dtype)
                made.set_shape(concat_static([known_batch], size))
                return made

            zero_output = nest.map_structure(zeros, cell.output_size)
            lengths = Lengths.of(casts.cast(sequence_length, dtypes.int32))
        outputs = []
        for time, now in enumerate(inputs):
            if time > 0:
                opened.reuse_variables()
            output, state = rnn_step(cell, now, state, time, lengths, zero_output)
            outputs.append(output)
        return outputs, state


def static_state_saving_rnn(
    cell: Any,
    inputs: Any,
    state_saver: Any,
    state_name: Any,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """`static_rnn` that starts from a saved state and saves its last one."""
    sizes = cell.state_size
    if nest.is_nested(sizes) != nest.is_nested(state_name):
        raise ValueError(
            "state_name should be the same type as cell.state_size.  state_name: "
            f"{state_name}, cell.state_size: {sizes}"
        )
    names = nest.flatten(state_name)
    if len(names) != len(nest.flatten(sizes)):
        raise ValueError(
            f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(nest.flatten(sizes))}"
        )
    saved = [state_saver.state(name) for name in names]
    outputs, state = static_rnn(
        cell,
        inputs,
        initial_state=nest.pack_sequence_as(sizes, saved),
        sequence_length=sequence_length,
        scope=scope,
    )
    parts = nest.flatten(state)
    saves = [state_saver.save_state(*pair) for pair in zip(names, parts, strict=True)]
    with control_dependencies(saves):
        outputs[-1] = nest.map_structure(array_pass.identity, outputs[-1])
        return outputs, nest.pack_sequence_as(state, [array_pass.identity(s) for s in parts])


def _reverse_seq(inputs: Any, lengths: Any) -> list[Any]:
    """The list reversed, or each row reversed up to its length."""
    if lengths is None:
        return list(reversed(inputs))
    reversed_parts = []
    for steps in zip(*(nest.flatten(each) for each in inputs), strict=True):
        shape: TensorShape = unknown_shape(rank=steps[0].shape.ndims)
        for step in steps:
            shape = shape.merge_with(step.shape)
            step.set_shape(shape)
        turned = array_reverse.reverse_sequence(array_join.stack(steps), lengths, 0, 1)
        results = array_split.unstack(turned)
        for result in results:
            result.set_shape(shape)
        reversed_parts.append(results)
    return [
        nest.pack_sequence_as(structure=each, flat_sequence=list(flat))
        for each, flat in zip(inputs, zip(*reversed_parts, strict=True), strict=True)
    ]


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:
    """One unrolled network forward, one backward; outputs are joined in depth."""

    def run(cell: Any, given: Any, state: Any, opened: Any) -> tuple[Any, Any]:
        return static_rnn(cell, given, state, dtype, sequence_length, scope=opened)

    (outputs, state_fw), (backward, state_bw) = both_ways(
        run,
        lambda steps: _reverse_seq(steps, sequence_length),
        inputs,
        (cell_fw, initial_state_fw),
        (cell_bw, initial_state_bw),
        scope,
    )
    pairs = zip(nest.flatten(outputs), nest.flatten(backward), strict=True)
    joined = [array_join.concat(list(pair), 1) for pair in pairs]
    return nest.pack_sequence_as(outputs, joined), state_fw, state_bw
