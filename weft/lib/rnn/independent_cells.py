"""Cells in which a unit sees of the state only itself: the recurrent kernel is a vector."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant
from weft.graph.graph import Tensor
from weft.lib.rnn.basic_cells import LSTMStateTuple, _UnitCell, lstm_step
from weft.lib.rnn.cells import BIAS, KERNEL
from weft.lib.rnn.gates import cut, mixed
from weft.ops.array.repeat import tile
from weft.ops.math import matmul
from weft.ops.math.math import sigmoid
from weft.ops.nn import activations as nn_impl
from weft.ops.state.initializers import (
    constant_initializer,
    random_uniform_initializer,
    zeros_initializer,
)


class _IndependentCell(_UnitCell):
    """Kernels for inputs, vectors for the state."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def _add_gates(self, depth: int, count: int, scope: str, kernel: str, bias: Any) -> Any:
        """(kernel, recurrent vector, bias) for `count` gates."""
        columns = count * self._num_units
        start = random_uniform_initializer(minval=-1, maxval=1, dtype=self.dtype or dtypes.float32)
        own = self._bias_initializer
        return (
            self.add_variable(
                scope + kernel, shape=[depth, columns], initializer=self._kernel_initializer
            ),
            self.add_variable(f"{scope}{KERNEL}_u", shape=[1, columns], initializer=start),
            self.add_variable(
                scope + BIAS, shape=[columns], initializer=bias if own is None else own
            ),
        )


def _gates(inputs: Any, state: Any, weights: Any, count: int) -> Tensor:
    kernel, recurrent, bias = weights
    product = matmul.matmul(inputs, kernel)
    repeated = state if count == 1 else tile(state, [1, count])
    return nn_impl.bias_add(product + repeated * recurrent, bias)


class IndRNNCell(_IndependentCell):
    """`output = new_state = activation(inputs @ w + state * u + bias)`."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype)

    def build(self, inputs_shape: Any) -> None:
        depth = self._checked_depth(inputs_shape)
        zeros = zeros_initializer(dtype=self.dtype or dtypes.float32)
        self._weights_now = self._add_gates(depth, 1, "", f"{KERNEL}_w", zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        output = self._activation(_gates(inputs, state, self._weights_now, 1))
        return output, output


class IndyGRUCell(_IndependentCell):
    """A GRU of independent units."""

    def build(self, inputs_shape: Any) -> None:
        depth = self._checked_depth(inputs_shape)
        ones = constant_initializer(1.0, dtype=self.dtype or dtypes.float32)
        zeros = zeros_initializer(dtype=self.dtype or dtypes.float32)
        self._gate_weights = self._add_gates(depth, 2, "gates/", f"{KERNEL}_w", ones)
        self._candidate_weights = self._add_gates(depth, 1, "candidate/", KERNEL, zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        gates = sigmoid(_gates(inputs, state, self._gate_weights, 2))
        r, u = cut(gates, 2)
        c = self._activation(_gates(inputs, r * state, self._candidate_weights, 1))
        new = mixed(u, state, c)
        return new, new


class IndyLSTMCell(_IndependentCell):
    """An LSTM of independent units."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype
        )
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, inputs_shape: Any) -> None:
        depth = self._checked_depth(inputs_shape)
        zeros = zeros_initializer(dtype=self.dtype or dtypes.float32)
        self._weights_now = self._add_gates(depth, 4, "", f"{KERNEL}_w", zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        axis = constant(1, dtypes.int32)
        c, h = state
        gates = cut(_gates(inputs, h, self._weights_now, 4), 4, axis)
        c, h = lstm_step(self._activation, self._forget_bias, c, *gates)
        return h, LSTMStateTuple(c, h)
