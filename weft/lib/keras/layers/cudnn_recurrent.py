"""GRU and LSTM with the weights and the mathematics of cuDNN, on any device.

cuDNN reads the numbers of every gate's kernel as a matrix that is applied from the left. Inputs
meet their kernel once for all steps; the loop has only the recurrent product left.
"""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.core.signatures import with_parameters_of
from weft.lib.keras import backend as K
from weft.lib.keras.engine.input_spec import InputSpec
from weft.lib.keras.engine.network_shapes import as_shapes
from weft.lib.keras.layers.recurrent import RNN
from weft.lib.keras.layers.rnn_options import (
    CONSTRAINTS,
    INITIALIZERS,
    REGULARIZERS,
    add_lstm_bias,
    step_of_lstm,
)
from weft.lib.keras.layers.rnn_states import size_list
from weft.lib.keras.layers.settings import record, take, weight
from weft.ops.array import join as array_join
from weft.ops.array import shape as array_shape
from weft.ops.array import split as array_split
from weft.ops.math import matmul, unary
from weft.ops.math.math import sigmoid

_WEIGHT_OPTIONS = f"{INITIALIZERS} {REGULARIZERS} activity_regularizer {CONSTRAINTS}"


class _RecurrentPart:
    """The cell of a layer: its inputs are what the kernel made of those of the layer."""

    def __init__(self, step: Any, state_size: Any, output_size: int) -> None:
        self.step, self.state_size, self.output_size = step, state_size, output_size
        # What the states meet, and what is added then: made anew for every call.
        self.kernel: Any = None
        self.bias: Any = None

    def call(self, inputs: Any, states: Any) -> Any:
        product = matmul.matmul(states[0], self.kernel)
        if self.bias is not None:
            product = K.bias_add(product, self.bias)
        return self.step(inputs, product, *states)


def _as_cudnn_reads(kernel: Any, gates: int) -> Any:
    """The matrix that inputs are multiplied with, all gates side by side."""
    rows, columns = kernel.shape.as_list()
    parts = [
        array_shape.transpose(array_shape.reshape(each, [columns // gates, rows]))
        for each in array_split.split(kernel, gates, axis=1)
    ]
    return array_join.concat(parts, 1)


class _CuDNNRNN(RNN):
    """The base of both layers."""

    OPTIONS = ""
    gates: int

    kernel_initializer: Any

    def __init__(self, state_size: Any, arguments: dict[str, Any]) -> None:
        options = {name: arguments.pop(name) for name in self.OPTIONS.split()}
        super().__init__(_RecurrentPart(self._step_of, state_size, options["units"]), **arguments)
        take(self, **options)
        self.supports_masking = False
        self.input_spec = [InputSpec(ndim=3)]
        self.state_spec = [InputSpec(shape=(None, size)) for size in size_list(state_size)]

    units: int
    bias: Any

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        shapes = as_shapes(input_shape)
        shape: TensorShape = shapes[0] if isinstance(shapes, list) else shapes
        depth, columns = shape.as_list()[-1], self.units * self.gates
        self.kernel = weight(self, "kernel", (depth, columns))
        self.recurrent_kernel = weight(
            self, "recurrent_kernel", (self.units, columns), settings="recurrent"
        )
        self.bias = self._add_bias()
        self.built = True

    def _add_bias(self) -> Any:
        raise NotImplementedError

    def _biases(self) -> tuple[Any, Any]:
        """The biases added to the product of the inputs, and to that of the state."""
        raise NotImplementedError

    def _step_of(self, x: Any, inner: Any, *states: Any) -> Any:
        """Output and states, given both products and the states before."""
        raise NotImplementedError

    def call(
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None
    ) -> Any:
        if any(each is not None for each in (mask if isinstance(mask, list) else [mask])):
            raise ValueError("Masking is not supported for CuDNN RNNs.")
        inputs, states, _ = self._process_inputs(inputs, initial_state, None)
        bias, self.cell.bias = self._biases()
        self.cell.kernel = _as_cudnn_reads(self.recurrent_kernel, self.gates)
        kernel = _as_cudnn_reads(self.kernel, self.gates)
        product = K.bias_add(matmul.tensordot(inputs, kernel, [[2], [0]]), bias)
        return super().call(product, initial_state=states)

    def _form_config(self) -> dict[str, Any]:
        config = super()._form_config()
        del config["unroll"]
        return config

    def _cell_config(self) -> dict[str, Any]:
        return record(self, self.OPTIONS)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        return cls(**config)


def _parameters(
    self: Any,
    units: int,
    kernel_initializer: Any = "glorot_uniform",
    recurrent_initializer: Any = "orthogonal",
    bias_initializer: Any = "zeros",
    unit_forget_bias: bool = True,
    kernel_regularizer: Any = None,
    recurrent_regularizer: Any = None,
    bias_regularizer: Any = None,
    activity_regularizer: Any = None,
    kernel_constraint: Any = None,
    recurrent_constraint: Any = None,
    bias_constraint: Any = None,
    return_sequences: bool = False,
    return_state: bool = False,
    go_backwards: bool = False,
    stateful: bool = False,
    **kwargs: Any,
) -> None:
    """The arguments of the layers."""


class CuDNNLSTM(_CuDNNRNN):
    """An LSTM with biases for inputs and state, whose gates are sigmoids."""

    gates = 4
    OPTIONS = (
        f"units {INITIALIZERS} unit_forget_bias {REGULARIZERS} activity_regularizer {CONSTRAINTS}"
    )

    @with_parameters_of(_parameters)
    def __init__(self, **arguments: Any) -> None:
        super().__init__((arguments["units"],) * 2, arguments)

    def _add_bias(self) -> Any:
        return add_lstm_bias(self, self.units, before=5, after=2)

    def _biases(self) -> tuple[Any, Any]:
        of_inputs, of_state = array_split.split(self.bias, 2)
        return of_inputs + of_state, None

    def _step_of(self, x: Any, inner: Any, *states: Any) -> Any:
        gates = array_split.split(x + inner, 4, axis=1)
        return step_of_lstm(list(gates).__getitem__, states[1], sigmoid, unary.tanh)


class CuDNNGRU(_CuDNNRNN):
    """A GRU that resets after the product, with biases for inputs and state."""

    gates = 3
    OPTIONS = f"units {_WEIGHT_OPTIONS}"

    @with_parameters_of(_parameters, without=("unit_forget_bias",))
    def __init__(self, **arguments: Any) -> None:
        super().__init__(arguments["units"], arguments)

    def _add_bias(self) -> Any:
        return weight(self, "bias", (self.units * 6,))

    def _biases(self) -> tuple[Any, Any]:
        of_inputs, of_state = array_split.split(self.bias, 2)
        return of_inputs, of_state

    def _step_of(self, x: Any, inner: Any, *states: Any) -> Any:
        (h,) = states
        x_z, x_r, x_h = array_split.split(x, 3, axis=1)
        h_z, h_r, h_h = array_split.split(inner, 3, axis=1)
        z, r = sigmoid(x_z + h_z), sigmoid(x_r + h_r)
        h = z * h + (1 - z) * unary.tanh(x_h + r * h_h)
        return h, [h]
