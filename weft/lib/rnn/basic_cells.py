"""The cells of tf.nn.rnn_cell: the basic one, GRU and LSTM."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.graph import Tensor
from weft.lib.keras import activations, initializers
from weft.lib.platform import tf_logging as logging
from weft.lib.rnn.cells import (
    BIAS,
    KERNEL,
    FlatInputCell,
    check_rnn_cell_input_dtypes,
    check_supported_dtypes,
    input_depth,
    known_width,
)
from weft.lib.rnn.gates import clipped, cut, mixed
from weft.ops.array import join as array_join
from weft.ops.array import slicing
from weft.ops.math import elementwise, matmul, unary
from weft.ops.math.math import sigmoid
from weft.ops.state.initializers import constant_initializer, zeros_initializer
from weft.ops.state.partitioners import fixed_size_partitioner


class _UnitCell(FlatInputCell):
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
        super().__init__(reuse, name=name, dtype=dtype, **kwargs)
        check_supported_dtypes(self.dtype)
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

    def _add_kernel_and_bias(
        self, scope: str, rows: int, columns: int, kernel: Any = None, bias: Any = None, **more: Any
    ) -> tuple[Any, Any]:
        """A kernel and a bias below `scope`, with these initializers."""
        if bias is None:
            bias = zeros_initializer(dtype=self.dtype or dtypes.float32)
        shape = [rows, columns]
        return (
            self.add_variable(scope + KERNEL, shape=shape, initializer=kernel, **more),
            self.add_variable(scope + BIAS, shape=[columns], initializer=bias),
        )

    def _build_gates(self, inputs_shape: Any, gates: int) -> None:
        rows = self._checked_depth(inputs_shape) + self._num_units
        self._kernel, self._bias = self._add_kernel_and_bias("", rows, gates * self._num_units)
        self.built = True

    # The names of further arguments that a cell like this one is made with.
    _more_config: tuple[str, ...] = ()

    def get_config(self) -> dict[str, Any]:
        config = {
            **super().get_config(),
            "num_units": self._num_units,
            "activation": activations.serialize(self._activation),
            "reuse": self._reuse,
        }
        for name in self._more_config:
            value = getattr(self, "_" + name)
            config[name] = initializers.serialize(value) if "initializer" in name else value
        return config


class BasicRNNCell(_UnitCell):
    """`output = new_state = activation([inputs, state] @ kernel + bias)`.

    Args:
        num_units: the size of state and output.
        activation: None: tanh.
        reuse: whether to share the variables of a cell of that name.
        name: of the layer.
        dtype: of the variables.
        **kwargs: further arguments of layers.

    Example:
        >>> cell = tf.nn.rnn_cell.BasicRNNCell(4)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output is state, output.shape.as_list()
        (True, [2, 4])
    """

    def build(self, input_shape: Any) -> None:
        self._build_gates(input_shape, 1)

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        check_rnn_cell_input_dtypes([inputs, state])
        output = self._activation(self._affine([inputs, state], self._kernel, self._bias))
        return output, output


class GRUCell(_UnitCell):
    """A gated recurrent unit: gates r and u, and a candidate that r lets see the state.

    Args:
        num_units: the size of state and output.
        activation: of the candidate; None: tanh.
        reuse: whether to share the variables of a cell of that name.
        kernel_initializer, bias_initializer: first values of weights and biases.
        name: of the layer.
        dtype: of the variables.
        **kwargs: further arguments of layers.

    Example:
        >>> cell = tf.nn.rnn_cell.GRUCell(4)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output.shape.as_list(), cell.state_size
        ([2, 4], 4)
    """

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

    def build(self, input_shape: Any) -> None:
        rows = self._checked_depth(input_shape) + self._num_units
        # Gates start open: the state is kept until the cell learns otherwise.
        ones = constant_initializer(1.0, dtype=self.dtype or dtypes.float32)
        self._gate_kernel, self._gate_bias = self._pair("gates", rows, 2 * self._num_units, ones)
        self._candidate_kernel, self._candidate_bias = self._pair(
            "candidate", rows, self._num_units, None
        )
        self.built = True

    def _pair(self, name: str, rows: int, columns: int, bias: Any) -> tuple[Any, Any]:
        given = self._bias_initializer
        start = bias if given is None else given
        return self._add_kernel_and_bias(f"{name}/", rows, columns, self._kernel_initializer, start)

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        check_rnn_cell_input_dtypes([inputs, state])
        return gru_step(self, self._activation, inputs, state)

    _more_config = ("kernel_initializer", "bias_initializer")


def gru_step(cell: Any, activation: Any, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
    """Output and state, which are the same, with the variables of `cell`."""
    gates = sigmoid(cell._affine([inputs, state], cell._gate_kernel, cell._gate_bias))
    r, u = cut(gates, 2)
    c = activation(cell._affine([inputs, r * state], cell._candidate_kernel, cell._candidate_bias))
    new_h = mixed(u, state, c)
    return new_h, new_h


class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: its memory `c` and its output `h`."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class JoinableState:
    """The base of LSTMs whose state may also be one tensor, memory and output side by side."""

    _num_units: int

    def _set_state(self, output_size: int, state_is_tuple: bool) -> None:
        self._output_size, self._state_is_tuple = output_size, state_is_tuple
        if not state_is_tuple:
            logging.warn(
                "%s: Using a concatenated state is slower and will soon be deprecated.  Use "
                "state_is_tuple=True.",
                self,
            )

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self._num_units, self._output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    def _split_state(self, state: Any) -> Any:
        if self._state_is_tuple:
            return state
        units = self._num_units
        starts_and_sizes = (0, units), (units, self._output_size)
        return [slicing.slice(state, [0, at], [-1, size]) for at, size in starts_and_sizes]

    def _join_state(self, c: Tensor, h: Tensor) -> Any:
        return LSTMStateTuple(c, h) if self._state_is_tuple else array_join.concat([c, h], 1)


def lstm_step(
    activation: Any, forget_bias: float, c: Any, i: Any, j: Any, f: Any, o: Any
) -> tuple[Tensor, Tensor]:
    """The new memory and the output, from the memory and the sums that come to the gates."""
    add, multiply = elementwise.add, elementwise.multiply
    kept = multiply(c, sigmoid(add(f, constant(forget_bias, dtype=f.dtype))))
    new_c = add(kept, multiply(sigmoid(i), activation(j)))
    return new_c, multiply(activation(new_c), sigmoid(o))


class BasicLSTMCell(JoinableState, _UnitCell):
    """An LSTM without peepholes, clipping or projection.

    Args:
        num_units: the size of memory and output.
        forget_bias: added to the forget gate, so that little is forgotten at first.
        state_is_tuple: whether a state is an `LSTMStateTuple`, and not one joined tensor.
        activation: of the candidate and the output; None: tanh.
        reuse: whether to share the variables of a cell of that name.
        name: of the layer.
        dtype: of the variables.
        **kwargs: further arguments of layers.

    Example:
        >>> cell = tf.nn.rnn_cell.BasicLSTMCell(4)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output.shape.as_list(), cell.state_size
        ([2, 4], LSTMStateTuple(c=4, h=4))
    """

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
        self._set_state(num_units, state_is_tuple)
        self._forget_bias = forget_bias

    def build(self, input_shape: Any) -> None:
        self._build_gates(input_shape, 4)

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        check_rnn_cell_input_dtypes([inputs, state])
        axis = constant(1, dtype=dtypes.int32)
        c, h = state if self._state_is_tuple else cut(state, 2, axis)
        gates = cut(self._affine([inputs, h], self._kernel, self._bias), 4, axis)
        c, h = lstm_step(self._activation, self._forget_bias, c, *gates)
        return h, self._join_state(c, h)

    _more_config = ("forget_bias", "state_is_tuple")


class LSTMCell(JoinableState, _UnitCell):
    """An LSTM with optional peepholes, clipped memory and a projected output.

    Args:
        num_units: the size of the memory.
        use_peepholes: whether gates see the memory.
        cell_clip: the largest magnitude in the memory; None: any.
        initializer: of the weights.
        num_proj: the size of the output, if it is projected.
        proj_clip: the largest magnitude of a projected output; None: any.
        num_unit_shards, num_proj_shards: deprecated; use a partitioner.
        forget_bias: added to the forget gate, so that little is forgotten at first.
        state_is_tuple: whether a state is an `LSTMStateTuple`, and not one joined tensor.
        activation: of the candidate and the output; None: tanh.
        reuse: whether to share the variables of a cell of that name.
        name: of the layer.
        dtype: of the variables.
        **kwargs: further arguments of layers.

    Example:
        >>> cell = tf.nn.rnn_cell.LSTMCell(8, num_proj=4)
        >>> output, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
        >>> output.shape.as_list(), cell.state_size
        ([2, 4], LSTMStateTuple(c=8, h=4))
    """

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
        self._set_state(num_proj or num_units, state_is_tuple)
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
        self._forget_bias = forget_bias

    @property
    def output_size(self) -> int:
        return self._output_size

    def build(self, input_shape: Any) -> None:
        depth, units = self._checked_depth(input_shape), self._num_units
        rows = depth + (units if self._num_proj is None else self._num_proj)
        shards = _shards(self._num_unit_shards)
        self._kernel, self._bias = self._add_kernel_and_bias(
            "", rows, 4 * units, self._initializer, partitioner=shards
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
        c, m = self._split_state(state)
        known_width(inputs)
        i, j, f, o = cut(self._affine([inputs, m], self._kernel, self._bias), 4)
        kept = sigmoid(self._peeping("f", f + self._forget_bias, c)) * c
        let_in = sigmoid(self._peeping("i", i, c)) * self._activation(j)
        c = clipped(kept + let_in, self._cell_clip)
        m = sigmoid(self._peeping("o", o, c)) * self._activation(c)
        if self._num_proj is not None:
            m = clipped(matmul.matmul(m, self._proj_kernel), self._proj_clip)
        return m, self._join_state(c, m)

    def _peeping(self, name: str, gate: Tensor, c: Tensor) -> Tensor:
        """The sum that comes to a gate, with what it sees of the memory if it has a peephole."""
        return gate + getattr(self, f"_w_{name}_diag") * c if self._use_peepholes else gate

    _more_config = (
        "use_peepholes", "cell_clip", "initializer", "num_proj", "proj_clip", "num_unit_shards",
        "num_proj_shards", "forget_bias", "state_is_tuple",
    )  # fmt: skip


def _shards(count: int | None) -> Any:
    return None if count is None else fixed_size_partitioner(count)
