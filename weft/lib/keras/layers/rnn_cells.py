"""Recurrent cells: one step of a network, as `output, states = cell(inputs, states)`."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.lib.keras import backend as K
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.layers import rnn_options
from weft.lib.keras.layers.rnn_dropout import DropoutRNNCellMixin
from weft.lib.keras.layers.rnn_options import CONSTRAINTS, DROPOUTS, INITIALIZERS, REGULARIZERS
from weft.lib.keras.layers.rnn_states import zero_state_of
from weft.lib.keras.layers.settings import record, weight
from weft.ops.array import join as array_join
from weft.ops.array import split as array_split


class AbstractRNNCell(Layer):
    """The base of cells that users write: sizes, one step, and a first state of zeros."""

    def call(self, inputs: Any, states: Any) -> Any:
        """The output of a step and the states after it."""
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self) -> Any:
        """The size or shape of every state, without the batch."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size or shape of the output, without the batch."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        return zero_state_of(self, inputs, batch_size, dtype)


class UnitCell(DropoutRNNCellMixin, Layer):
    """Some units, whose values are the output and the first state."""

    OPTIONS = ""
    # How many columns the kernels have for every unit.
    gates = 1

    units: int
    use_bias: bool
    activation: Any

    def __init__(self, options: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        rnn_options.keep(self, options)
        self.state_size: Any = self.units
        self.output_size = self.units

    def build(self, input_shape: Any) -> None:
        depth, columns = TensorShape(input_shape).as_list()[-1], self.units * self.gates
        self.kernel = weight(self, "kernel", (depth, columns))
        self.recurrent_kernel = weight(
            self, "recurrent_kernel", (self.units, columns), settings="recurrent"
        )
        self.bias = self._add_bias(columns) if self.use_bias else None
        self.built = True

    def _add_bias(self, columns: int) -> Any:
        return weight(self, "bias", (columns,))

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        return zero_state_of(self, inputs, batch_size, dtype)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, self.OPTIONS)}


def _product(x: Any, kernel: Any, masks: Any) -> Any:
    """`x @ kernel`, `x` seen through a mask, or by each gate's columns through one of its own."""
    if not isinstance(masks, list):
        return K.dot(x if masks is None else x * masks, kernel)
    columns = array_split.split(kernel, len(masks), axis=1)
    parts = [K.dot(x * mask, each) for mask, each in zip(masks, columns, strict=True)]
    return array_join.concat(parts, 1)


class SimpleRNNCell(UnitCell):
    """`output = activation(inputs @ kernel + state @ recurrent_kernel + bias)`."""

    OPTIONS = f"units activation use_bias {INITIALIZERS} {REGULARIZERS} {CONSTRAINTS} {DROPOUTS}"

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(rnn_options.picked(locals(), self.OPTIONS), **kwargs)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        (state,) = states
        mask = self.get_dropout_mask_for_cell(inputs, training)
        state_mask = self.get_recurrent_dropout_mask_for_cell(state, training)
        x = _product(inputs, self.kernel, mask)
        if self.use_bias:
            x = K.bias_add(x, self.bias)
        total = x + _product(state, self.recurrent_kernel, state_mask)
        output = total if self.activation is None else self.activation(total)
        return output, [output]


class _GatedCell(UnitCell):
    """A cell with gates. `implementation` 1 drops out for each gate alone, 2 for all at once."""

    implementation: int
    recurrent_activation: Any

    def _masks(self, inputs: Any, state: Any, training: Any) -> tuple[Any, Any]:
        made = self._gate_masks(inputs, state, training, self.gates)
        if self.implementation == 1:
            return made
        of_inputs, of_state = (masks and masks[0] for masks in made)
        return of_inputs, of_state


class GRUCell(_GatedCell):
    """A gated recurrent unit: z keeps the state, r decides what the candidate sees of it.

    With `reset_after`, r is applied after the matrix product, as cuDNN does it, and there are
    biases for inputs and state.
    """

    gates = 3
    OPTIONS = (
        f"units activation recurrent_activation use_bias {INITIALIZERS} {REGULARIZERS} "
        f"{CONSTRAINTS} {DROPOUTS} implementation reset_after"
    )

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(rnn_options.picked(locals(), self.OPTIONS), **kwargs)

    reset_after: bool

    def _add_bias(self, columns: int) -> Any:
        return weight(self, "bias", (2, columns) if self.reset_after else (columns,))

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        state = states[0]
        masks, state_masks = self._masks(inputs, state, training)
        if state_masks is not None and self.implementation != 1:
            # One mask for all is applied to the state itself, which is also what z keeps.
            state, state_masks = state * state_masks, None
        bias, state_bias = self.bias, None
        if self.use_bias and self.reset_after:
            bias, state_bias = array_split.unstack(self.bias)
        x = _product(inputs, self.kernel, masks)
        if self.use_bias:
            x = K.bias_add(x, bias)
        if self.reset_after:
            z, candidate = self._reset_after(x, state, state_masks, state_bias)
        else:
            z, candidate = self._reset_before(x, state, state_masks)
        h = z * state + (1 - z) * candidate
        return h, [h]

    def _reset_after(self, x: Any, state: Any, masks: Any, bias: Any) -> tuple[Any, Any]:
        inner = _product(state, self.recurrent_kernel, masks)
        if bias is not None:
            inner = K.bias_add(inner, bias)
        x_z, x_r, x_h = array_split.split(x, 3, axis=1)
        h_z, h_r, h_h = array_split.split(inner, 3, axis=1)
        z, r = self.recurrent_activation(x_z + h_z), self.recurrent_activation(x_r + h_r)
        return z, self.activation(x_h + r * h_h)

    def _reset_before(self, x: Any, state: Any, masks: Any) -> tuple[Any, Any]:
        n = 2 * self.units
        of_gates, of_candidate = array_split.split(self.recurrent_kernel, [n, self.units], axis=1)
        inner = _product(state, of_gates, masks and masks[:2])
        z, r = array_split.split(self.recurrent_activation(x[:, :n] + inner), 2, axis=1)
        seen = state if masks is None else state * masks[2]
        return z, self.activation(x[:, n:] + K.dot(r * seen, of_candidate))


class LSTMCell(_GatedCell):
    """A cell with a memory c: gates i let in, f keep, o give out. The states are [h, c]."""

    gates = 4
    OPTIONS = (
        f"units activation recurrent_activation use_bias {INITIALIZERS} unit_forget_bias "
        f"{REGULARIZERS} {CONSTRAINTS} {DROPOUTS} implementation"
    )

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(rnn_options.picked(locals(), self.OPTIONS), **kwargs)
        self.state_size = [self.units, self.units]

    def _add_bias(self, columns: int) -> Any:
        return rnn_options.add_lstm_bias(self, self.units)

    def call(self, inputs: Any, states: Any, training: Any = None) -> Any:
        output, memory = states
        masks, state_masks = self._masks(inputs, output, training)
        z = _product(inputs, self.kernel, masks)
        z = z + _product(output, self.recurrent_kernel, state_masks)
        if self.use_bias:
            z = K.bias_add(z, self.bias)
        return self._step(array_split.split(z, 4, axis=1), memory)

    def _step(self, gates: Any, memory: Any) -> Any:
        activations = (self.recurrent_activation, self.activation)
        return rnn_options.step_of_lstm(gates, memory, *activations)

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        return list(zero_state_of(self, inputs, batch_size, dtype))


class PeepholeLSTMCell(LSTMCell):
    """An LSTM whose gates see the memory as well."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        for gate in ("input", "forget", "output"):
            name = f"{gate}_gate_peephole_weights"
            weights = self.add_weight(
                shape=(self.units,), name=name, initializer=self.kernel_initializer
            )
            setattr(self, name, weights)

    kernel_initializer: Any
    input_gate_peephole_weights: Any
    forget_gate_peephole_weights: Any
    output_gate_peephole_weights: Any

    def _step(self, gates: Any, memory: Any) -> Any:
        gate, (i, f, j, o) = self.recurrent_activation, gates
        kept = gate(f + self.forget_gate_peephole_weights * memory) * memory
        let_in = gate(i + self.input_gate_peephole_weights * memory)
        memory = kept + let_in * self.activation(j)
        seen = gate(o + self.output_gate_peephole_weights * memory)
        output = seen * self.activation(memory)
        return output, [output, memory]
