"""ParseExample and ParseSingleExample: serialized tf.train.Example messages into tensors."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.kernels import invalid
from weft.ops.parsing_wire import Fail, column, split, string, type_name

_TYPES = "{float, int64, string}"


def is_variable(dims: Dims) -> bool:
    """Whether a dense feature of this shape has as many rows as each example brings."""
    return bool(dims) and dims is not None and dims[0] is None


def _size(dims: Dims) -> int:
    return int(np.prod([d for d in dims or () if d is not None], dtype=np.int64))


def other_type(dtype: DType) -> Any:
    """What a dense feature says to values of another type."""
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


# ---- features of a batch -------------------------------------------------------------------------


class Batch:
    """The features of some examples, and how an error in one of them reads."""

    def __init__(self, features: list[Any], names: list[str] | None) -> None:
        self.features, self.names = features, names

    def _fail(self, key: str) -> Fail:
        def fail(index: int, message: str) -> NoReturn:
            where = "" if self.names is None else f"Name: {self._name(index)}, "
            position = "" if self.names is None else f", Index: {index}"
            raise invalid(f"{where}Key: {key}{position}.  {message}")

        return fail

    def _name(self, index: int) -> str:
        return self.names[index] if self.names else "<unknown>"

    def _column(self, key: str, dtype: DType, mismatch: Any) -> tuple[Any, Any, list[int]]:
        found = [each.get(key) for each in self.features]
        return column(found, dtype, self._fail(key), mismatch)

    def sparse(self, key: str, dtype: DType) -> tuple[Any, Any]:
        """All values of a feature, and how many each example has."""
        values, counts, _ = self._column(key, dtype, other_sparse_type(dtype))
        return values, counts

    def dense(self, key: str, dtype: DType, dims: Dims, default: Any) -> Any:
        """A feature that has the same number of values in every example."""
        values, counts, missing = self._column(key, dtype, other_type(dtype))
        shape, size = tuple(dims or ()), _size(dims)
        wrong = counts != size
        if missing:
            self._require(key, dtype, default, missing[0])
            wrong[missing] = False
        if np.any(wrong):
            self._refuse_size(key, dtype, dims, int(np.flatnonzero(wrong)[0]), counts)
        if not missing:
            return values.reshape(len(counts), *shape)
        out = np.empty((len(counts), *shape), dtype.np_storage)
        present = np.ones(len(counts), bool)
        present[missing] = False
        out[present] = values.reshape(-1, *shape)
        out[missing] = default
        return out

    def _require(self, key: str, dtype: DType, default: Any, index: int) -> None:
        if np.size(default) == 0:
            name = "" if self.names is None else f"Name: {self._name(index)}, "
            raise invalid(
                f"{name}Feature: {key} (data type: {type_name(dtype)}) is required but could not"
                " be found."
            )

    def _refuse_size(self, key: str, dtype: DType, dims: Dims, i: int, counts: Any) -> NoReturn:
        kind = "bytes" if dtype.name == "string" else type_name(dtype)
        self._fail(key)(
            i,
            f"Number of {kind} values != expected.  Values size: {counts[i]} but output shape:"
            f" {s.show(dims)}",
        )

    def ragged(self, key: str, dtype: DType, dims: Dims) -> tuple[Any, Any]:
        """A feature of rows: all of them, and how many each example has."""
        values, counts, _ = self._column(key, dtype, other_type(dtype))
        row = tuple((dims or ())[1:])
        stride = max(1, _size(row))
        if np.any(counts % stride):
            i = int(np.flatnonzero(counts % stride)[0])
            kind = "bytes" if dtype.name == "string" else type_name(dtype)
            self._fail(key)(
                i,
                f"Number of {kind} values is not a multiple of stride length. Saw {counts[i]}"
                f" values but output shape is: {s.show(dims)}",
            )
        return values.reshape(-1, *row), counts // stride


def padded(rows: Any, counts: Any, filler: Any, dtype: DType) -> Any:
    """Rows of several examples as [examples, most rows, ...], filled up with `filler`."""
    longest = int(counts.max(initial=0))
    out = np.full((len(counts), longest, *rows.shape[1:]), filler, dtype.np_storage)
    out[np.arange(longest) < counts[:, None]] = rows
    return out


def positions(counts: Any) -> Any:
    """[row, place in the row] of each value, where `counts` of them are in each row."""
    starts = np.cumsum(counts) - counts
    place = np.arange(int(counts.sum())) - np.repeat(starts, counts)
    return np.stack([np.repeat(np.arange(len(counts)), counts), place], axis=1).astype(np.int64)


# ---- operations ----------------------------------------------------------------------------------


def _dense_dims(c: ShapeContext, batch: Dims) -> list[Dims]:
    return [
        s.concat(batch, (None, *dims[1:]) if is_variable(dims) else dims)
        for dims in c.attr("dense_shapes")
    ]


def _batch_shapes(c: ShapeContext) -> list[Dims]:
    batch = s.with_rank(c.dims(0), 1)
    count = len(c.attr("sparse_types"))
    sparse: list[Dims] = [(None, 2)] * count + [(None,)] * count + [(2,)] * count
    return sparse + _dense_dims(c, batch)


def _text(values: list[Any]) -> list[str]:
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
    runs_on="host",
    differentiable=False,
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
    features = [each.features.feature for each in split(serialized.tolist())]
    batch = Batch(features, [each.decode(errors="replace") for each in names])
    indices, values, shapes = [], [], []
    for key, dtype in zip(_text(sparse_keys), sparse_types, strict=True):
        flat, counts = batch.sparse(key, dtype)
        indices.append(positions(counts))
        values.append(flat)
        shapes.append(np.array([len(counts), counts.max(initial=0)], np.int64))
    dense = []
    for key, dtype, dims, default in zip(
        _text(dense_keys), Tdense, dense_shapes, dense_defaults, strict=True
    ):
        if is_variable(dims):
            filler = np.ravel(default)[0]
            dense.append(padded(*batch.ragged(key, dtype, dims), filler, dtype))
        else:
            dense.append(batch.dense(key, dtype, dims, default))
    return [*indices, *values, *shapes, *dense]


def _single_shapes(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 0)
    count = c.attr("num_sparse")
    sparse: list[Dims] = [(None, 1)] * count + [(None,)] * count + [(1,)] * count
    return sparse + _dense_dims(c, ())


@op(
    "ParseSingleExample",
    inputs="serialized: string, dense_defaults: list(Tdense)",
    outputs="sparse_indices: num_sparse * int64, sparse_values: list(sparse_types),"
    " sparse_shapes: num_sparse * int64, dense_values: list(Tdense)",
    attrs="num_sparse: int >= 0, sparse_keys: list(string) >= 0, dense_keys: list(string) >= 0,"
    f" sparse_types: list({_TYPES}) >= 0, Tdense: list({_TYPES}) >= 0,"
    " dense_shapes: list(shape) >= 0",
    shape=_single_shapes,
    runs_on="host",
    differentiable=False,
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
    batch = Batch([example.features.feature], None)
    found = [
        batch.sparse(key, dtype)[0] for key, dtype in zip(sparse_keys, sparse_types, strict=True)
    ]
    dense = []
    for key, dtype, dims, default in zip(
        dense_keys, Tdense, dense_shapes, dense_defaults, strict=True
    ):
        if is_variable(dims):
            dense.append(batch.ragged(key, dtype, dims)[0])
        else:
            dense.append(batch.dense(key, dtype, dims, default)[0])
    indices = [np.arange(len(values), dtype=np.int64)[:, None] for values in found]
    shapes = [np.array([len(values)], np.int64) for values in found]
    return [*indices, *found, *shapes, *dense]
