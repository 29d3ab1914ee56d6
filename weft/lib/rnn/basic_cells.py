"""The cells of tf.nn.rnn_cell: the basic one, GRU and LSTM."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import Tensor
from weft.lib.keras import activations, initializers
from weft.lib.layers.input_spec import InputSpec
from weft.lib.platform import tf_logging as logging
from weft.lib.rnn.cells import (
    BIAS,
    KERNEL,
    LayerRNNCell,
    check_rnn_cell_input_dtypes,
    check_supported_dtypes,
    input_depth,
)
from weft.ops.array import join as array_join
from weft.ops.array import slicing
from weft.ops.array import split as array_split
from weft.ops.math import clip, elementwise, matmul, unary
from weft.ops.math.math import sigmoid
from weft.ops.state.initializers import constant_initializer, zeros_initializer
from weft.ops.state.partitioners import fixed_size_partitioner


class _UnitCell(LayerRNNCell):
    """Some units with an activation. Their values are the state, unless a cell has another."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_supported_dtypes(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = unary.tanh if activation is None else activations.get(activation)

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def _checked_depth(self, inputs_shape: Any) -> int:
        depth = input_depth(inputs_shape)
        check_supported_dtypes(self.dtype)
        return depth

    def _add_kernel_and_bias(self, inputs_shape: Any, columns: int) -> None:
        rows = self._checked_depth(inputs_shape) + self._num_units
        self._kernel = self.add_variable(KERNEL, shape=[rows, columns])
        self._bias = self.add_variable(
            BIAS, shape=[columns], initializer=zeros_initializer(dtype=self.dtype)
        )

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }


class BasicRNNCell(_UnitCell):
    """`output = new_state = activation([inputs, state] @ kernel + bias)`."""

    def build(self, inputs_shape: Any) -> None:
        self._add_kernel_and_bias(inputs_shape, self._num_units)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        check_rnn_cell_input_dtypes([inputs, state])
        output = self._activation(self._affine([inputs, state], self._kernel, self._bias))
        return output, output


class GRUCell(_UnitCell):
    """A gated recurrent unit: gates r and u, and a candidate that r lets see the state."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer = initializers.get(kernel_initializer)
        self._bias_initializer = initializers.get(bias_initializer)

    def build(self, inputs_shape: Any) -> None:
        rows = self._checked_depth(inputs_shape) + self._num_units
        # Gates start open: the state is kept until the cell learns otherwise.
        gates = self._pair(
            "gates", rows, 2 * self._num_units, constant_initializer(1.0, dtype=self.dtype)
        )
        candidate = self._pair(
            "candidate", rows, self._num_units, zeros_initializer(dtype=self.dtype)
        )
        self._gate_kernel, self._gate_bias = gates
        self._candidate_kernel, self._candidate_bias = candidate
        self.built = True

    def _pair(self, name: str, rows: int, columns: int, bias: Any) -> tuple[Any, Any]:
        kernel = self.add_variable(
            f"{name}/{KERNEL}", shape=[rows, columns], initializer=self._kernel_initializer
        )
        given = self._bias_initializer
        return kernel, self.add_variable(
            f"{name}/{BIAS}", shape=[columns], initializer=bias if given is None else given
        )

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        check_rnn_cell_input_dtypes([inputs, state])
        return gru_step(self, self._activation, inputs, state)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "kernel_initializer": initializers.serialize(self._kernel_initializer),
            "bias_initializer": initializers.serialize(self._bias_initializer),
        }


def gru_step(cell: Any, activation: Any, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
    """Output and state, which are the same, with the variables of `cell`."""
    gates = sigmoid(cell._affine([inputs, state], cell._gate_kernel, cell._gate_bias))
    r, u = array_split.split(value=gates, num_or_size_splits=2, axis=1)
    c = activation(cell._affine([inputs, r * state], cell._candidate_kernel, cell._candidate_bias))
    new_h = u * state + (1 - u) * c
    return new_h, new_h


class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: its memory `c` and its output `h`."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


def _warn_of_joined_state(cell: Any) -> None:
    logging.warn(
        "%s: Using a concatenated state is slower and will soon be deprecated.  Use "
        "state_is_tuple=True.",
        cell,
    )


def lstm_step(
    activation: Any, forget_bias: float, c: Any, i: Any, j: Any, f: Any, o: Any
) -> tuple[Tensor, Tensor]:
    """The new memory and the output, from the memory and the sums that come to the gates."""
    bias = constant(forget_bias, dtype=f.dtype)
    add, multiply = elementwise.add, elementwise.multiply
    new_c = add(multiply(c, sigmoid(add(f, bias))), multiply(sigmoid(i), activation(j)))
    return new_c, multiply(activation(new_c), sigmoid(o))


class BasicLSTMCell(_UnitCell):
    """An LSTM without peepholes, clipping or projection."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        if not state_is_tuple:
            _warn_of_joined_state(self)
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple

    @property
    def state_size(self) -> Any:
        n = self._num_units
        return LSTMStateTuple(n, n) if self._state_is_tuple else 2 * n

    def build(self, inputs_shape: Any) -> None:
        self._add_kernel_and_bias(inputs_shape, 4 * self._num_units)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        check_rnn_cell_input_dtypes([inputs, state])
        one = constant(1, dtype=dtypes.int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = array_split.split(value=state, num_or_size_splits=2, axis=one)
        gates = self._affine([inputs, h], self._kernel, self._bias)
        i, j, f, o = array_split.split(value=gates, num_or_size_splits=4, axis=one)
        new_c, new_h = lstm_step(self._activation, self._forget_bias, c, i, j, f, o)
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, array_join.concat([new_c, new_h], 1)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
        }


class LSTMCell(_UnitCell):
    """An LSTM with optional peepholes, clipped memory and a projected output."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        if not state_is_tuple:
            _warn_of_joined_state(self)
        if num_unit_shards is not None or num_proj_shards is not None:
            logging.warn(
                "%s: The num_unit_shards and proj_unit_shards parameters are deprecated. Use a "
                "variable scope with a partitioner instead.",
                self,
            )
        self._num_proj, self._use_peepholes = num_proj, use_peepholes
        self._cell_clip, self._proj_clip = cell_clip, proj_clip
        self._initializer = initializers.get(initializer)
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._output_size = num_proj or num_units

    @property
    def state_size(self) -> Any:
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self._output_size)
        return self._num_units + self._output_size

    @property
    def output_size(self) -> int:
        return self._output_size

    def build(self, inputs_shape: Any) -> None:
        depth, units = self._checked_depth(inputs_shape), self._num_units
        self._kernel = self.add_variable(
            KERNEL,
            shape=[depth + (units if self._num_proj is None else self._num_proj), 4 * units],
            initializer=self._initializer,
            partitioner=_shards(self._num_unit_shards),
        )
        self._bias = self.add_variable(
            BIAS,
            shape=[4 * units],
            initializer=zeros_initializer(dtype=self.dtype or dtypes.float32),
        )
        if self._use_peepholes:
            self._w_f_diag, self._w_i_diag, self._w_o_diag = (
                self.add_variable(name, shape=[units], initializer=self._initializer)
                for name in ("w_f_diag", "w_i_diag", "w_o_diag")
            )
        if self._num_proj is not None:
            self._proj_kernel = self.add_variable(
                f"projection/{KERNEL}",
                shape=[units, self._num_proj],
                initializer=self._initializer,
                partitioner=_shards(self._num_proj_shards),
            )
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        check_rnn_cell_input_dtypes([inputs, state])
        if self._state_is_tuple:
            c_prev, m_prev = state
        else:
            c_prev = slicing.slice(state, [0, 0], [-1, self._num_units])
            m_prev = slicing.slice(state, [0, self._num_units], [-1, self._output_size])
        if inputs.shape.with_rank(2).as_list()[1] is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = self._affine([inputs, m_prev], self._kernel, self._bias)
        i, j, f, o = array_split.split(value=gates, num_or_size_splits=4, axis=1)
        peep = self._use_peepholes
        keep = f + self._forget_bias
        if peep:
            keep = keep + self._w_f_diag * c_prev
            i = i + self._w_i_diag * c_prev
        c = sigmoid(keep) * c_prev + sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = clip.clip_by_value(c, -self._cell_clip, self._cell_clip)
        if peep:
            o = o + self._w_o_diag * c
        m = sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            m = matmul.matmul(m, self._proj_kernel)
            if self._proj_clip is not None:
                m = clip.clip_by_value(m, -self._proj_clip, self._proj_clip)
        return m, LSTMStateTuple(c, m) if self._state_is_tuple else array_join.concat([c, m], 1)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "use_peepholes": self._use_peepholes,
            "cell_clip": self._cell_clip,
            "initializer": initializers.serialize(self._initializer),
            "num_proj": self._num_proj,
            "proj_clip": self._proj_clip,
            "num_unit_shards": self._num_unit_shards,
            "num_proj_shards": self._num_proj_shards,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
        }


def _shards(count: int | None) -> Any:
    return None if count is None else fixed_size_partitioner(count)
