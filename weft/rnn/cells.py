"""Recurrent cells: one step of a network, as `output, new_state = cell(inputs, state)`.

Variables are made on the first call, in the scope of the cell: `basic_lstm_cell/kernel`.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape, as_shape
from weft.graph.constant import constant
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.layers import named
from weft.layers.base import Layer
from weft.layers.input_spec import InputSpec
from weft.ops import (
    array_fill,
    array_join,
    array_shape,
    clip,
    elementwise,
    matmul,
    nn_impl,
    strided,
    unary,
)
from weft.ops import variable_scope as vs
from weft.ops.initializers import constant_initializer, zeros_initializer
from weft.ops.math import sigmoid
from weft.ops.partitioned_variable import PartitionedVariable
from weft.ops.partitioners import fixed_size_partitioner
from weft.ops.variables import trainable_variables
from weft.platform import tf_logging as logging

BIAS, KERNEL = "bias", "kernel"


# ---- states and sizes -------------------------------------------------------------------------


def _has(obj: Any, name: str) -> bool:
    """Whether the attribute exists; a property that raises something else does."""
    try:
        getattr(obj, name)
    except AttributeError:
        return False
    except NotImplementedError:
        return True
    return True


def assert_like_rnncell(cell_name: str, cell: Any) -> None:
    """Raises TypeError unless `cell` has what the loops use of a cell."""
    needed = {
        "'output_size' property is missing": _has(cell, "output_size"),
        "'state_size' property is missing": _has(cell, "state_size"),
        "either 'zero_state' or 'get_initial_state' method is required": _has(cell, "zero_state")
        or _has(cell, "get_initial_state"),
        "is not callable": callable(cell),
    }
    wrong = [message for message, holds in needed.items() if not holds]
    if wrong:
        raise TypeError(
            f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(wrong)}."
        )


def _vector(size: Any, what: str) -> tuple[Any, list[Any] | None]:
    """A size or shape as (tensor or None, what is known of it)."""
    if isinstance(size, Tensor):
        known = constant_value(size)
        if size.shape.ndims == 0:
            size = array_shape.expand_dims(size, 0)
            known = None if known is None else [int(known)]
            return size, [None] if known is None else known
        if size.shape.ndims != 1:
            raise ValueError(
                f"{what} tensor must be either a scalar or vector, but saw tensor: {size}"
            )
        return size, None if known is None else [int(n) for n in known]
    shape = as_shape(size)
    known = None if shape.ndims is None else shape.as_list()
    if not shape.is_fully_defined():
        return None, known
    return constant(shape.as_list(), dtype=dtypes.int32), known


def concat_shape(prefix: Any, suffix: Any) -> Tensor:
    """The shape `prefix + suffix`, as a tensor."""
    before, _ = _vector(prefix, "prefix")
    after, _ = _vector(suffix, "suffix")
    if before is None or after is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return array_join.concat((before, after), 0)


def concat_static(prefix: Any, suffix: Any) -> TensorShape:
    """What is known now of the shape `prefix + suffix`."""

    def known(size: Any) -> TensorShape:
        if isinstance(size, Tensor):
            value = constant_value(size)
            if size.shape.ndims == 0:
                return TensorShape([None if value is None else int(value)])
            return TensorShape(None if value is None else [int(n) for n in value])
        return as_shape(size)

    return known(prefix).concatenate(known(suffix))


def zero_state_tensors(state_size: Any, batch_size: Any, dtype: Any) -> Any:
    """Zeros of shape [batch_size, ...] for every size in `state_size`."""

    def zeros(size: Any) -> Tensor:
        made = array_fill.zeros(concat_shape(batch_size, size), dtype=dtype)
        made.set_shape(concat_static(batch_size, size))
        return made

    return nest.map_structure(zeros, state_size)


def check_supported_dtypes(dtype: Any) -> None:
    if dtype is None:
        return
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError(f"RNN cell only supports floating point inputs, but saw dtype: {dtype}")


def check_rnn_cell_input_dtypes(inputs: Any) -> None:
    for tensor in nest.flatten(inputs):
        check_supported_dtypes(tensor.dtype)


def input_depth(inputs_shape: Any) -> int:
    """The last size of the inputs, which fixes the shape of a cell's kernel."""
    depth = TensorShape(inputs_shape).as_list()[-1]
    if depth is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
    return depth


# ---- what every cell has ----------------------------------------------------------------------


class RNNCell(Layer):
    """The base of cells: sizes of state and output, and a first state.

    A subclass may simply call `get_variable` in `call`: the variables it gets are listed as the
    cell's own.
    """

    def __init__(
        self, trainable: bool = True, name: Any = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._is_tf_rnn_cell = True

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        if scope is not None:
            with vs.variable_scope(scope, custom_getter=self._rnn_get_variable) as opened:
                return super().__call__(inputs, state, scope=opened)
        kept = getattr(self, "rnncell_scope", None)
        if kept is None:
            kept = vs.variable_scope(vs.get_variable_scope(), custom_getter=self._rnn_get_variable)
            self.rnncell_scope = kept
        with kept:
            return super().__call__(inputs, state)

    def _rnn_get_variable(self, getter: Any, *args: Any, **kwargs: Any) -> Any:
        variable = getter(*args, **kwargs)
        part = next(iter(variable)) if isinstance(variable, PartitionedVariable) else variable
        trained = any(part is known for known in trainable_variables())
        listed = self._trainable_weights if trained else self._non_trainable_weights
        if all(variable is not known for known in listed):
            listed.append(variable)
        return variable

    @property
    def state_size(self) -> Any:
        """The size or shape of each part of the state, without the batch."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size or shape of each output, without the batch."""
        raise NotImplementedError("Abstract method")

    def build(self, _: Any) -> None:
        """Most cells get their variables when called."""

    def get_initial_state(
        self, inputs: Any = None, batch_size: Any = None, dtype: Any = None
    ) -> Any:
        """Zeros for a batch like `inputs`, or of the given size and type."""
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            found = inputs.shape.as_list()[0]
            if batch_size is not None:
                given = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
                if found != given:
                    raise ValueError(
                        "batch size from input tensor is different from the input param. Input "
                        f"tensor batch: {found}, batch_size: {batch_size}"
                    )
            if dtype is not None and inputs.dtype != dtype:
                raise ValueError(
                    "dtype from input tensor is different from the input param. Input tensor "
                    f"dtype: {inputs.dtype}, dtype: {dtype}"
                )
            batch_size = found or array_shape.shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return zero_state_tensors(self.state_size, batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as other layers do."""

    def __call__(
        self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def _affine(self, parts: list[Any], kernel: Any, bias: Any) -> Tensor:
        return nn_impl.bias_add(matmul.matmul(array_join.concat(parts, 1), kernel), bias)


# ---- cells ------------------------------------------------------------------------------------


class BasicRNNCell(LayerRNNCell):
    """`output = new_state = activation([inputs, state] @ kernel + bias)`."""

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
        self._activation = named.activation(activation) or unary.tanh

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        depth = input_depth(inputs_shape)
        check_supported_dtypes(self.dtype)
        self._kernel = self.add_variable(KERNEL, shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable(
            BIAS, shape=[self._num_units], initializer=zeros_initializer(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Tensor]:
        check_rnn_cell_input_dtypes([inputs, state])
        output = self._activation(self._affine([inputs, state], self._kernel, self._bias))
        return output, output

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "activation": named.activation_name(self._activation),
            "reuse": self._reuse,
        }


class GRUCell(LayerRNNCell):
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
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_supported_dtypes(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = named.activation(activation) or unary.tanh
        self._kernel_initializer = named.initializer(kernel_initializer)
        self._bias_initializer = named.initializer(bias_initializer)

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        rows = input_depth(inputs_shape) + self._num_units
        check_supported_dtypes(self.dtype)
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
        gates = sigmoid(self._affine([inputs, state], self._gate_kernel, self._gate_bias))
        r, u = array_join.split(value=gates, num_or_size_splits=2, axis=1)
        c = self._activation(
            self._affine([inputs, r * state], self._candidate_kernel, self._candidate_bias)
        )
        new_h = u * state + (1 - u) * c
        return new_h, new_h

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "kernel_initializer": named.initializer_config(self._kernel_initializer),
            "bias_initializer": named.initializer_config(self._bias_initializer),
            "activation": named.activation_name(self._activation),
            "reuse": self._reuse,
        }


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


class BasicLSTMCell(LayerRNNCell):
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
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_supported_dtypes(self.dtype)
        if not state_is_tuple:
            _warn_of_joined_state(self)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._forget_bias = num_units, forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = named.activation(activation) or unary.tanh

    @property
    def state_size(self) -> Any:
        n = self._num_units
        return LSTMStateTuple(n, n) if self._state_is_tuple else 2 * n

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        depth = input_depth(inputs_shape)
        check_supported_dtypes(self.dtype)
        self._kernel = self.add_variable(
            KERNEL, shape=[depth + self._num_units, 4 * self._num_units]
        )
        self._bias = self.add_variable(
            BIAS, shape=[4 * self._num_units], initializer=zeros_initializer(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        check_rnn_cell_input_dtypes([inputs, state])
        one = constant(1, dtype=dtypes.int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = array_join.split(value=state, num_or_size_splits=2, axis=one)
        gates = self._affine([inputs, h], self._kernel, self._bias)
        i, j, f, o = array_join.split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        add, multiply = elementwise.add, elementwise.multiply
        new_c = add(
            multiply(c, sigmoid(add(f, forget_bias))),
            multiply(sigmoid(i), self._activation(j)),
        )
        new_h = multiply(self._activation(new_c), sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, array_join.concat([new_c, new_h], 1)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_units": self._num_units,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
            "activation": named.activation_name(self._activation),
            "reuse": self._reuse,
        }


class LSTMCell(LayerRNNCell):
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
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        check_supported_dtypes(self.dtype)
        if not state_is_tuple:
            _warn_of_joined_state(self)
        if num_unit_shards is not None or num_proj_shards is not None:
            logging.warn(
                "%s: The num_unit_shards and proj_unit_shards parameters are deprecated. Use a "
                "variable scope with a partitioner instead.",
                self,
            )
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._num_proj = num_units, num_proj
        self._use_peepholes = use_peepholes
        self._cell_clip, self._proj_clip = cell_clip, proj_clip
        self._initializer = named.initializer(initializer)
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = named.activation(activation) or unary.tanh
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
        depth = input_depth(inputs_shape)
        check_supported_dtypes(self.dtype)
        units = self._num_units
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
            c_prev = strided.slice(state, [0, 0], [-1, self._num_units])
            m_prev = strided.slice(state, [0, self._num_units], [-1, self._output_size])
        if inputs.shape.with_rank(2).as_list()[1] is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = self._affine([inputs, m_prev], self._kernel, self._bias)
        i, j, f, o = array_join.split(value=gates, num_or_size_splits=4, axis=1)
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
            "num_units": self._num_units,
            "use_peepholes": self._use_peepholes,
            "cell_clip": self._cell_clip,
            "initializer": named.initializer_config(self._initializer),
            "num_proj": self._num_proj,
            "proj_clip": self._proj_clip,
            "num_unit_shards": self._num_unit_shards,
            "num_proj_shards": self._num_proj_shards,
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
            "activation": named.activation_name(self._activation),
            "reuse": self._reuse,
        }


def _shards(count: int | None) -> Any:
    return None if count is None else fixed_size_partitioner(count)
