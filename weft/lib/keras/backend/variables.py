"""Variables, placeholders and constants, with Keras's type where none is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import constant as make_constant
from weft.graph.graph import Tensor, init_scope
from weft.graph.slices import SparseTensor
from weft.lib.keras.backend.config import floatx
from weft.lib.keras.backend.graph_state import track_variable
from weft.lib.keras.backend.symbolic import in_model_graph
from weft.ops.array import array
from weft.ops.linalg import linalg
from weft.ops.math import casts
from weft.ops.sparse import convert as sparse_convert
from weft.ops.state import initializers
from weft.ops.state import updates as state
from weft.ops.state.resource_variable import ResourceVariable
from weft.ops.state.variables import Variable


def is_sparse(tensor: Any) -> bool:
    """Whether a tensor is a SparseTensor."""
    return isinstance(tensor, SparseTensor)


def to_dense(tensor: Any) -> Any:
    """`tensor`, dense if it was sparse."""
    return sparse_convert.sparse_tensor_to_dense(tensor) if is_sparse(tensor) else tensor


def is_keras_tensor(x: Any) -> bool:
    """Whether `x` came out of a Keras layer or of `Input`."""
    if not isinstance(x, (Tensor, Variable, SparseTensor)):
        raise ValueError(
            f"Unexpectedly found an instance of type `{type(x)}`. Expected a symbolic tensor "
            "instance."
        )
    return hasattr(x, "_keras_history")


def is_placeholder(x: Any) -> bool:
    """Whether values have to be fed to `x`."""
    if is_sparse(x):
        return any(is_placeholder(part) for part in (x.indices, x.values, x.dense_shape))
    if hasattr(x, "nested_row_splits"):
        return any(is_placeholder(part) for part in (x.flat_values, *x.nested_row_splits))
    return getattr(getattr(x, "op", None), "type", None) == "Placeholder"


def variable(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """A variable that starts as `value` and that Keras initializes."""
    if hasattr(value, "tocoo"):
        return _from_scipy(value.tocoo())
    made = ResourceVariable(
        value, dtype=dtypes.as_dtype(dtype or floatx()), name=name, constraint=constraint
    )
    track_variable(made)
    return made


def _from_scipy(matrix: Any) -> SparseTensor:
    indices = np.stack([matrix.row, matrix.col], axis=1).astype(np.int64)
    return SparseTensor(indices, matrix.data, matrix.shape)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Tensor:
    """A constant, by default of Keras's type of floats."""
    return make_constant(value, dtype=dtype or floatx(), shape=shape, name=name or "Const")


@in_model_graph
def placeholder(
    shape: Any = None,
    ndim: int | None = None,
    dtype: Any = None,
    sparse: bool = False,
    name: str | None = None,
    ragged: bool = False,
) -> Any:
    """A tensor to be fed; of rank `ndim` where no shape is given."""
    if sparse and ragged:
        raise ValueError("Cannot set both sparse and ragged to True when creating a placeholder.")
    dtype = dtypes.as_dtype(dtype or floatx())
    if not shape and ndim:
        shape = (None,) * ndim
    if sparse:
        return array.sparse_placeholder(dtype, shape=shape, name=name)
    if ragged:
        return _ragged_placeholder(dtype, tuple(shape), name)
    return array.placeholder(dtype, shape=shape, name=name)


def _ragged_placeholder(dtype: Any, shape: tuple[Any, ...], name: str | None) -> Any:
    """A ragged placeholder: leading unknown sizes, after the first, differ from row to row."""
    from weft.lib.ragged import constant as ragged

    ragged_rank = next((i for i, d in enumerate(shape[1:]) if d is not None), len(shape) - 1)
    return ragged.placeholder(
        dtype=dtype, ragged_rank=ragged_rank, value_shape=shape[ragged_rank + 1 :], name=name
    )


def _filled(fill: Any, shape: Any, dtype: Any, name: str | None) -> Any:
    dtype = dtypes.as_dtype(dtype or floatx())
    with init_scope():
        value = fill(shape=shape, dtype=dtype, name=name)
        # A variable needs a known size, and none is needed to hold nothing.
        return variable(value, dtype, name) if all(value.shape.as_list()) else value


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of zeros."""
    return _filled(array.zeros, shape, dtype, name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A variable of ones."""
    return _filled(array.ones, shape, dtype, name)


def eye(size: int, dtype: Any = None, name: str | None = None) -> Any:
    """A variable that starts as the identity matrix."""
    dtype = dtypes.as_dtype(dtype or floatx())
    return variable(linalg.eye(size, dtype=dtype), dtype, name)


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A tensor of zeros in the shape of `x`."""
    return array.zeros_like(x, dtype=dtype, name=name)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """A variable of ones in the shape of `x`."""
    return array.ones_like(x, dtype=dtype, name=name)


def identity(x: Any, name: str | None = None) -> Tensor:
    return array.identity(x, name=name)


def numpy_seed(seed: int | None) -> int:
    """`seed`, or one from NumPy's generator, so that seeding that one is enough."""
    return int(np.random.randint(10**9)) if seed is None else seed


def random_uniform_variable(
    shape: Any,
    low: float,
    high: float,
    dtype: Any = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """A variable that starts uniform between `low` and `high`."""
    dtype = dtypes.as_dtype(dtype or floatx())
    start = initializers.RandomUniform(low, high, dtype=dtype, seed=numpy_seed(seed))(shape)
    return variable(start, dtype, name)


def random_normal_variable(
    shape: Any,
    mean: float,
    scale: float,
    dtype: Any = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """A variable that starts normal around `mean`."""
    dtype = dtypes.as_dtype(dtype or floatx())
    start = initializers.RandomNormal(mean, scale, dtype=dtype, seed=numpy_seed(seed))(shape)
    return variable(start, dtype, name)


# ---- about a tensor ----


def shape(x: Any) -> Tensor:
    """The shape of `x`, as a tensor."""
    return array.shape(x)


def int_shape(x: Any) -> Any:
    """The static shape of `x`, or None if not even its rank is known."""
    shape = x.shape
    if isinstance(shape, tuple):
        return shape
    return None if shape.ndims is None else tuple(shape.as_list())


def ndim(x: Any) -> Any:
    """The rank of `x`, or None if it is not known."""
    return x.shape.ndims


def dtype(x: Any) -> str:
    """The name of the type of `x`."""
    return x.dtype.base_dtype.name


def count_params(x: Any) -> Any:
    """The number of elements of `x`."""
    return np.prod(x.shape.as_list())


def cast(x: Any, dtype: Any) -> Any:
    """A tensor in another type."""
    return casts.cast(x, dtype)


# ---- updates ----


def update(x: Any, new_x: Any) -> Any:
    """Assigns `new_x` to the variable `x`."""
    return state.assign(x, new_x)


def update_add(x: Any, increment: Any) -> Any:
    """Adds `increment` to a variable, and gives the new value."""
    return state.assign_add(x, increment)


def update_sub(x: Any, decrement: Any) -> Any:
    """Subtracts `decrement` from a variable, and gives the new value."""
    return state.assign_sub(x, decrement)


def moving_average_update(x: Any, value: Any, momentum: Any) -> Any:
    """Moves `x` towards `value`, corrected for having started at zero."""
    from weft.lib.train.optimizers import moving_averages

    return moving_averages.assign_moving_average(x, value, momentum, zero_debias=True)
