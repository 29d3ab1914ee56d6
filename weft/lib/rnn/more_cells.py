"""Cells of tf.contrib.rnn: normalised and searched LSTMs, attention."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.platform import tf_logging as logging
from weft.lib.rnn.basic_cells import LSTMStateTuple
from weft.lib.rnn.cells import BIAS, KERNEL, LayerRNNCell, RNNCell, assert_like_rnncell
from weft.lib.rnn.gates import cut
from weft.lib.rnn.projections import Linear
from weft.ops.array import join as array_join
from weft.ops.array import shape as array_shape
from weft.ops.array import slicing
from weft.ops.math import matmul, reduce, unary
from weft.ops.math import moments as nn_moments
from weft.ops.math.math import sigmoid
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import conv as nn_conv
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import constant_initializer, zeros_initializer


def layer_normed(x: Tensor, scope: str, gain: float, shift: float, dtype: Any) -> Tensor:
    """`x` with rows of mean 0 and variance 1, then scaled and shifted by variables of `scope`."""
    with vs.variable_scope(scope):
        scale, offset = (
            vs.get_variable(
                name, shape=x.shape[-1:], initializer=constant_initializer(start), dtype=dtype
            )
            for name, start in (("gamma", gain), ("beta", shift))
        )
    # Variables first, as TensorFlow has it, which shows in the names of operations.
    with vs.variable_scope(scope):
        mean, variance = nn_moments.moments(x, [1], keep_dims=True)
        epsilon = 1e-3 if dtypes.as_dtype(dtype) is dtypes.float16 else 1e-12
        return nn_moments.batch_normalization(
            x, mean, variance, offset=offset, scale=scale, variance_epsilon=epsilon
        )


class LayerNormBasicLSTMCell(RNNCell):
    """An LSTM with normalised gates and memory, and dropout of what enters the memory."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Callable[..., Any] = unary.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if input_size is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_units, self._activation, self._forget_bias = num_units, activation, forget_bias
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def _norm(self, x: Tensor, scope: str, dtype: Any) -> Tensor:
        if not self._layer_norm:
            return x
        return layer_normed(x, scope, self._norm_gain, self._norm_shift, dtype)

    def _linear(self, args: Tensor) -> Tensor:
        size = 4 * self._num_units
        kernel = vs.get_variable(KERNEL, [args.shape[-1], size], dtype=args.dtype)
        out = matmul.matmul(args, kernel)
        if self._layer_norm:
            return out
        return nn_impl.bias_add(out, vs.get_variable(BIAS, [size], dtype=args.dtype))

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        c, h = state
        args = array_join.concat([inputs, h], 1)
        dtype = args.dtype
        names = ("input", "transform", "forget", "output")
        gates = zip(cut(self._linear(args), 4), names, strict=True)
        i, j, f, o = (self._norm(gate, name, dtype) for gate, name in gates)
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = nn_impl.dropout(g, self._keep_prob, seed=self._seed)
        c = self._norm(c * sigmoid(f + self._forget_bias) + sigmoid(i) * g, "state", dtype)
        h = self._activation(c) * sigmoid(o)
        return h, LSTMStateTuple(c, h)


# How the gates of a NASCell are combined, two by two: what is done to each, to both, to the result.
_NAS_TREE = (
    (sigmoid, nn_impl.relu, operator.mul, unary.tanh),
    (sigmoid, nn_impl.relu, operator.add, unary.tanh),
    (unary.tanh, sigmoid, operator.mul, unary.tanh),
    (unary.tanh, sigmoid, operator.add, sigmoid),
)


class NASCell(LayerRNNCell):
    """A cell found by architecture search: eight gates combined in a small tree."""

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias
        self._output_size = num_units if num_proj is None else num_proj

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._output_size)

    @property
    def output_size(self) -> int:
        return self._output_size

    def build(self, inputs_shape: Any) -> None:
        depth = TensorShape(inputs_shape).with_rank(2).as_list()[1]
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        columns = 8 * self._num_units
        self.recurrent_kernel, self.kernel = (
            self.add_variable(name, [rows, columns])
            for name, rows in (("recurrent_kernel", self._output_size), (KERNEL, depth))
        )
        if self._use_bias:
            self.bias = self.add_variable(BIAS, [columns], initializer=zeros_initializer())
        if self._num_proj is not None:
            self.projection_weights = self.add_variable(
                "projection_weights", [self._num_units, self._num_proj]
            )
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, LSTMStateTuple]:
        c, m = state
        recurrent = matmul.matmul(m, self.recurrent_kernel)
        given = matmul.matmul(inputs, self.kernel)
        if self._use_bias:
            recurrent = nn_impl.bias_add(recurrent, self.bias)
        sums = zip(cut(recurrent, 8), cut(given, 8), strict=True)

        def gate(number: int, activation: Callable[..., Tensor]) -> Tensor:
            of_state, of_inputs = next(sums)
            # The search left one product among the sums.
            combine = operator.mul if number == 3 else operator.add
            return activation(combine(of_inputs, of_state))

        gates = [
            (gate(2 * k, left), gate(2 * k + 1, right))
            for k, (left, right, _, _) in enumerate(_NAS_TREE)
        ]
        first, second, third, fourth = (
            outer(combine(*pair))
            for pair, (_, _, combine, outer) in zip(gates, _NAS_TREE, strict=True)
        )
        c = unary.tanh(first + c) * second
        m = unary.tanh(c * unary.tanh(third + fourth))
        if self._num_proj is not None:
            m = matmul.matmul(m, self.projection_weights)
        return m, LSTMStateTuple(c, m)


class AttentionCellWrapper(RNNCell):
    """A cell that attends to its own last `attn_length` outputs."""

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: int | None = None,
        attn_vec_size: int | None = None,
        input_size: int | None = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(
                "Cell returns tuple of states, but the flag state_is_tuple is not set. State size "
                f"is: {cell.state_size}"
            )
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        self._cell, self._state_is_tuple, self._input_size = cell, state_is_tuple, input_size
        self._attn_length = attn_length
        self._attn_size = cell.output_size if attn_size is None else attn_size
        self._attn_vec_size = self._attn_size if attn_vec_size is None else attn_vec_size
        self._linears: dict[str, Linear] = {}

    @property
    def state_size(self) -> Any:
        sizes = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> int:
        return self._attn_size

    def _linear(self, key: str, args: Any, size: int) -> Tensor:
        if key not in self._linears:
            self._linears[key] = Linear(args, size, True)
        return self._linears[key](args)

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        size, length = self._attn_size, self._attn_length
        if self._state_is_tuple:
            state, attended, memory = state
        else:
            own = self._cell.state_size
            parts = (0, own), (own, size), (own + size, size * length)
            state, attended, memory = (
                slicing.slice(state, [0, start], [-1, width]) for start, width in parts
            )
        memory = array_shape.reshape(memory, [-1, length, size])
        depth = self._input_size or inputs.shape.as_list()[1]
        inputs = self._linear("inputs", [inputs, attended], depth)
        output, new_state = self._cell(inputs, state)
        query = new_state
        if self._state_is_tuple:
            query = array_join.concat(nest.flatten(new_state), 1)
        attended, memory = self._attention(query, memory)
        with vs.variable_scope("attn_output_projection"):
            output = self._linear("output", [output, attended], size)
        memory = array_join.concat([memory, array_shape.expand_dims(output, 1)], 1)
        memory = array_shape.reshape(memory, [-1, length * size])
        if self._state_is_tuple:
            return output, (new_state, attended, memory)
        return output, array_join.concat([new_state, attended, memory], 1)

    def _attention(self, query: Tensor, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(what is attended to, the memory without its oldest entry)."""
        size, length, units = self._attn_size, self._attn_length, self._attn_vec_size
        with vs.variable_scope("attention"):
            kernel = vs.get_variable("attn_w", [1, 1, size, units])
            v = vs.get_variable("attn_v", [units])
            hidden = array_shape.reshape(memory, [-1, length, 1, size])
            features = nn_conv.conv2d(hidden, kernel, [1, 1, 1, 1], "SAME")
            y = array_shape.reshape(self._linear("query", query, units), [-1, 1, 1, units])
            weights = nn_impl.softmax(reduce.reduce_sum(v * unary.tanh(features + y), [2, 3]))
            weighted = array_shape.reshape(weights, [-1, length, 1, 1]) * hidden
            attended = array_shape.reshape(reduce.reduce_sum(weighted, [1, 2]), [-1, size])
            return attended, slicing.slice(memory, [0, 1, 0], [-1, -1, -1])
