"""ParseExample and ParseSingleExample: serialized tf.train.Example messages into tensors."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from weft.core.dtypes import DType
from weft.core.step_limits import long
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.kit.shared import invalid, positions
from weft.ops.kit.string_arrays import string
from weft.ops.strings.example_columns import columns, read_columns
from weft.ops.strings.example_wire import UNREADABLE, Fail, column, single, split, type_name

_TYPES = "{float, int64, string}"


def is_variable(dims: Dims) -> bool:
    """Whether a dense feature of this shape has as many rows as each example brings."""
    return bool(dims) and dims is not None and dims[0] is None


def row_size(dims: Dims) -> int:
    """How many values fill the shape, or a row of it."""
    return math.prod(d for d in dims or () if d is not None)


def other_type(dtype: DType) -> Any:
    """The message of a dense feature for values of another type."""
    return lambda actual: (
        f"Data types don't match. Data type: {type_name(actual)}"
        f" but expected type: {type_name(dtype)}"
    )


def other_sparse_type(dtype: DType) -> Any:
    return lambda actual: (
        f"Data types don't match. Expected type: {type_name(dtype)},"
        f" Actual type: {type_name(actual)}"
    )


def check_defaults(defaults: list[Any], shapes: list[Dims]) -> None:
    for d, (value, dims) in enumerate(zip(defaults, shapes, strict=True)):
        if is_variable(dims):
            if np.size(value) != 1:
                raise invalid(
                    f"dense_shape[{d}] is a variable length shape: {s.show(dims)}, therefore"
                    f" def_value[{d}] must contain a single element (the padding element). But its"
                    f" shape is: {s.show(np.shape(value))}"
                )
        elif np.size(value) and not _fits(np.shape(value), dims):
            raise invalid(
                f"def_value[{d}].shape() == {s.show(np.shape(value))} is not compatible with"
                f" dense_shapes_[{d}] == {s.show(dims)}"
            )


def _fits(shape: tuple[int, ...], dims: Dims) -> bool:
    return dims is None or (
        len(shape) == len(dims) and all(b in (a, None) for a, b in zip(shape, dims, strict=True))
    )


# ---- what can be wrong with an example -----------------------------------------------------------


def _kind(dtype: DType) -> str:
    return "bytes" if dtype.name == "string" else type_name(dtype)


def _wrong_size(dtype: DType, dims: Dims, count: int) -> str:
    return (
        f"Number of {_kind(dtype)} values != expected.  Values size: {count} but output shape:"
        f" {s.show(dims)}"
    )


def _wrong_stride(dtype: DType, dims: Dims, count: int) -> str:
    return (
        f"Number of {_kind(dtype)} values is not a multiple of stride length. Saw {count} values"
        f" but output shape is: {s.show(dims)}"
    )


def _require(default: Any, key: str, dtype: DType, where: str = "") -> None:
    if np.size(default) == 0:
        raise invalid(
            f"{where}Feature: {key} (data type: {type_name(dtype)}) is required but could not be"
            " found."
        )


# ---- features of one example ---------------------------------------------------------------------


class One:
    """The features of one example."""

    def __init__(self, features: Any) -> None:
        self.features = features

    def _values(self, key: str, dtype: DType, mismatch: Any) -> tuple[Any, Fail]:
        def fail(_: int, message: str) -> NoReturn:
            raise invalid(f"Key: {key}.  {message}")

        return single(self.features.get(key), dtype, fail, mismatch(dtype)), fail

    def sparse(self, key: str, dtype: DType) -> Any:
        values, _ = self._values(key, dtype, other_sparse_type)
        return np.empty(0, dtype.np_storage) if values is None else values

    def dense(self, key: str, dtype: DType, dims: Dims, default: Any) -> Any:
        values, fail = self._values(key, dtype, other_type)
        if values is None:
            _require(default, key, dtype)
            return default
        if len(values) != row_size(dims):
            self.refuse_size(key, dtype, dims, len(values), fail)
        return values.reshape(dims)

    def ragged(self, key: str, dtype: DType, dims: tuple[int | None, ...]) -> Any:
        values, fail = self._values(key, dtype, other_type)
        if values is None:
            return np.empty([0, *(d or 0 for d in dims[1:])], dtype.np_storage)
        if len(values) % row_size(dims):
            self.refuse_stride(key, dtype, dims, len(values), fail)
        return values.reshape(-1, *dims[1:])

    def refuse_size(self, key: str, dtype: DType, dims: Dims, count: int, fail: Fail) -> NoReturn:
        fail(0, UNREADABLE)

    def refuse_stride(self, key: str, dtype: DType, dims: Dims, count: int, fail: Fail) -> NoReturn:
        fail(0, UNREADABLE)

    def sparse_columns(self, keys: list[str], types: list[DType]) -> list[Any]:
        """Indices of all sparse features, then their values, then their shapes."""
        found = [self.sparse(key, dtype) for key, dtype in zip(keys, types, strict=True)]
        indices = [np.arange(len(values), dtype=np.int64)[:, None] for values in found]
        return [*indices, *found, *(np.array([len(values)], np.int64) for values in found)]

    def dense_columns(
        self, keys: list[str], types: list[DType], shapes: list[Any], defaults: list[Any]
    ) -> list[Any]:
        return [
            self.ragged(key, dtype, dims)
            if is_variable(dims)
            else self.dense(key, dtype, dims, default)
            for key, dtype, dims, default in zip(keys, types, shapes, defaults, strict=True)
        ]


# ---- features of a batch -------------------------------------------------------------------------


def _features(serialized: list[bytes]) -> list[Any]:
    return [each.features.feature for each in long(split(serialized))]


class Batch:
    """The features of some examples, which may have names."""

    def __init__(
        self, serialized: list[bytes], names: list[str], wanted: list[tuple[str, DType]]
    ) -> None:
        self.serialized, self.names = serialized, names
        self._known = read_columns(serialized, wanted)
        self.columns = None if self._known else columns(serialized)
        # By their keys; an error tells which example cannot be read.
        is_plain = self._known or self.columns is not None
        self._features = None if is_plain else _features(serialized)

    def _each(self, key: str) -> list[Any]:
        """The feature of each example, one by one."""
        if self._features is None:
            self._features = _features(self.serialized)
        return [each.get(key) for each in long(self._features)]

    def _name(self, index: int) -> str:
        return f"Name: {self.names[index] if self.names else '<unknown>'}, "

    def _column(self, key: str, dtype: DType, mismatch: Any) -> tuple[Any, Any, list[int], Fail]:
        def fail(index: int, message: str) -> NoReturn:
            raise invalid(f"{self._name(index)}Key: {key}, Index: {index}.  {message}")

        usual = self._known.get(key)
        if usual is None and self.columns is not None:
            usual = self.columns.values(key, dtype, fail)
        if usual is not None:
            return (*usual, [], fail)
        return (*column(self._each(key), dtype, fail, mismatch(dtype)), fail)

    def sparse(self, key: str, dtype: DType) -> tuple[Any, Any]:
        """All values of a feature, and how many each example has."""
        values, counts, *_ = self._column(key, dtype, other_sparse_type)
        return values, counts

    def dense(self, key: str, dtype: DType, dims: Dims, default: Any) -> Any:
        """A feature that has the same number of values in every example."""
        values, counts, missing, fail = self._column(key, dtype, other_type)
        shape: Any = tuple(dims or ())
        wrong = counts != row_size(dims)
        if missing:
            _require(default, key, dtype, self._name(missing[0]))
            wrong[missing] = False
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            fail(i, _wrong_size(dtype, dims, counts[i]))
        if not missing:
            return values.reshape(len(counts), *shape)
        out = np.empty((len(counts), *shape), dtype.np_storage)
        present = np.ones(len(counts), bool)
        present[missing] = False
        out[present] = values.reshape(-1, *shape)
        out[missing] = default
        return out

    def ragged(self, key: str, dtype: DType, dims: tuple[int | None, ...]) -> tuple[Any, Any]:
        """A feature of rows: all of them, and how many each example has."""
        values, counts, _, fail = self._column(key, dtype, other_type)
        stride = row_size(dims)
        for i in np.flatnonzero(counts % stride):
            fail(int(i), _wrong_stride(dtype, dims, counts[i]))
        return values.reshape(-1, *dims[1:]), counts // stride

    def sparse_columns(self, keys: list[str], types: list[DType]) -> list[Any]:
        """Indices of all sparse features, then their values, then their shapes."""
        found = [self.sparse(key, dtype) for key, dtype in zip(keys, types, strict=True)]
        return [
            *(positions(counts) for _, counts in found),
            *(values for values, _ in found),
            *(np.array([len(counts), counts.max(initial=0)], np.int64) for _, counts in found),
        ]

    def dense_columns(
        self, keys: list[str], types: list[DType], shapes: list[Any], defaults: list[Any]
    ) -> list[Any]:
        return [
            padded(*self.ragged(key, dtype, dims), np.ravel(default)[0], dtype)
            if is_variable(dims)
            else self.dense(key, dtype, dims, default)
            for key, dtype, dims, default in zip(keys, types, shapes, defaults, strict=True)
        ]


def padded(rows: Any, counts: Any, filler: Any, dtype: DType) -> Any:
    """Rows of several examples as [examples, most rows, ...], filled up with `filler`."""
    longest = int(counts.max(initial=0))
    out = np.full((len(counts), longest, *rows.shape[1:]), filler, dtype.np_storage)
    out[np.arange(longest) < counts[:, None]] = rows
    return out


# ---- operations ----------------------------------------------------------------------------------


def dense_dims(c: ShapeContext, batch: Dims) -> list[Dims]:
    return [
        s.concat(batch, (None, *dims[1:]) if is_variable(dims) else dims)
        for dims in c.attr("dense_shapes")
    ]


def _batch_shapes(c: ShapeContext) -> list[Dims]:
    batch = s.with_rank(c.dims(0), 1)
    count = len(c.attr("sparse_types"))
    sparse: list[Dims] = [(None, 2)] * count + [(None,)] * count + [(2,)] * count
    return sparse + dense_dims(c, batch)


def text(values: Any) -> list[str]:
    return [string(value).decode() for value in values]


@op(
    "ParseExample",
    inputs="serialized: string, names: string, sparse_keys: Nsparse * string,"
    " dense_keys: Ndense * string, dense_defaults: list(Tdense)",
    outputs="sparse_indices: Nsparse * int64, sparse_values: list(sparse_types),"
    " sparse_shapes: Nsparse * int64, dense_values: list(Tdense)",
    attrs=f"Nsparse: int >= 0, Ndense: int >= 0, sparse_types: list({_TYPES}) >= 0,"
    f" Tdense: list({_TYPES}) >= 0, dense_shapes: list(shape) >= 0",
    shape=_batch_shapes,
    traits=HOST,
)
def parse_example_(
    xp: Any, serialized: Any, names: Any, sparse_keys: Any, dense_keys: Any, dense_defaults: Any,
    *, sparse_types: Any, Tdense: Any, dense_shapes: Any,
) -> list[Any]:  # fmt: skip
    check_defaults(dense_defaults, dense_shapes)
    if serialized.ndim != 1:
        raise invalid(f"Expected serialized to be a vector, got shape: {s.show(serialized.shape)}")
    if len(names) not in (0, len(serialized)):
        raise invalid(
            f"Expected len(names) == len(serialized), but got: {len(names)} vs. {len(serialized)}"
        )
    sparse, dense = text(sparse_keys), text(dense_keys)
    batch = Batch(
        serialized.tolist(), [each.decode(errors="replace") for each in names],
        [*zip(sparse, sparse_types, strict=True), *zip(dense, Tdense, strict=True)],
    )  # fmt: skip
    return [
        *batch.sparse_columns(sparse, sparse_types),
        *batch.dense_columns(dense, Tdense, dense_shapes, dense_defaults),
    ]


def _single_shapes(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 0)
    count = c.attr("num_sparse")
    sparse: list[Dims] = [(None, 1)] * count + [(None,)] * count + [(1,)] * count
    return sparse + dense_dims(c, ())


@op(
    "ParseSingleExample",
    inputs="serialized: string, dense_defaults: list(Tdense)",
    outputs="sparse_indices: num_sparse * int64, sparse_values: list(sparse_types),"
    " sparse_shapes: num_sparse * int64, dense_values: list(Tdense)",
    attrs="num_sparse: int >= 0, sparse_keys: list(string) >= 0, dense_keys: list(string) >= 0,"
    f" sparse_types: list({_TYPES}) >= 0, Tdense: list({_TYPES}) >= 0,"
    " dense_shapes: list(shape) >= 0",
    shape=_single_shapes,
    traits=HOST,
)
def parse_single_example_(
    xp: Any, serialized: Any, dense_defaults: Any, *, sparse_keys: Any, dense_keys: Any,
    sparse_types: Any, Tdense: Any, dense_shapes: Any,
) -> list[Any]:  # fmt: skip
    check_defaults(dense_defaults, dense_shapes)
    if np.ndim(serialized):
        raise invalid(
            f"Expected serialized to be a scalar, got shape: {s.show(np.shape(serialized))}"
        )
    (example,) = split([string(serialized)])
    one = One(example.features.feature)
    return [
        *one.sparse_columns(sparse_keys, sparse_types),
        *one.dense_columns(dense_keys, Tdense, dense_shapes, dense_defaults),
    ]
