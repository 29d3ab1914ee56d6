"""LSTMs of tf.contrib.rnn with other gates: coupled, in groups, with a rhythm."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor, add_to_collection, get_collection
from weft.graph.keys import GraphKeys
from weft.lib.rnn.basic_cells import JoinableState, LSTMStateTuple
from weft.lib.rnn.cells import RNNCell, known_width
from weft.lib.rnn.gates import clipped, cut, mixed, remembered
from weft.lib.rnn.more_cells import layer_normed
from weft.lib.rnn.projections import linear
from weft.ops.array import join as array_join
from weft.ops.array import one_hot_search as select
from weft.ops.array import placeholders as array_pass
from weft.ops.array import slicing
from weft.ops.math import casts, elementwise, matmul, unary
from weft.ops.math.math import sigmoid
from weft.ops.nn import activations as nn_impl
from weft.ops.random import random
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import constant_initializer, zeros_initializer


class _ProjectedLSTM(RNNCell):
    """An LSTM whose output may be narrower than its memory."""

    def __init__(self, num_units: int, num_proj: int | None, reuse: Any) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._num_proj = num_units, num_proj

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_proj or self._num_units


class CoupledInputForgetGateLSTMCell(JoinableState, _ProjectedLSTM):
    """An LSTM that lets in as much as it forgets."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = unary.tanh,
        reuse: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ) -> None:
        super().__init__(num_units, num_proj, reuse)
        self._set_state(num_proj or num_units, state_is_tuple)
        self._use_peepholes, self._initializer = use_peepholes, initializer
        self._proj_clip, self._forget_bias = proj_clip, forget_bias
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._activation = activation
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    def _norm(self, x: Tensor, scope: str) -> Tensor:
        if not self._layer_norm:
            return x
        return layer_normed(x, scope, self._norm_gain, self._norm_shift, x.dtype)

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        c, m = self._split_state(state)
        j, f, o = self._gates(inputs, m)
        w_f, w_o = self._peepholes(inputs.dtype)
        f = sigmoid(seeing(f + self._forget_bias, w_f, c))
        c = self._norm(f * c + (1 - f) * self._activation(j), "state")
        m = self._projected(sigmoid(seeing(o, w_o, c)) * self._activation(c))
        return m, self._join_state(c, m)

    def _gates(self, inputs: Tensor, m: Tensor) -> list[Tensor]:
        shape = [known_width(inputs) + self.output_size, 3 * self._num_units]
        kernel = in_shards("W", shape, inputs.dtype, self._num_unit_shards)
        bias = vs.get_variable(
            "B", shape=shape[1:], initializer=zeros_initializer(), dtype=inputs.dtype
        )
        product = matmul.matmul(array_join.concat([inputs, m], 1), kernel)
        if not self._layer_norm:
            product = nn_impl.bias_add(product, bias)
        gates = cut(product, 3)
        names = ("transform", "forget", "output")
        return [self._norm(gate, name) for gate, name in zip(gates, names, strict=True)]

    def _peepholes(self, dtype: Any) -> list[Any]:
        if not self._use_peepholes:
            return [None, None]
        names = ("W_F_diag", "W_O_diag")
        return [vs.get_variable(name, shape=[self._num_units], dtype=dtype) for name in names]

    def _projected(self, m: Tensor) -> Tensor:
        if self._num_proj is None:
            return m
        shape = [self._num_units, self._num_proj]
        kernel = in_shards("W_P", shape, m.dtype, self._num_proj_shards)
        return clipped(matmul.matmul(m, kernel), self._proj_clip)


def seeing(gate: Tensor, weights: Any, c: Tensor) -> Tensor:
    """The sum that comes to a gate, with what its peephole shows it of the memory."""
    return gate if weights is None else gate + weights * c


def in_shards(name: str, shape: list[int], dtype: Any, count: int) -> Any:
    """A variable of `shape` as `count` variables, put together; the first ones are longer."""
    if count > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={count}")
    size, longer = divmod(shape[0], count)
    shards = [
        vs.get_variable(f"{name}_{i}", [size + (i < longer), *shape[1:]], dtype=dtype)
        for i in range(count)
    ]
    if count == 1:
        return shards[0]
    known = f"{vs.get_variable_scope().name}/{name}/concat:0"
    for made in get_collection(GraphKeys.CONCATENATED_VARIABLES):
        if made.name == known:
            return made
    joined = array_join.concat(shards, 0, name=name + "/concat")
    add_to_collection(GraphKeys.CONCATENATED_VARIABLES, joined)
    return joined


class GLSTMCell(_ProjectedLSTM):
    """An LSTM in groups, each of which sees its part of the inputs and of the state."""

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Any = unary.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(num_units, num_proj, reuse)
        self._initializer, self._forget_bias = initializer, forget_bias
        self._activation, self._number_of_groups = activation, number_of_groups
        for name, size in (("num_units", num_units), ("num_proj", num_proj)):
            if size and size % number_of_groups:
                raise ValueError(f"{name} must be divisible by number_of_groups")

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        c, m = state
        width, groups = inputs.shape.as_list()[1], self._number_of_groups
        if width is None:
            raise ValueError("input size must be statically known")
        if width % groups:
            raise ValueError(
                f"input size ({width}) must be divisible by number_of_groups ({groups})"
            )
        with vs.variable_scope(vs.get_variable_scope(), initializer=self._initializer):
            i, j, f, o = self._gates(inputs, m)
        c = remembered(c, i, j, f + self._forget_bias, unary.tanh)
        m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            with vs.variable_scope("projection"):
                m = linear(m, self._num_proj, False)
        return m, LSTMStateTuple(c, m)

    def _gates(self, inputs: Tensor, m: Tensor) -> list[Tensor]:
        groups = [self._group(number, inputs, m) for number in range(self._number_of_groups)]
        shape, dtype = [self._num_units], inputs.dtype
        start = constant_initializer(0.0, dtype=dtype)
        biases = [vs.get_variable(f"bias_{gate}", shape, dtype, start) for gate in "ijfo"]
        return [
            nn_impl.bias_add(array_join.concat(list(parts), 1), bias)
            for bias, parts in zip(biases, zip(*groups, strict=True), strict=True)
        ]

    def _group(self, number: int, *seen: Tensor) -> list[Tensor]:
        """The gates of one group, which sees its share of the inputs and of the state."""
        count = self._number_of_groups
        with vs.variable_scope(f"group{number}"):
            name, parts = f"GLSTM_group{number}_input_generation", []
            for x in seen:
                rows, columns = x.shape.as_list()
                width = (columns or 0) // count
                size = [-1 if rows is None else rows, width]
                parts.append(slicing.slice(x, [0, number * width], size, name))
            product = linear(array_join.concat(parts, 1), 4 * self._num_units // count, False)
            return cut(product, 4)


class PhasedLSTMCell(RNNCell):
    """An LSTM each unit of which is open only for a part of its period; inputs are (time, x)."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse, autocast=False)
        self._num_units, self._use_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._periods = period_init_min, period_init_max

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        (time, x), (c, h) = inputs, state
        units, seen = self._num_units, [x, h]
        with vs.variable_scope("mask_gates"):
            gates = sigmoid(linear(seen + [c] * self._use_peepholes, 2 * units, True))
            i, f = cut(gates, 2)
        with vs.variable_scope("new_input"):
            new_input = unary.tanh(linear(seen, units, True))
        new_c = c * f + i * new_input
        with vs.variable_scope("output_gate"):
            o = sigmoid(linear(seen + [new_c] * self._use_peepholes, units, True))
        new_h = unary.tanh(new_c) * o
        k = self._openness(time)
        new_c, new_h = mixed(k, new_c, c), mixed(k, new_h, h)
        return new_h, LSTMStateTuple(new_c, new_h)

    def _openness(self, time: Tensor) -> Tensor:
        """How far each unit is open: up, down, and then a leak until the period is over."""
        shape = [self._num_units]
        low, high = self._periods

        def spread(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Tensor:
            logs = random.random_uniform(shape, unary.log(low), unary.log(high), dtype)
            return unary.exp(logs)

        period = vs.get_variable("period", shape, initializer=spread)

        def within(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Tensor:
            return random.random_uniform(shape, 0.0, period.initial_value, dtype)

        phase = vs.get_variable("phase", shape, initializer=within)
        ratio_on = vs.get_variable(
            "ratio_on",
            shape,
            initializer=constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        at = self._in_cycle(time, phase, period)
        up = 2 * at / ratio_on
        down, leaked = 2 - up, self._leak * at
        k = select.where(at < ratio_on, down, leaked)
        return select.where(at < 0.5 * ratio_on, up, k)

    def _in_cycle(self, time: Tensor, phase: Any, period: Any) -> Tensor:
        """The part of its period that is over for each unit; differentiable as if linear."""
        phase, period = (casts.cast(x, time.dtype) for x in (phase, period))
        shifted = time - phase
        wrapped = array_pass.stop_gradient(elementwise.mod(shifted, period) - shifted) + shifted
        return casts.cast(wrapped / period, dtypes.float32)
