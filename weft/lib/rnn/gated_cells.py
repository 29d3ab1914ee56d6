"""Cells of tf.contrib.rnn with few gates: update gates, intersections, simple recurrent units."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.rnn.cells import BIAS, KERNEL, FlatInputCell, RNNCell, known_width
from weft.lib.rnn.gates import cut, mixed
from weft.lib.rnn.projections import linear
from weft.lib.rnn.wrappers import _Wrapper
from weft.ops.array import join as array_join
from weft.ops.math import matmul, unary
from weft.ops.math.math import sigmoid
from weft.ops.nn import activations as nn_impl
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import constant_initializer, zeros_initializer


class _StateIsOutputSized(RNNCell):
    """One state, as wide as the output."""

    def __init__(self, num_units: int, initializer: Any, forget_bias: float, reuse: Any) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units


class UGRNNCell(_StateIsOutputSized):
    """An update gate between the old state and a new candidate."""

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Any = unary.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(num_units, initializer, forget_bias, reuse)
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        known_width(inputs)
        with vs.variable_scope(vs.get_variable_scope(), initializer=self._initializer):
            both = linear(array_join.concat([inputs, state], 1), 2 * self._num_units, True)
            gate, candidate = cut(both, 2)
            candidate = self._activation(candidate)
            new = mixed(sigmoid(gate + self._forget_bias), state, candidate)
        return new, new


class IntersectionRNNCell(_StateIsOutputSized):
    """Gates for the state, and for how much of the input passes through to the output."""

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Any = nn_impl.relu,
        reuse: Any = None,
    ) -> None:
        super().__init__(num_units, initializer, forget_bias, reuse)
        self._num_input_proj, self._y_activation = num_in_proj, y_activation

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        width = known_width(inputs)
        with vs.variable_scope(vs.get_variable_scope(), initializer=self._initializer):
            if width != self._num_units:
                if not self._num_input_proj:
                    raise ValueError(
                        "Must have input size == output size for Intersection RNN. To fix, "
                        "num_in_proj should be set to num_units at cell init."
                    )
                with vs.variable_scope("in_projection"):
                    inputs = linear(inputs, self._num_units, True)
            units = self._num_units
            made = linear(array_join.concat([inputs, state], 1), 4 * units, True)
            keep_h, h, keep_y, y = (
                made[:, at or None : at + units] for at in range(0, 4 * units, units)
            )
            h, y = unary.tanh(h), self._y_activation(y)
            keep_h, keep_y = (sigmoid(gate + self._forget_bias) for gate in (keep_h, keep_y))
            new_state = mixed(keep_h, state, h)
            return mixed(keep_y, inputs, y), new_state


class SRUCell(FlatInputCell):
    """A simple recurrent unit: all products are of the inputs, the state is only mixed in."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(reuse, name=name, **kwargs)
        self._num_units, self._activation = num_units, activation or unary.tanh

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        depth, units = TensorShape(inputs_shape).as_list()[1], self._num_units
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        self._kernel = self.add_variable(KERNEL, shape=[depth, 4 * units])
        self._bias = self.add_variable(BIAS, shape=[2 * units], initializer=zeros_initializer())
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        new, *gates, passed = cut(matmul.matmul(inputs, self._kernel), 4)
        forget, reset = cut(sigmoid(nn_impl.bias_add(array_join.concat(gates, 1), self._bias)), 2)
        c = mixed(forget, state, new)
        return mixed(reset, self._activation(c), passed), c


class HighwayWrapper(_Wrapper):
    """A cell around which a gate lets its inputs pass."""

    def __init__(
        self,
        cell: Any,
        couple_carry_transform_gates: bool = True,
        carry_bias_init: float = 1.0,
    ) -> None:
        super().__init__(cell)
        self._coupled, self._carry_bias_init = couple_carry_transform_gates, carry_bias_init

    def _gate(self, x: Tensor, name: str, bias: float) -> Tensor:
        width = x.shape.with_rank(2).as_list()[1]
        weights = vs.get_variable(name + "_w", [width, width])
        start = constant_initializer(bias)
        biases = vs.get_variable(name + "_b", [width], initializer=start)
        return sigmoid(nn_impl.xw_plus_b(x, weights, biases))

    def _highway(self, x: Tensor, output: Tensor) -> Tensor:
        x.shape.assert_is_compatible_with(output.shape)
        carry = self._gate(x, "carry", self._carry_bias_init)
        if self._coupled:
            transform = 1 - carry
        else:
            transform = self._gate(x, "transform", -self._carry_bias_init)
        return x * carry + output * transform

    def _call_wrapped_cell(
        self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any
    ) -> tuple[Any, Any]:
        outputs, new_state = cell_call_fn(inputs, state, **kwargs)
        nest.assert_same_structure(inputs, outputs)
        return nest.map_structure(self._highway, inputs, outputs), new_state


class CompiledWrapper(_Wrapper):
    """A cell that is to be compiled, as everything here is."""

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        super().__init__(cell)
        self._compile_stateful = compile_stateful

    def _call_wrapped_cell(
        self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any
    ) -> tuple[Any, Any]:
        return cell_call_fn(inputs, state, **kwargs)
