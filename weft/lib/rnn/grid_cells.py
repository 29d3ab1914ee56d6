"""LSTMs that also run along the frequencies of their input: windows of it, one after the other."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.convert import constant
from weft.graph.graph import Tensor
from weft.lib.platform import tf_logging as logging
from weft.lib.rnn.cells import RNNCell, size_of
from weft.lib.rnn.lstm_variants import in_shards
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import slicing
from weft.ops.array import split as array_split
from weft.ops.array.pad import pad
from weft.ops.math import clip, matmul
from weft.ops.math.math import sigmoid
from weft.ops.math.unary import tanh
from weft.ops.nn import activations as nn_impl
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import zeros_initializer


def _width(inputs: Tensor) -> int:
    width = inputs.shape.with_rank(2).as_list()[1]
    if width is None:
        raise ValueError("Cannot infer input_size from static shape inference.")
    return int(width)


def _windows(inputs: Tensor, first: int, count: int, skip: int, size: int) -> list[Tensor]:
    return [slicing.slice(inputs, [0, first + i * skip], [-1, size]) for i in range(count)]


class _Weights:
    """Of one LSTM: what its gates take from the inputs, and from what it remembers."""

    def __init__(self, cell: Any, names: tuple[str, str], width: int, gates: int, dtype: Any):
        shape = [width + 2 * cell._num_units, gates * cell._num_units]
        self.kernel = in_shards(names[0], shape, dtype, cell._num_unit_shards)
        self.bias = vs.get_variable(
            names[1], shape=shape[1:], initializer=zeros_initializer(), dtype=dtype
        )
        self.gates, self.peepholes = gates, {}  # type: int, dict[str, list[Any]]

    def peep(self, gate: str, names: Sequence[str], units: int, dtype: Any) -> None:
        made = [vs.get_variable(name, shape=[units], dtype=dtype) for name in names]
        self.peepholes[gate] = made

    def of(self, inputs: Tensor) -> list[Tensor]:
        product = nn_impl.bias_add(matmul.matmul(inputs, self.kernel), self.bias)
        return array_split.split(value=product, num_or_size_splits=self.gates, axis=1)

    def opened(self, gate: str, value: Any, *memories: Tensor) -> Tensor:
        """How far a gate is open."""
        for weight, memory in zip(self.peepholes.get(gate, ()), memories, strict=False):
            value = value + weight * memory
        return sigmoid(value)


def _clipped(value: Tensor, limit: float | None) -> Tensor:
    return value if limit is None else clip.clip_by_value(value, -limit, limit)


class TimeFreqLSTMCell(RNNCell):
    """An LSTM that is shifted along the frequencies, and told what it gave for those before."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int = 1,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_unit_shards = initializer, num_unit_shards
        self._forget_bias, self._feature_size = forget_bias, feature_size
        self._frequency_skip = frequency_skip

    @property
    def output_size(self) -> int:
        return self._num_units

    @property
    def state_size(self) -> int:
        return 2 * self._num_units

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        size: Any = self._feature_size
        count = int((_width(inputs) - size) / self._frequency_skip) + 1
        windows = _windows(inputs, 0, count, self._frequency_skip, size)
        weights = self._weights(size, inputs.dtype)
        m: Any = array_fill.zeros([size_of(inputs, 0), self._num_units], inputs.dtype)
        output, states = None, []  # type: Any, list[Any]
        for i, window in enumerate(windows):
            c, before = _windows(
                state, 2 * i * self._num_units, 2, self._num_units, self._num_units
            )
            c, m = self._step(weights, array_join.concat([window, before, m], 1), c)
            states = [array_join.concat([*states, c, m], 1)]
            output = m if output is None else array_join.concat([output, m], 1)
        return output, states[0]

    def _weights(self, width: int, dtype: Any) -> _Weights:
        weights = _Weights(self, ("W", "B"), width, 4, dtype)
        if self._use_peepholes:
            for gate in "FIO":
                weights.peep(gate, [f"W_{gate}_diag"], self._num_units, dtype)
        return weights

    def _step(self, weights: _Weights, inputs: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        i, j, f, o = weights.of(inputs)
        kept = weights.opened("F", f + self._forget_bias, c) * c
        c = _clipped(kept + weights.opened("I", i, c) * tanh(j), self._cell_clip)
        return c, weights.opened("O", o, c) * tanh(c)


class GridLSTMCell(RNNCell):
    """Two LSTMs, one along time and one along the frequencies, that see each other's memory."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if not state_is_tuple:
            logging.warn(
                "%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                "state_is_tuple=True.",
                self,
            )
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._share, self._couple = share_time_frequency_weights, couple_input_forget_gates
        self._initializer, self._num_unit_shards = initializer, num_unit_shards
        self._forget_bias, self._feature_size = forget_bias, feature_size
        self._frequency_skip, self._state_is_tuple = frequency_skip, state_is_tuple
        self._starts, self._ends = start_freqindex_list, end_freqindex_list
        if num_frequency_blocks is None:
            raise ValueError("Must specify num_frequency_blocks")
        self._blocks = [int(count) for count in num_frequency_blocks]
        self._directions = [""]
        self._type_name = "GridLSTMStateTuple"

    @property
    def output_size(self) -> int:
        return 2 * self._num_units * sum(self._blocks) * len(self._directions)

    @property
    def state_size(self) -> Any:
        if not self._state_is_tuple:
            return self.output_size
        kind: Any = self.state_tuple_type
        return kind(*[self._num_units] * len(kind._fields))

    @property
    def state_tuple_type(self) -> Any:
        """The named tuple of states; None if they are one tensor."""
        if not self._state_is_tuple:
            return None
        names = [
            f"{_prefix(direction, i, block)}_{part}"
            for direction in self._directions
            for block, count in enumerate(self._blocks)
            for i in range(count)
            for part in "cm"
        ]
        return collections.namedtuple(self._type_name, names)

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        outputs, states = self._along(self._features(inputs), state, "", size_of(inputs, 0))
        return self._joined(outputs, states)

    def _joined(self, outputs: list[Tensor], states: list[Tensor]) -> tuple[Tensor, Any]:
        kind = self.state_tuple_type
        state = array_join.concat(states, 1) if kind is None else kind(*states)
        return array_join.concat(outputs, 1), state

    def _along(
        self, blocks: list[list[Tensor]], state: Any, direction: str, batch: Any
    ) -> tuple[list[Tensor], list[Tensor]]:
        outputs, states = [], []
        for block, windows in enumerate(blocks):
            weights = self._weights(block, windows[0])
            # What the LSTM along the frequencies gave, and remembers.
            m, c = (array_fill.zeros([batch, self._num_units], windows[0].dtype) for _ in "mc")
            along = (c, m)
            for i, window in enumerate(windows):
                time = self._remembered(state, _prefix(direction, i, block), i)
                time, along = self._step(weights, window, time, along)
                states += time
                outputs += [time[1], along[1]]
        return outputs, states

    def _remembered(self, state: Any, prefix: str, i: int) -> tuple[Tensor, Tensor]:
        if self._state_is_tuple:
            return getattr(state, f"{prefix}_c"), getattr(state, f"{prefix}_m")
        c, m = _windows(state, 2 * i * self._num_units, 2, self._num_units, self._num_units)
        return c, m

    def _weights(self, block: int, window: Tensor) -> tuple[_Weights, _Weights]:
        """Of the LSTM along the frequencies, and of that along time."""
        kinds = ("freq",) if self._share else ("freq", "time")
        width, gates = _width(window), 3 if self._couple else 4
        made = [
            _Weights(self, (f"W_{k[0]}_{block}", f"B_{k[0]}_{block}"), width, gates, window.dtype)
            for k in kinds
        ]
        for weights, kind in zip(made, kinds, strict=True) if self._use_peepholes else ():
            for gate in "IO" if self._couple else "FIO":
                names = [f"W_{gate}_diag_{kind}{other}_{block}" for other in "ft"]
                weights.peep(gate, names, self._num_units, window.dtype)
        return made[0], made[-1]

    def _step(
        self, weights: tuple[_Weights, _Weights], window: Tensor, time: Any, along: Any
    ) -> tuple[Any, Any]:
        inputs = array_join.concat([window, time[1], along[1]], 1)
        gates = [weights[0].of(inputs)]
        gates.append(gates[0] if self._share else weights[1].of(inputs))
        old = (along[0], time[0])
        new = [self._kept(*each, old) for each in zip(weights, gates, old, strict=True)]
        given = [
            each.opened("O", gate[-1], *new) * tanh(c)
            for each, gate, c in zip(weights, gates, new, strict=True)
        ]
        return (new[1], given[1]), (new[0], given[0])

    def _kept(self, weights: _Weights, gates: list[Tensor], c: Tensor, old: Any) -> Tensor:
        open_ = weights.opened("I", gates[0], *old)
        if self._couple:
            kept: Any = 1.0 - open_
        else:
            kept = weights.opened("F", gates[2] + self._forget_bias, *old)
        return _clipped(kept * c + open_ * tanh(gates[1]), self._cell_clip)

    # ---- windows of the input ----

    def _features(self, inputs: Tensor, offset: int = 0) -> list[list[Tensor]]:
        """The windows of every block; `offset` shifts them, over zeros at either end."""
        width = _width(inputs)
        if offset:
            zeros = constant([[0, 0], [max(-offset, 0), max(offset, 0)]], dtypes.int32)
            inputs = pad(inputs, zeros)
        skip, size = self._frequency_skip, self._feature_size
        assert skip is not None and size is not None
        found = []
        for (start, end), asked in zip(self._ranges(width), self._blocks, strict=True):
            count = int((end - start - size) / skip) + 1
            if count != asked:
                raise ValueError(
                    f"Invalid num_frequency_blocks, requires {asked} but gets {count}, please"
                    " check the input size and filter config are correct."
                )
            found.append(_windows(inputs, start + max(offset, 0), count, skip, size))
        return found

    def _ranges(self, width: int) -> list[tuple[int, int]]:
        count = len(self._blocks)
        if not self._starts:
            if count != 1:
                what = "Length of num_frequency_blocks is not 1, but instead is"
                raise ValueError(f"{what} {count}")
            return [(0, width)]
        ends = self._ends or []
        if len(self._starts) != len(ends):
            what = "Length of start and end freqindex_list does not match"
            raise ValueError(f"{what} {len(self._starts)} {len(ends)}")
        if count != len(self._starts):
            what = "Length of num_frequency_blocks is not equal to start_freqindex_list"
            raise ValueError(f"{what} {count} {len(self._starts)}")
        return list(zip(self._starts, ends, strict=True))


def _prefix(direction: str, i: int, block: int) -> str:
    return f"{direction}state_f{i:02d}_b{block:02d}"


class BidirectionalGridLSTMCell(GridLSTMCell):
    """A grid from the low frequencies up, and another from the high ones down."""

    @with_parameters_of(
        GridLSTMCell.__init__,
        without=("state_is_tuple",),
        extra={"backward_slice_offset": ("couple_input_forget_gates", 0)},
    )
    def __init__(self, backward_slice_offset: int, **given: Any) -> None:
        super().__init__(**given)
        self._backward_slice_offset = int(backward_slice_offset)
        self._directions = ["fwd_", "bwd_"]
        self._type_name = "BidirectionalGridLSTMStateTuple"

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        batch, up = size_of(inputs, 0), self._features(inputs)
        offset = self._backward_slice_offset
        down = self._features(inputs, offset) if offset else up
        with vs.variable_scope("fwd"):
            outputs, states = self._along(up, state, "fwd_", batch)
        with vs.variable_scope("bwd"):
            more = self._along([windows[::-1] for windows in down], state, "bwd_", batch)
        return self._joined(outputs + more[0], states + more[1])
