"""Cells of tf.contrib.rnn that only mix their projected inputs into the state."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.lib.keras import activations, initializers
from weft.lib.rnn.cells import BIAS, KERNEL, FlatInputCell, input_depth, known_width
from weft.lib.rnn.gates import cut, mixed
from weft.ops.array import join as array_join
from weft.ops.array.split import split
from weft.ops.math import matmul
from weft.ops.math.math import sigmoid
from weft.ops.nn import activations as nn_impl


class _MixingCell(FlatInputCell):
    """Some units, and the functions that Keras would have by these names.

    Args:
        units: the size of state and output.
        activation: a function, or the name of one.
        kernel_initializer, bias_initializer: first values of weights and biases, or their names.
        name: of the layer.
        dtype: of the variables.
        **kwargs: further arguments of layers.
    """

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "ones",
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, dtype=dtype, **kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)

    @property
    def state_size(self) -> int:
        return self.units

    @property
    def output_size(self) -> int:
        return self.units

    def _add_kernel(self, name: str, rows: int, columns: int) -> Any:
        return self.add_weight(name, [rows, columns], initializer=self.kernel_initializer)

    def _add_bias(self, columns: int) -> Any:
        return self.add_weight(BIAS, [columns], initializer=self.bias_initializer)


class MinimalRNNCell(_MixingCell):
    """One gate between the state and the projected inputs."""

    def build(self, inputs_shape: Any) -> None:
        rows = input_depth(inputs_shape) + 2 * self.units
        self.kernel = self._add_kernel(KERNEL, rows, self.units)
        self.bias = self._add_bias(self.units)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        heights = [known_width(inputs), 2 * self.units]
        into_units, into_gate = split(self.kernel, heights, 0)
        seen = self.activation(matmul.matmul(inputs, into_units))
        sums = matmul.matmul(array_join.concat([seen, state], 1), into_gate)
        new = mixed(sigmoid(nn_impl.bias_add(sums, self.bias)), state, seen)
        return new, new


class CFNCell(_MixingCell):
    """A network without chaos: left alone, its state goes to zero; two gates let old and new in."""

    def build(self, inputs_shape: Any) -> None:
        depth, units = input_depth(inputs_shape), self.units
        self.kernel = self._add_kernel(KERNEL, depth, 3 * units)
        self.recurrent_kernel = self._add_kernel(f"recurrent_{KERNEL}", units, 2 * units)
        self.bias = self._add_bias(2 * units)
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        known_width(inputs)
        into_gates, into_units = split(self.kernel, [2 * self.units, self.units], 1)
        sums = matmul.matmul(state, self.recurrent_kernel) + matmul.matmul(inputs, into_gates)
        keep, shut = cut(sigmoid(nn_impl.bias_add(sums, self.bias)), 2)
        seen = matmul.matmul(inputs, into_units)
        # The input gate is 1 minus its unit, so that a bias of ones starts with it nearly closed.
        new = keep * self.activation(state) + (1 - shut) * self.activation(seen)
        return new, new
