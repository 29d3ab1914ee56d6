"""Recurrent networks as loops of the graph: `dynamic_rnn`, and both ways."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterator
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.rnn.cells import assert_like_rnncell, concat_shape, concat_static
from weft.lib.rnn.step import (
    Lengths,
    both_ways,
    cache_variables,
    first_state,
    infer_state_dtype,
    rnn_step,
    static_shape,
    transpose_batch_time,
)
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import placeholders as array_pass
from weft.ops.array import reverse as array_reverse
from weft.ops.array import shape as array_shape
from weft.ops.control.control import Assert
from weft.ops.control.while_loop import while_loop
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import casts, elementwise, reduce
from weft.ops.state import variable_scope as vs


def best_effort_input_batch_size(flat_input: Any) -> Any:
    """The batch size of time-major inputs: a number when any of them tells."""
    for each in flat_input:
        if each.shape.ndims is None:
            continue
        if each.shape.ndims < 2:
            raise ValueError(f"Expected input tensor {each} to have rank at least 2")
        size = each.shape.as_list()[1]
        if size is not None:
            return size
    return array_shape.shape(flat_input[0])[1]


def _assert_has_shape(x: Tensor, shape: list[Any]) -> Any:
    found, wanted = array_shape.shape(x), array_join.stack(shape)
    return Assert(
        reduce.reduce_all(elementwise.equal(found, wanted)),
        [f"Expected shape for Tensor {x.name} is ", wanted, " but saw shape: ", found],
    )


def dynamic_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """Runs `cell` over the time axis of `inputs` in a loop; returns all outputs and the last state.

    Inputs are [batch, time, ...], or [time, batch, ...] when `time_major`. After the end of a
    sequence its outputs are zero and its state stays.

    Args:
        cell: an `RNNCell`.
        inputs: a tensor, or a structure of tensors, of sequences.
        sequence_length: the length of each sequence; None: all are full.
        initial_state: the state to start from; None: zeros, which needs a `dtype`.
        dtype: the type of state and outputs, where there is no initial state.
        parallel_iterations: how many steps may run at once; None: 32.
        swap_memory: whether what gradients need may wait on the host.
        time_major: whether time comes before the batch.
        scope: the variable scope; None: "rnn".

    Returns:
        The outputs, in the layout of the inputs, and the final state.

    Raises:
        TypeError: `cell` is no cell.
        ValueError: there is neither a state nor a type, or the inputs have no known size.

    Example:
        >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
        >>> outputs, state = tf.nn.dynamic_rnn(cell, tf.ones([2, 3, 5]), dtype=tf.float32)
        >>> outputs.shape.as_list(), state.shape.as_list()
        ([2, 3, 4], [2, 4])
    """
    assert_like_rnncell("cell", cell)
    with vs.variable_scope(scope or "rnn") as opened:
        cache_variables(opened)
        inputs = nest.map_structure(convert_to_tensor, inputs)
        if not time_major:
            inputs = nest.map_structure(transpose_batch_time, inputs)
        lengths = None if sequence_length is None else _as_lengths(sequence_length)
        batch_size = best_effort_input_batch_size(nest.flatten(inputs))
        message = "If there is no initial_state, you must give a dtype."
        state = first_state(cell, initial_state, batch_size, dtype, message)
        if lengths is not None:
            with control_dependencies([_assert_has_shape(lengths, [batch_size])]):
                lengths = array_pass.identity(lengths, name="CheckSeqLen")
        outputs, final_state = time_loop(
            cell,
            inputs,
            state,
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
            sequence_length=lengths,
            dtype=dtype,
        )
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, final_state


def _as_lengths(given: Any) -> Tensor:
    lengths = casts.cast(given, dtypes.int32)
    if lengths.shape.ndims not in (None, 1):
        raise ValueError(
            f"sequence_length must be a vector of length batch_size, but saw shape: {lengths.shape}"
        )
    return array_pass.identity(lengths, name="sequence_length")


def _check_inputs(shapes: list[TensorShape]) -> None:
    first = shapes[0].as_list()
    for shape in shapes:
        if not shape[2:].is_fully_defined():
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw "
                "value None."
            )
        if shape.as_list()[0] != first[0]:
            raise ValueError(
                "Time steps is not the same for all the elements in the input in a batch."
            )
        if shape.as_list()[1] != first[1]:
            raise ValueError("Batch_size is not the same for all the elements in the input.")


def time_loop(
    cell: Any,
    inputs: Any,
    initial_state: Any,
    parallel_iterations: int,
    swap_memory: bool,
    sequence_length: Tensor | None,
    dtype: Any,
) -> tuple[Any, Any]:
    """The loop of `dynamic_rnn` over time-major inputs."""
    assert isinstance(parallel_iterations, int), "parallel_iterations must be int"
    flat_input, sizes = nest.flatten(inputs), cell.output_size
    steps = array_shape.shape(flat_input[0])[0]
    batch_size = best_effort_input_batch_size(flat_input)
    shapes = [each.shape.with_rank_at_least(3) for each in flat_input]
    _check_inputs(shapes)
    known_steps, known_batch = shapes[0].as_list()[:2]
    output_dtype = infer_state_dtype(dtype, initial_state)
    zero_output = nest.map_structure(
        lambda size: array_fill.zeros(concat_shape(batch_size, size), output_dtype), sizes
    )
    lengths = None if sequence_length is None else Lengths.of(sequence_length)
    time = constant(0, dtype=dtypes.int32, name="time")
    with name_scope("dynamic_rnn") as base_name:
        pass

    numbers: dict[str, Iterator[int]] = collections.defaultdict(itertools.count)

    def array(kind: str, element_shape: TensorShape, of: Any) -> TensorArray:
        name = f"{base_name}{kind}_{next(numbers[kind])}"
        return TensorArray(of, size=steps, element_shape=element_shape, tensor_array_name=name)

    def output_array(size: Any) -> TensorArray:
        shape = TensorShape([known_batch]).concatenate(static_shape(size))
        return array("output", shape, output_dtype)

    outputs = tuple(output_array(size) for size in nest.flatten(sizes))
    given = nest.map_structure(lambda each: array("input", each.shape[1:], each.dtype), inputs)
    given = nest.map_structure(lambda each, whole: each.unstack(whole), given, inputs)

    def body(time: Tensor, arrays: tuple[TensorArray, ...], state: Any) -> Any:
        now = nest.map_structure(lambda each: each.read(time), given)
        for each, shape in zip(nest.flatten(now), shapes, strict=True):
            each.set_shape(shape[1:])
        output, state = rnn_step(cell, now, state, time, lengths, zero_output, True)
        pairs = zip(arrays, nest.flatten(output), strict=True)
        written = tuple(array.write(time, x) for array, x in pairs)
        return time + 1, written, state

    # One step at least, so that the outputs have their shape when every sequence is empty.
    longest = steps if lengths is None else lengths.longest
    bound = elementwise.minimum(steps, elementwise.maximum(1, longest))
    _, outputs, final_state = while_loop(
        cond=lambda time, *_: time < bound,
        body=body,
        loop_vars=(time, outputs, initial_state),
        parallel_iterations=parallel_iterations,
        maximum_iterations=steps,
        swap_memory=swap_memory,
    )

    def stack(steps_of: TensorArray, size: Any) -> Tensor:
        made = steps_of.stack()
        made.set_shape(concat_static([known_steps, known_batch], size))
        return made

    stacked = [stack(*pair) for pair in zip(outputs, nest.flatten(sizes), strict=True)]
    return nest.pack_sequence_as(sizes, stacked), final_state


def bidirectional_dynamic_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """One network forward in time, one backward: (outputs_fw, outputs_bw), (state_fw, state_bw)."""
    time_axis, batch_axis = (0, 1) if time_major else (1, 0)
    common = {
        "sequence_length": sequence_length,
        "dtype": dtype,
        "parallel_iterations": parallel_iterations,
        "swap_memory": swap_memory,
        "time_major": time_major,
    }

    def reversed_in_time(x: Any) -> Tensor:
        if sequence_length is None:
            return array_reverse.reverse(x, axis=[time_axis])
        return array_reverse.reverse_sequence(
            input=x, seq_lengths=sequence_length, seq_axis=time_axis, batch_axis=batch_axis
        )

    def run(cell: Any, given: Any, state: Any, opened: Any) -> tuple[Any, Any]:
        return dynamic_rnn(cell, given, initial_state=state, scope=opened, **common)

    (output_fw, state_fw), (output_bw, state_bw) = both_ways(
        run,
        lambda x: nest.map_structure(reversed_in_time, x),
        inputs,
        (cell_fw, initial_state_fw),
        (cell_bw, initial_state_bw),
        scope,
    )
    return (output_fw, output_bw), (state_fw, state_bw)
