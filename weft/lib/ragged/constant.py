"""tf.ragged.constant, constant_value and placeholder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import MAX_RANK, TensorShape
from weft.graph.constant import constant as dense_constant
from weft.graph.graph import name_scope
from weft.lib.ragged.tensor import RaggedTensor, is_ragged
from weft.lib.ragged.value import RaggedTensorValue
from weft.ops.array.array import placeholder as dense_placeholder


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A ragged tensor of nested lists; dense if they are not nested."""

    def ragged(values: Any, splits: list[int]) -> RaggedTensor:
        made = dense_constant(splits, dtypes.as_dtype(row_splits_dtype))
        return RaggedTensor.from_row_splits(values, made, validate=False)

    with name_scope(name, "RaggedConstant"):
        return _constant(ragged, dense_constant, pylist, dtype, ragged_rank, inner_shape)


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A RaggedTensorValue of nested lists; an array if they are not nested."""
    if isinstance(dtype, dtypes.DType):
        dtype = dtype.as_numpy_dtype
    splits_dtype = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype

    def dense(values: Any, dtype: Any, shape: Any, name: str | None = None) -> np.ndarray:
        return np.reshape(
            np.array(values, dtype=dtype), np.shape(values) if shape is None else shape
        )

    def ragged(values: Any, splits: list[int]) -> RaggedTensorValue:
        return RaggedTensorValue(values, np.array(splits, dtype=splits_dtype))

    return _constant(ragged, dense, pylist, dtype, ragged_rank, inner_shape)


def _is_nested(item: Any) -> bool:
    return isinstance(item, (list, tuple)) or np.ndim(item) != 0


def _constant(
    ragged: Callable[..., Any],
    dense: Callable[..., Any],
    pylist: Any,
    dtype: Any,
    ragged_rank: int | None,
    inner_shape: Any,
) -> Any:
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if not _is_nested(pylist):
        return _scalar(dense, pylist, dtype, ragged_rank, inner_shape)
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    if ragged_rank is not None and ragged_rank > MAX_RANK:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be at most {MAX_RANK}")
    depth, deepest = _depths(pylist)
    _check_depths(pylist, depth, deepest, ragged_rank, inner_shape)
    inner_rank = 0 if inner_shape is None else len(inner_shape)
    if ragged_rank == 0 or (ragged_rank is None and deepest - inner_rank < 2):
        return dense(pylist, dtype, inner_shape)
    if inner_shape is None:
        inner_shape = () if ragged_rank is None else _inner_shape(pylist, ragged_rank)
    if ragged_rank is None:
        ragged_rank = max(1, deepest - 1 if depth is None else depth - 1 - len(inner_shape))
    nested, values = [], pylist
    for _ in range(ragged_rank):
        nested.append([0, *np.cumsum([len(row) for row in values]).tolist()])
        values = [item for row in values for item in row]
    result = dense(values, dtype=dtype, shape=(len(values), *inner_shape), name="values")
    for splits in reversed(nested):
        result = ragged(result, splits)
    return result


def _scalar(dense: Any, value: Any, dtype: Any, ragged_rank: Any, inner_shape: Any) -> Any:
    if ragged_rank:
        raise ValueError(f"Invalid pylist={value!r}: incompatible with ragged_rank={ragged_rank}")
    if inner_shape:
        raise ValueError(
            f"Invalid pylist={value!r}: incompatible with dim(inner_shape)={len(inner_shape)}"
        )
    return dense(value, dtype, ())


def _depths(item: Any) -> tuple[int | None, int]:
    """(how deep scalars are, None if there are none; how deep the deepest list is)"""
    if not _is_nested(item):
        return 0, 0
    scalars: set[int] = set()
    deepest = 1
    for child in item:
        below, most = _depths(child)
        deepest = max(deepest, most + 1)
        if below is not None:
            scalars.add(below + 1)
    if len(scalars) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return (scalars.pop() if scalars else None), deepest


def _check_depths(
    pylist: Any, depth: int | None, deepest: int, ragged_rank: int | None, inner_shape: Any
) -> None:
    if depth is not None and deepest > depth:
        raise ValueError(
            f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting"
        )
    if inner_shape is None or ragged_rank is None:
        return
    expected = ragged_rank + len(inner_shape) + 1
    fits = expected >= deepest if depth is None else expected == depth
    if not fits:
        raise ValueError(
            f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
            f"dim(inner_shape)={len(inner_shape)}"
        )


def _inner_shape(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The shape of what is below the ragged dimensions, which must be one for all."""
    values = pylist
    for level in range(ragged_rank):
        if not all(map(_is_nested, values)):
            raise ValueError(
                f"pylist has scalar values depth {level + 1}, but ragged_rank={ragged_rank} "
                f"requires scalar value depth greater than {ragged_rank}"
            )
        values = [item for row in values for item in row]
    shape = _shape_of(values)
    _check_shape(values, shape)
    return shape[1:]


def _shape_of(item: Any) -> tuple[int, ...]:
    if not _is_nested(item):
        return ()
    return (len(item), *_shape_of(item[0])) if len(item) else (0,)


def _check_shape(item: Any, shape: tuple[int, ...]) -> None:
    nested = _is_nested(item)
    if nested != bool(shape) or (nested and shape[0] != len(item)):
        raise ValueError("inner values have inconsistent shape")
    for child in item if nested else ():
        _check_shape(child, shape[1:])


def placeholder(
    dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None
) -> Any:
    """A ragged tensor that has to be fed."""
    if ragged_rank == 0:
        return dense_placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        whole: Any = dense_placeholder(
            dtype, TensorShape([None]).concatenate(value_shape), "flat_values"
        )
        while ragged_rank > 0:
            ragged_rank -= 1
            splits = dense_placeholder(dtypes.int64, [None], f"row_splits_{ragged_rank}")
            whole = RaggedTensor.from_row_splits(whole, splits, validate=False)
        return whole
