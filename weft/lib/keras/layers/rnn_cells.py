"""Recurrent cells: one step of a network, as `output, states = cell(inputs, states)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core.shapes import TensorShape
from weft.lib.keras import backend as K
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.layers import rnn_options
from weft.lib.keras.layers.rnn_dropout import DropoutRNNCellMixin
from weft.lib.keras.layers.rnn_options import CONSTRAINTS, DROPOUTS, INITIALIZERS, REGULARIZERS
from weft.lib.keras.layers.rnn_states import zero_state_of
from weft.lib.keras.layers.settings import record, weight
from weft.ops.array import split as array_split

# The number of a gate -> what its activation is applied to, made when it is asked for.
Gate = Callable[[int], Any]


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


def seen_by_gates(x: Any, masks: Any, count: int) -> list[Any]:
    """`x` for each gate, through the mask of each where there are masks."""
    return [x] * count if masks is None else [x * mask for mask in masks]


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
        x = K.dot(inputs if mask is None else inputs * mask, self.kernel)
        if self.use_bias:
            x = K.bias_add(x, self.bias)
        state = state if state_mask is None else state * state_mask
        total = x + K.dot(state, self.recurrent_kernel)
        output = total if self.activation is None else self.activation(total)
        return output, [output]


class _GatedCell(UnitCell):
    """A cell with gates. `implementation` 1 drops out for each gate alone, 2 for all at once."""

    implementation: int
    recurrent_activation: Any

    def _columns(self, gate: int) -> slice:
        """The columns of a gate in the kernels."""
        start, stop = gate * self.units, (gate + 1) * self.units
        return slice(start or None, stop if gate + 1 < self.gates else None)


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
        masks = self._gate_masks(inputs, states[0], training, self.gates)
        biases: tuple[Any, ...] = (self.bias, None)
        if self.use_bias and self.reset_after:
            biases = tuple(array_split.unstack(self.bias))
        gates = self._gate_by_gate if self.implementation == 1 else self._all_at_once
        state, z, candidate = gates(inputs, states[0], masks, biases)
        h = z * state + (1 - z) * candidate
        return h, [h]

    def _gate_by_gate(self, inputs: Any, state: Any, masks: Any, biases: Any) -> tuple[Any, ...]:
        """The state, z and the candidate, from products with the columns of each gate."""
        columns = [self._columns(gate) for gate in range(3)]

        def biased(products: Any, bias: Any, of_gates: list[slice]) -> list[Any]:
            if bias is None:
                return list(products)
            return [K.bias_add(x, bias[one]) for x, one in zip(products, of_gates, strict=True)]

        seen = seen_by_gates(inputs, masks[0], 3)
        products = [K.dot(x, self.kernel[:, one]) for x, one in zip(seen, columns, strict=True)]
        x = biased(products, biases[0], columns)
        seen = seen_by_gates(state, masks[1], 3)
        inner = [K.dot(seen[gate], self.recurrent_kernel[:, columns[gate]]) for gate in (0, 1)]
        inner = biased(inner, biases[1], columns[:2])
        z, r = (self.recurrent_activation(x[gate] + inner[gate]) for gate in (0, 1))
        if self.reset_after:
            last = K.dot(seen[2], self.recurrent_kernel[:, columns[2]])
            last = r * biased([last], biases[1], columns[2:])[0]
        else:
            last = K.dot(r * seen[2], self.recurrent_kernel[:, columns[2]])
        return state, z, self.activation(x[2] + last)

    def _all_at_once(self, inputs: Any, state: Any, masks: Any, biases: Any) -> tuple[Any, ...]:
        """The state, z and the candidate, from products with whole kernels.

        One mask for all gates is applied to the state itself, which is also what z keeps.
        """
        of_z, of_r, of_candidate = (self._columns(gate) for gate in range(3))
        n = 2 * self.units
        x = K.dot(inputs if masks[0] is None else inputs * masks[0][0], self.kernel)
        x = x if biases[0] is None else K.bias_add(x, biases[0])
        x_z, x_r, x_candidate = (x[:, one] for one in (of_z, of_r, of_candidate))
        state = state if masks[1] is None else state * masks[1][0]
        if self.reset_after:
            inner = K.dot(state, self.recurrent_kernel)
            inner = inner if biases[1] is None else K.bias_add(inner, biases[1])
        else:
            inner = K.dot(state, self.recurrent_kernel[:, :n])
        inner_z, inner_r = inner[:, of_z], inner[:, of_r]
        z = self.recurrent_activation(x_z + inner_z)
        r = self.recurrent_activation(x_r + inner_r)
        if self.reset_after:
            last = r * inner[:, of_candidate]
        else:
            last = K.dot(r * state, self.recurrent_kernel[:, n:])
        return state, z, self.activation(x_candidate + last)


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
        masks = self._gate_masks(inputs, output, training, self.gates)
        gates = self._gate_by_gate if self.implementation == 1 else self._all_at_once
        return self._step(gates(inputs, output, *masks), memory)

    def _gate_by_gate(self, inputs: Any, output: Any, masks: Any, state_masks: Any) -> Gate:
        """What goes into a gate, from products with its columns of the kernels."""
        seen = seen_by_gates(inputs, masks, 4)
        kernels = array_split.split(self.kernel, 4, axis=1)
        x = [K.dot(*pair) for pair in zip(seen, kernels, strict=True)]
        if self.use_bias:
            biases = array_split.split(self.bias, 4, axis=0)
            x = [K.bias_add(*pair) for pair in zip(x, biases, strict=True)]
        seen = seen_by_gates(output, state_masks, 4)

        def gate(number: int) -> Any:
            kernel = self.recurrent_kernel[:, self._columns(number)]
            return x[number] + K.dot(seen[number], kernel)

        return gate

    def _all_at_once(self, inputs: Any, output: Any, masks: Any, state_masks: Any) -> Gate:
        """What goes into a gate, from products with whole kernels."""
        z = K.dot(inputs if masks is None else inputs * masks[0], self.kernel)
        output = output if state_masks is None else output * state_masks[0]
        z = z + K.dot(output, self.recurrent_kernel)
        if self.use_bias:
            z = K.bias_add(z, self.bias)
        return list(array_split.split(z, 4, axis=1)).__getitem__

    def _step(self, gate: Gate, memory: Any) -> Any:
        activations = (self.recurrent_activation, self.activation)
        return rnn_options.step_of_lstm(gate, memory, *activations)

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

    def _step(self, gate: Gate, memory: Any) -> Any:
        opened = self.recurrent_activation
        let_in = opened(gate(0) + self.input_gate_peephole_weights * memory)
        kept = opened(gate(1) + self.forget_gate_peephole_weights * memory)
        memory = kept * memory + let_in * self.activation(gate(2))
        seen = opened(gate(3) + self.output_gate_peephole_weights * memory)
        output = seen * self.activation(memory)
        return output, [output, memory]
