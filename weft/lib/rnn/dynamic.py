"""Recurrent networks as loops of the graph: `dynamic_rnn`, and both ways."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.rnn.cells import assert_like_rnncell, concat_shape, concat_static
from weft.lib.rnn.step import (
    Lengths,
    cache_variables,
    infer_state_dtype,
    initial_state_of,
    rnn_step,
    static_shape,
    transpose_batch_time,
)
from weft.ops.array import (
    fill as array_fill,
)
from weft.ops.array import (
    join as array_join,
)
from weft.ops.array import (
    placeholders as array_pass,
)
from weft.ops.array import (
    reverse as array_reverse,
)
from weft.ops.array import (
    shape as array_shape,
)
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
    """
    assert_like_rnncell("cell", cell)
    with vs.variable_scope(scope or "rnn") as opened:
        cache_variables(opened)
        flat_input = [convert_to_tensor(each) for each in nest.flatten(inputs)]
        if not time_major:
            flat_input = [transpose_batch_time(each) for each in flat_input]
        if sequence_length is not None:
            sequence_length = casts.cast(sequence_length, dtypes.int32)
            if sequence_length.shape.ndims not in (None, 1):
                raise ValueError(
                    "sequence_length must be a vector of length batch_size, but saw shape: "
                    f"{sequence_length.shape}"
                )
            sequence_length = array_pass.identity(sequence_length, name="sequence_length")
        batch_size = best_effort_input_batch_size(flat_input)
        state = initial_state
        if state is None:
            if not dtype:
                raise ValueError("If there is no initial_state, you must give a dtype.")
            state = initial_state_of(cell, batch_size, dtype)
        if sequence_length is not None:
            with control_dependencies([_assert_has_shape(sequence_length, [batch_size])]):
                sequence_length = array_pass.identity(sequence_length, name="CheckSeqLen")
        inputs = nest.pack_sequence_as(structure=inputs, flat_sequence=flat_input)
        outputs, final_state = time_loop(
            cell,
            inputs,
            state,
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
            sequence_length=sequence_length,
            dtype=dtype,
        )
        if not time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
        return outputs, final_state


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
    flat_input, sizes = nest.flatten(inputs), nest.flatten(cell.output_size)
    steps = array_shape.shape(flat_input[0])[0]
    batch_size = best_effort_input_batch_size(flat_input)
    shapes = [each.shape.with_rank_at_least(3) for each in flat_input]
    _check_inputs(shapes)
    known_steps, known_batch = shapes[0].as_list()[:2]
    output_dtype = infer_state_dtype(dtype, initial_state)
    zeros = [array_fill.zeros(concat_shape(batch_size, size), output_dtype) for size in sizes]
    zero_output = nest.pack_sequence_as(structure=cell.output_size, flat_sequence=zeros)
    lengths = None if sequence_length is None else Lengths.of(sequence_length)
    time = constant(0, dtype=dtypes.int32, name="time")
    with name_scope("dynamic_rnn") as base_name:
        pass

    def array(name: str, element_shape: TensorShape, of: Any) -> TensorArray:
        return TensorArray(
            of, size=steps, element_shape=element_shape, tensor_array_name=base_name + name
        )

    outputs = tuple(
        array(
            f"output_{i}", TensorShape([known_batch]).concatenate(static_shape(size)), output_dtype
        )
        for i, size in enumerate(sizes)
    )
    read_from = [
        array(f"input_{i}", each.shape[1:], each.dtype) for i, each in enumerate(flat_input)
    ]
    read_from = [a.unstack(each) for a, each in zip(read_from, flat_input, strict=True)]

    def body(time: Tensor, arrays: tuple[TensorArray, ...], state: Any) -> Any:
        now = [a.read(time) for a in read_from]
        for each, shape in zip(now, shapes, strict=True):
            each.set_shape(shape[1:])
        inputs_now = nest.pack_sequence_as(structure=inputs, flat_sequence=now)
        output, state = rnn_step(
            cell, inputs_now, state, time, lengths, zero_output, skip_conditionals=True
        )
        flat = nest.flatten(output)
        written = tuple(a.write(time, each) for a, each in zip(arrays, flat, strict=True))
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
    stacked = [a.stack() for a in outputs]
    for each, size in zip(stacked, sizes, strict=True):
        each.set_shape(concat_static([known_steps, known_batch], size))
    return (
        nest.pack_sequence_as(structure=cell.output_size, flat_sequence=stacked),
        final_state,
    )


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
    assert_like_rnncell("cell_fw", cell_fw)
    assert_like_rnncell("cell_bw", cell_bw)
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

    with vs.variable_scope(scope or "bidirectional_rnn"):
        with vs.variable_scope("fw") as fw_scope:
            output_fw, state_fw = dynamic_rnn(
                cell_fw, inputs, initial_state=initial_state_fw, scope=fw_scope, **common
            )
        with vs.variable_scope("bw") as bw_scope:
            turned = nest.map_structure(reversed_in_time, inputs)
            backwards, state_bw = dynamic_rnn(
                cell_bw, turned, initial_state=initial_state_bw, scope=bw_scope, **common
            )
    output_bw = nest.map_structure(reversed_in_time, backwards)
    return (output_fw, output_bw), (state_fw, state_bw)
