"""Decoding: a loop that runs a decoder until all its sequences are finished."""

from __future__ import annotations

import abc
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.constant import constant
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.rnn.cells import zero_state_tensors
from weft.lib.rnn.step import cache_variables, transpose_batch_time
from weft.ops.array import fill as array_fill
from weft.ops.array import one_hot_search as select
from weft.ops.array import shape as array_shape
from weft.ops.control.while_loop import while_loop
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import elementwise, reduce, unary
from weft.ops.state import variable_scope as vs


class Decoder(abc.ABC):
    """One step of decoding, and what its outputs are like."""

    @property
    def batch_size(self) -> Any:
        """The batch size, a scalar."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The size or shape of each output, without the batch."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The type of each output."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """(which sequences are finished, first inputs, first state)."""

    @abc.abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """(outputs, next state, next inputs, finished)."""

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """What to return in place of all outputs and the last state."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether a finished sequence may go on, as when beams change places."""
        return False


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """Runs `decoder` to the end: (outputs, last state, lengths of the sequences).

    With `impute_finished`, outputs after the end are zero and the state is that of the last step.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with vs.variable_scope(scope, "decoder") as opened:
        cache_variables(opened)
        if maximum_iterations is not None:
            maximum_iterations = convert_to_tensor(
                maximum_iterations, dtype=dtypes.int32, name="maximum_iterations"
            )
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        finished, inputs, state = decoder.initialize()
        sizes, types, batch_size = decoder.output_size, decoder.output_dtype, decoder.batch_size
        zero_outputs = nest.map_structure(
            lambda size, dtype: zero_state_tensors(size, batch_size, dtype), sizes, types
        )
        if maximum_iterations is not None:
            finished = elementwise.logical_or(finished, 0 >= maximum_iterations)
        lengths = array_fill.zeros_like(finished, dtype=dtypes.int32)
        time = constant(0, dtype=dtypes.int32)
        arrays = nest.map_structure(
            lambda size, dtype: TensorArray(
                dtype=dtype,
                size=0,
                dynamic_size=True,
                element_shape=_element_shape(batch_size, size),
            ),
            sizes,
            types,
        )

        def go_on(time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, _: Any) -> Tensor:
            return unary.logical_not(reduce.reduce_all(finished))

        def body(
            time: Tensor, arrays: Any, state: Any, inputs: Any, finished: Tensor, lengths: Tensor
        ) -> Any:
            outputs, next_state, next_inputs, finished_now = decoder.step(time, inputs, state)
            if not decoder.tracks_own_finished:
                finished_now = elementwise.logical_or(finished_now, finished)
            next_lengths = select.where(
                unary.logical_not(finished),
                array_fill.fill(array_shape.shape(lengths), time + 1),
                lengths,
            )
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(arrays, outputs)
            nest.assert_same_structure(inputs, next_inputs)
            if impute_finished:
                outputs = nest.map_structure(
                    lambda made, zero: select.where(finished, zero, made), outputs, zero_outputs
                )
                next_state = nest.map_structure(
                    lambda new, old: _unless(finished, new, old), next_state, state
                )
            arrays = nest.map_structure(lambda a, made: a.write(time, made), arrays, outputs)
            return time + 1, arrays, next_state, next_inputs, finished_now, next_lengths

        result = while_loop(
            go_on,
            body,
            loop_vars=(time, arrays, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=maximum_iterations,
            swap_memory=swap_memory,
        )
        final_state, final_lengths = result[2], result[5]
        outputs = nest.map_structure(lambda array: array.stack(), result[1])
        try:
            outputs, final_state = decoder.finalize(outputs, final_state, final_lengths)
        except NotImplementedError:
            pass  # most decoders return what they have
        if not output_time_major:
            outputs = nest.map_structure(transpose_batch_time, outputs)
    return outputs, final_state, final_lengths


def _unless(finished: Tensor, new: Any, old: Any) -> Any:
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else select.where(finished, old, new)


def _element_shape(batch_size: Any, size: Any) -> TensorShape | None:
    if not isinstance(size, TensorShape) or size.ndims == 0:
        return None
    known = constant_value(convert_to_tensor(batch_size, name="batch_size"))
    return TensorShape([None if known is None else int(known)]).concatenate(size)
