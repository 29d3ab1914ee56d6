"""Recurrent cells: one step of a network, as `output, new_state = cell(inputs, state)`.

Variables are made on the first call, in the scope of the cell: `basic_lstm_cell/kernel`.
"""

from __future__ import annotations

from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape, as_shape
from weft.graph.constant import constant
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.layers.base import Layer
from weft.lib.layers.input_spec import InputSpec
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import shape as array_shape
from weft.ops.math import matmul
from weft.ops.nn import activations as nn_impl
from weft.ops.state import variable_scope as vs
from weft.ops.state.partitioned_variable import PartitionedVariable
from weft.ops.state.variables import trainable_variables

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
    """The shape `prefix + suffix`, as far as it is known now.

    Nodes are made for both and left unused, as TensorFlow leaves them: seeds are numbers of nodes.
    """
    _, before = _vector(prefix, "prefix")
    _, after = _vector(suffix, "suffix")
    return TensorShape(before).concatenate(TensorShape(after))


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


def size_of(x: Tensor, axis: int) -> Any:
    """A size, as a number if it is known."""
    return x.shape.as_list()[axis] or array_shape.shape(x)[axis]


def known_width(inputs: Tensor) -> int:
    """The number of columns, which the shapes of variables depend on."""
    width = inputs.shape.with_rank(2).as_list()[1]
    if width is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return width


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
        if scope is None:
            with self._first_scope():
                return super().__call__(inputs, state)
        with self._listing_scope(scope) as opened:
            return super().__call__(inputs, state, scope=opened)

    def _listing_scope(self, scope: Any) -> Any:
        return vs.variable_scope(scope, custom_getter=self._rnn_get_variable)

    def _first_scope(self) -> Any:
        """The scope that was open when the cell was first called."""
        if getattr(self, "rnncell_scope", None) is None:
            self.rnncell_scope = self._listing_scope(vs.get_variable_scope())
        return self.rnncell_scope

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
            batch_size, dtype = _batch_and_type(inputs, batch_size, dtype)
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype cannot be None while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """A state of zeros."""
        with self._zero_state_scope(batch_size):
            return zero_state_tensors(self.state_size, batch_size, dtype)

    def _zero_state_scope(self, batch_size: Any) -> Any:
        return name_scope(type(self).__name__ + "ZeroState", values=[batch_size])


def _batch_and_type(inputs: Any, batch_size: Any, dtype: Any) -> tuple[Any, Any]:
    """The batch size and the type of `inputs`; those given, if any, must be the same."""
    inputs = convert_to_tensor(inputs, name="inputs")
    found = inputs.shape.as_list()[0]
    given = constant_value(batch_size) if isinstance(batch_size, Tensor) else batch_size
    if batch_size is not None and given != found:
        raise ValueError(
            "batch size from input tensor is different from the input param. Input tensor batch: "
            f"{found}, batch_size: {batch_size}"
        )
    if dtype is not None and inputs.dtype != dtype:
        raise ValueError(
            "dtype from input tensor is different from the input param. Input tensor dtype: "
            f"{inputs.dtype}, dtype: {dtype}"
        )
    return found or array_shape.shape(inputs)[0], inputs.dtype


class CellAround(RNNCell):
    """A cell with another one inside, whose sizes and first state are also its own."""

    @property
    def _cell_inside(self) -> Any:
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        return self._cell_inside.state_size

    @property
    def output_size(self) -> Any:
        return self._cell_inside.output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with self._zero_state_scope(batch_size):
            return self._cell_inside.zero_state(batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in `build`, as other layers do."""

    def __call__(
        self, inputs: Any, state: Any, scope: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        return Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def _affine(self, parts: list[Any], kernel: Any, bias: Any) -> Tensor:
        return nn_impl.bias_add(matmul.matmul(array_join.concat(parts, 1), kernel), bias)


class FlatInputCell(LayerRNNCell):
    """A cell of [batch, depth] inputs."""

    def __init__(self, reuse: Any = None, **kwargs: Any) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
