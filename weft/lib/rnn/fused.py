"""Networks over whole sequences as one object: fused LSTMs and what reverses them in time."""

from __future__ import annotations

import abc
from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.lib.layers.base import Layer
from weft.lib.layers.input_spec import InputSpec
from weft.lib.rnn.basic_cells import LSTMStateTuple
from weft.lib.rnn.block_cells import BlockLSTM
from weft.lib.rnn.cells import size_of
from weft.lib.rnn.dynamic import dynamic_rnn
from weft.lib.rnn.static import static_rnn
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import one_hot_search as select
from weft.ops.array import reverse as array_reverse
from weft.ops.array import shape as array_shape
from weft.ops.array import split as array_split
from weft.ops.array.gather import gather_nd
from weft.ops.array.repeat import tile
from weft.ops.math import casts, reduce, sequence


class FusedRNNCell(abc.ABC):
    """Something called on all steps at once: time-major inputs in, outputs and state out."""

    @abc.abstractmethod
    def __call__(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
        scope: Any = None,
    ) -> Any:
        """(outputs of all steps, last state)."""


class FusedRNNCellAdaptor(FusedRNNCell):
    """An ordinary cell run over all steps, unrolled or in a loop."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    @with_parameters_of(FusedRNNCell.__call__)
    def __call__(self, inputs: Any, **rest: Any) -> Any:
        is_list = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            whole = array_join.stack(inputs) if is_list else inputs
            outputs, state = dynamic_rnn(self._cell, whole, time_major=True, **rest)
            return (array_split.unstack(outputs) if is_list else outputs), state
        steps = inputs if is_list else array_split.unstack(inputs)
        outputs, state = static_rnn(self._cell, steps, **rest)
        return (outputs if is_list else array_join.stack(outputs)), state


class TimeReversedFusedRNN(FusedRNNCell):
    """Runs another fused network from the end of the sequences to their start."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    @with_parameters_of(FusedRNNCell.__call__)
    def __call__(self, inputs: Any, sequence_length: Any, **rest: Any) -> Any:
        turned = _reversed(inputs, sequence_length)
        outputs, state = self._cell(turned, sequence_length=sequence_length, **rest)
        return _reversed(outputs, sequence_length), state


def _reversed(steps: Any, lengths: Any) -> Any:
    if isinstance(steps, list):
        return steps[::-1]
    if lengths is not None:
        return array_reverse.reverse_sequence(steps, lengths, 0, 1)
    return array_reverse.reverse(steps, [0])


class LSTMBlockWrapper(Layer, abc.ABC):
    """An LSTM over [time, batch, depth] inputs, or a list of [batch, depth].

    Subclasses say how wide it is, and compute all steps at once; lengths are dealt with here.
    """

    @property
    @abc.abstractmethod
    def num_units(self) -> int:
        """The width of memory and output."""

    @abc.abstractmethod
    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any,
        initial_output: Any,
        dtype: Any,
        sequence_length: Any,
    ) -> tuple[Tensor, Tensor]:
        """Memory and output of all steps; what comes after the end of a sequence is ignored."""

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(inputs, list):
            return super().__call__(inputs, *args, **kwargs)
        outputs, state = super().__call__(array_join.stack(inputs), *args, **kwargs)
        return array_split.unstack(outputs), state

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> tuple[Tensor, LSTMStateTuple]:
        if initial_state is None:
            if dtype is None:
                raise ValueError("Either initial_state or dtype needs to be specified")
            batch = size_of(inputs, 1)
            zeros = array_fill.zeros(array_join.stack([batch, self.num_units]), dtype=dtype)
            initial_state = (zeros, zeros)
        elif len(initial_state) != 2:
            raise ValueError("Expecting initial_state to be a tuple with length 2 or None")
        elif dtype is None:
            dtype = initial_state[0].dtype
        first_c, first_h = initial_state
        if sequence_length is None:
            found = self._call_cell(inputs, first_c, first_h, dtype, None)
            return found[1], LSTMStateTuple(*(each[-1] for each in found))
        lengths = convert_to_tensor(sequence_length)
        memory, outputs = self._call_cell(inputs, first_c, first_h, dtype, lengths)
        mask = select.sequence_mask(lengths, size_of(inputs, 0), dtype=dtype)
        mask = array_shape.expand_dims(array_shape.transpose(mask, [1, 0]), [-1])
        outputs = outputs * tile(mask, [1, 1, self.num_units])
        sequences = size_of(inputs, 1), lengths
        pairs = zip(initial_state, (memory, outputs), strict=True)
        states = [array_join.concat([array_shape.expand_dims(a, [0]), b], 0) for a, b in pairs]
        return outputs, LSTMStateTuple(*(_state_at(*sequences, each) for each in states))


def _state_at(batch: Any, lengths: Tensor, states: Tensor) -> Tensor:
    """Of each sequence, the state after so many steps; after none, the first one."""
    rows = sequence.range(batch, dtype=lengths.dtype)
    return gather_nd(states, array_join.stack([lengths, rows], axis=1))


class LSTMBlockFusedCell(BlockLSTM, LSTMBlockWrapper):
    """An LSTM whose steps are one operation."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str = "lstm_fused_cell",
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._set_up(num_units, forget_bias, cell_clip, use_peephole)
        self.input_spec = InputSpec(ndim=3)

    @property
    def num_units(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        self._add_variables(input_shape.as_list()[2])
        self.built = True

    def _call_cell(
        self,
        inputs: Any,
        initial_cell_state: Any = None,
        initial_output: Any = None,
        dtype: Any = None,
        sequence_length: Any = None,
    ) -> tuple[Tensor, Tensor]:
        steps = (
            size_of(inputs, 0) if sequence_length is None else reduce.reduce_max(sequence_length)
        )
        last = casts.cast(steps, dtypes.int64)
        state = (initial_cell_state, initial_output)
        return self._apply(raw.BlockLSTM, dtype, last, inputs, *state)
