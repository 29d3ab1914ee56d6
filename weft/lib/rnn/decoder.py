"""Decoding: a loop that runs a decoder until all its sequences are finished."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import functools
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.constant import constant
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.rnn.cells import zero_state_tensors
from weft.lib.rnn.helper import tensor_of_rank
from weft.lib.rnn.step import cache_variables, check_alike, transpose_batch_time
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
        """The results to return in place of all outputs and the last state."""
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
        limit = maximum_iterations
        if limit is not None:
            message = "maximum_iterations must be a scalar"
            limit = tensor_of_rank(limit, (0,), message, "maximum_iterations", dtypes.int32)
        finished, inputs, state = decoder.initialize()
        batch_size, outputs = decoder.batch_size, (decoder.output_size, decoder.output_dtype)
        zeros = nest.map_structure(
            lambda size, dtype: zero_state_tensors(size, batch_size, dtype), *outputs
        )
        if limit is not None:
            finished = elementwise.logical_or(finished, 0 >= limit)
        lengths = array_fill.zeros_like(finished, dtype=dtypes.int32)
        time = constant(0, dtype=dtypes.int32)
        arrays = nest.map_structure(functools.partial(_array_of_steps, batch_size), *outputs)
        _, arrays, state, _, _, lengths = while_loop(
            lambda *now: unary.logical_not(reduce.reduce_all(now[4])),
            _Step(decoder, zeros if impute_finished else None),
            loop_vars=(time, arrays, state, inputs, finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=limit,
            swap_memory=swap_memory,
        )
        made = nest.map_structure(lambda array: array.stack(), arrays)
        # Most decoders return what they have.
        with contextlib.suppress(NotImplementedError):
            made, state = decoder.finalize(made, state, lengths)
        if not output_time_major:
            made = nest.map_structure(transpose_batch_time, made)
    return made, state, lengths


@dataclasses.dataclass(frozen=True)
class _Step:
    """The body of the loop; with zeros to put in place of the outputs of finished sequences."""

    decoder: Decoder
    zeros: Any

    def __call__(
        self, time: Tensor, arrays: Any, state: Any, inputs: Any, finished: Tensor, lengths: Tensor
    ) -> Any:
        outputs, new_state, new_inputs, ended = self.decoder.step(time, inputs, state)
        if not self.decoder.tracks_own_finished:
            ended = elementwise.logical_or(ended, finished)
        running = unary.logical_not(finished)
        so_far = array_fill.fill(array_shape.shape(lengths), time + 1)
        lengths = select.where(running, so_far, lengths)
        check_alike((state, new_state), (arrays, outputs), (inputs, new_inputs))
        if self.zeros is not None:
            zeroed = functools.partial(select.where, finished)
            outputs = nest.map_structure(zeroed, self.zeros, outputs)
            new_state = nest.map_structure(functools.partial(_unless, finished), new_state, state)
        arrays = nest.map_structure(lambda array, x: array.write(time, x), arrays, outputs)
        return time + 1, arrays, new_state, new_inputs, ended, lengths


def _array_of_steps(batch_size: Any, size: Any, dtype: Any) -> TensorArray:
    shape = _element_shape(batch_size, size)
    return TensorArray(dtype=dtype, size=0, dynamic_size=True, element_shape=shape)


def _unless(finished: Tensor, new: Any, old: Any) -> Any:
    if isinstance(old, TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else select.where(finished, old, new)


def _element_shape(batch_size: Any, size: Any) -> TensorShape | None:
    has_dimensions = isinstance(size, TensorShape) and size.ndims != 0
    if not has_dimensions:
        return None
    known = constant_value(convert_to_tensor(batch_size, name="batch_size"))
    rows = known if known is None else int(known)
    return TensorShape([rows]).concatenate(size)
