"""ParseSequenceExampleV2: one serialized SequenceExample or a vector of them, also ragged."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.kit.shared import as_array, blank, invalid, positions
from weft.ops.kit.string_arrays import string
from weft.ops.parsing.example_nodes import padded, text
from weft.ops.parsing.example_v2 import (
    SPLIT_TYPES,
    TYPES,
    check_rank,
    row_splits,
    sparse_dims,
    split_dims,
)
from weft.ops.parsing.sequence import batch_lists, feature_steps
from weft.ops.strings.example_wire import column, type_name
from weft.protos.example import ShallowSequenceExample

# ---- values --------------------------------------------------------------------------------------


class Sequences:
    """Sequence examples of a batch, each feature of which is read for all of them at once."""

    def __init__(self, serialized: list[bytes], names: list[str]) -> None:
        self.names = names or ["<unknown>"] * len(serialized)
        self.examples = [self._message(*each) for each in zip(serialized, self.names, strict=True)]

    def _message(self, serialized: bytes, name: str) -> Any:
        from google.protobuf.message import DecodeError

        try:
            return ShallowSequenceExample.FromString(serialized)
        except DecodeError:
            raise invalid(f"Invalid protocol message input, example id: {name}") from None

    def context(self, key: str, dtype: DType) -> tuple[Any, Any, list[int]]:
        """All values of a feature, how many each example has, and which have none."""

        def fail(index: int, message: str) -> NoReturn:
            raise invalid(f"Name: {self.names[index]}, Context feature: {key}.  {message}")

        found = [example.context.feature.get(key) for example in self.examples]
        return column(found, dtype, fail, _mismatch(dtype))

    def context_dense(self, key: str, dtype: DType, dims: Any, default: Any) -> Any:
        """[examples, *dims], with the default where an example does not have the feature."""
        values, counts, missing = self.context(key, dtype)
        size = math.prod(dims)
        filled = counts.copy()
        filled[missing] = np.size(default)
        most = int(filled.max(initial=0))
        if len(counts) and most != size:
            raise invalid(
                f"Inconsistent max number of elements for feature {key}: expected {size}, but"
                f" found {most}"
            )
        self._check_counts(key, dtype, filled, missing, size)
        out = np.empty((len(counts), *dims), dtype.np_storage)
        present = np.setdiff1d(np.arange(len(counts)), missing)
        out[present] = values.reshape(-1, *dims)
        if missing:
            out[missing] = as_array(default).reshape(dims)
        return out

    def _check_counts(
        self, key: str, dtype: DType, counts: Any, missing: list[int], size: int
    ) -> None:
        for i in np.flatnonzero(counts != size):
            if i in missing:
                raise invalid(
                    f"Feature: {key} (data type: {type_name(dtype)}) is required but could not be"
                    " found."
                )
            raise invalid(f"Unexpected number of elements in example {self.names[i]}")

    def lists(self, key: str, dtype: DType) -> tuple[Any, Any, Any]:
        """All values, how many each step has, and how many steps each example has."""
        steps = [feature_steps(each.feature_lists.feature.get(key)) for each in self.examples]
        lengths = np.fromiter(map(len, steps), np.int64, len(steps))
        places = positions(lengths)

        def fail(index: int, message: str) -> NoReturn:
            example, step = places[index]
            raise invalid(
                f"Name: {self.names[example]}, Feature list: {key}, Index: {step}.  {message}"
            )

        values, counts, _ = column(
            [e for each in steps for e in each], dtype, fail, _mismatch(dtype)
        )
        return values, counts, lengths

    def list_dense(self, key: str, dtype: DType, dims: Any, optional: bool) -> tuple[Any, Any]:
        """[examples, most steps, *dims], and how many steps each example has."""
        self._check_present(key, optional)
        values, counts, lengths = self.lists(key, dtype)
        self._check_steps(key, counts, lengths, dims)
        rows = values.reshape(len(counts), *dims)
        return padded(rows, lengths, blank(dtype.np_storage), dtype), lengths

    def _check_present(self, key: str, optional: bool) -> None:
        for example, name in zip(self.examples, self.names, strict=True):
            if not optional and key not in example.feature_lists.feature:
                raise invalid(
                    f"Name: {name}, Feature list '{key}' is required but could not be found.  Did"
                    " you mean to include it in feature_list_dense_missing_assumed_empty or"
                    " feature_list_dense_defaults?"
                )

    def _check_steps(self, key: str, counts: Any, lengths: Any, dims: Any) -> None:
        places, size = positions(lengths), math.prod(dims)
        totals = np.bincount(places[:, 0], counts, len(lengths)).astype(np.int64)
        most = int(totals.max(initial=0))
        if size and most % size:
            raise invalid(
                f"Feature list '{key}' has an unexpected number of values.  Total values size:"
                f" {most} is not consistent with output shape: {s.show((None, *dims))}"
            )
        for i in np.flatnonzero(counts != size):
            example, step = places[i]
            raise invalid(
                f"Name: {self.names[example]}, Key: {key}, Index: {step}.  Number of values !="
                f" expected.  values size: {counts[i]} but output shape: {s.show(dims)}"
            )


def _mismatch(dtype: DType) -> Any:
    return lambda actual: f"Data types don't match. Expected type: {type_name(dtype)}"


# ---- columns of outputs --------------------------------------------------------------------------


class Outputs:
    """The outputs of a batch, or of its only example, whose dimension is then left out."""

    def __init__(self, read: Sequences, is_batch: bool) -> None:
        self.read, self.is_batch = read, is_batch

    def _one(self, values: Any) -> Any:
        return values if self.is_batch else np.asarray(values[0])

    def _outer(self, counts: Any, dtype: DType) -> Any:
        return row_splits(counts, dtype) if self.is_batch else np.zeros((), dtype.np_storage)

    def _sparse(self, found: list[tuple[Any, Any, Any]]) -> list[Any]:
        first = 0 if self.is_batch else 1
        return [
            *(np.ascontiguousarray(indices[:, first:], np.int64) for indices, _, _ in found),
            *(values for _, values, _ in found),
            *(np.array(shape[first:], np.int64) for _, _, shape in found),
        ]

    def context_sparse(self, keys: Any, types: Any) -> list[Any]:
        found = []
        for key, dtype in zip(keys, types, strict=True):
            values, counts, _ = self.read.context(key, dtype)
            found.append((positions(counts), values, [len(counts), counts.max(initial=0)]))
        return self._sparse(found)

    def context_dense(self, *features: Any) -> list[Any]:
        return [
            self._one(self.read.context_dense(*feature)) for feature in zip(*features, strict=True)
        ]

    def context_ragged(self, keys: Any, types: Any, split_types: Any) -> list[Any]:
        found = [self.read.context(key, dtype) for key, dtype in zip(keys, types, strict=True)]
        counted = zip(found, split_types, strict=True)
        return [
            *(values for values, _, _ in found),
            *(self._outer(counts, dtype) for (_, counts, _), dtype in counted),
        ]

    def list_sparse(self, keys: Any, types: Any) -> list[Any]:
        found = zip(keys, types, strict=True)
        return self._sparse([batch_lists(*self.read.lists(key, dtype)) for key, dtype in found])

    def list_dense(self, *features: Any) -> list[Any]:
        found = [self.read.list_dense(*feature) for feature in zip(*features, strict=True)]
        return [
            *(self._one(values) for values, _ in found),
            *(self._one(lengths) for _, lengths in found),
        ]

    def list_ragged(self, keys: Any, types: Any, split_types: Any) -> list[Any]:
        found = [self.read.lists(key, dtype) for key, dtype in zip(keys, types, strict=True)]
        typed = list(zip(found, split_types, strict=True))
        return [
            *(values for values, _, _ in found),
            *(self._outer(lengths, dtype) for (_, _, lengths), dtype in typed),
            *(row_splits(counts, dtype) for (_, counts, _), dtype in typed),
        ]


# ---- checks and shapes ---------------------------------------------------------------------------


def _check_counts(**counted: tuple[Any, int, str]) -> None:
    for name, (keys, count, what) in counted.items():
        if np.size(keys) != count:
            raise invalid(f"Expected len({name}) to match {what}")


def _check_defaults(defaults: list[Any], shapes: list[Dims]) -> None:
    for d, (value, dims) in enumerate(zip(defaults, shapes, strict=True)):
        if np.size(value) and np.shape(value) != tuple(dims or ()):
            raise invalid(
                f"default_value[{d}].shape() == {s.show(np.shape(value))} !="
                f" context_dense_shapes[{d}] == {s.show(dims)}"
            )


def _check_apart(kind: str, sparse: list[str], dense: list[str], ragged: list[str]) -> None:
    """A feature is of one form only."""
    for key in dense:
        if key in sparse or key in ragged:
            raise invalid(f"{kind} feature {key} cannot be both dense and sparse")
    for key in ragged:
        if key in sparse:
            raise invalid(f"{kind} feature {key} cannot be both ragged and sparse")


def _names(debug_name: Any, count: int) -> list[str]:
    if np.size(debug_name) not in (0, count):
        raise invalid("example_names must be empty or have the correct number of elements")
    return text(np.ravel(debug_name))


# The number of features of a kind, and the attributes that are as long.
_LENGTHS = {
    "context_sparse": ("Ncontext_sparse", "context_sparse_types"),
    "context_dense": ("Tcontext_dense", "Tcontext_dense", "context_dense_shapes"),
    "context_ragged": (
        "context_ragged_value_types", "context_ragged_value_types", "context_ragged_split_types",
    ),
    "feature_list_sparse": ("Nfeature_list_sparse", "feature_list_sparse_types"),
    "feature_list_dense": (
        "Nfeature_list_dense", "feature_list_dense_types", "feature_list_dense_shapes",
    ),
    "feature_list_ragged": (
        "feature_list_ragged_value_types", "feature_list_ragged_value_types",
        "feature_list_ragged_split_types",
    ),
}  # fmt: skip
_SHOWN = {"Tcontext_dense": "context_dense_types"}


def _check_attributes(c: ShapeContext) -> None:
    for kind, (counted, *lists) in _LENGTHS.items():
        number = c.attr(counted)
        number = number if isinstance(number, int) else len(number)
        sizes = [(_SHOWN.get(name, name), len(c.attr(name))) for name in lists]
        if any(size != number for _, size in sizes):
            shown = " and ".join(f"{name} ({size})" for name, size in sizes)
            raise ValueError(f"num_{kind} ({number}) must match the size of {shown}")
    for dims in (*c.attr("context_dense_shapes"), *c.attr("feature_list_dense_shapes")):
        if not s.known(dims):
            raise ValueError(f"Shape {s.show(dims)} is not fully defined")


def _shapes(c: ShapeContext) -> list[Dims]:
    batch = s.with_rank_at_most(c.dims(0), 1)
    _check_attributes(c)
    splits: Dims = () if batch == () else split_dims(batch)
    steps: Dims = None if batch is None else (*batch, None)
    context, lists = (
        len(c.attr(f"{kind}_ragged_split_types")) for kind in ("context", "feature_list")
    )
    dense = c.attr("feature_list_dense_shapes")
    flat: list[Dims] = [(None,)]
    return [
        *sparse_dims(batch, c.attr("Ncontext_sparse")),
        *(s.concat(batch, dims) for dims in c.attr("context_dense_shapes")),
        *(flat * context + [splits] * context),
        *sparse_dims(batch, c.attr("Nfeature_list_sparse"), 1),
        *(s.concat(steps, dims) for dims in dense),
        *([batch] * len(dense)),
        *(flat * lists + [splits] * lists + flat * lists),
    ]


# ---- the operation -------------------------------------------------------------------------------


@op(
    "ParseSequenceExampleV2",
    inputs="serialized: string, debug_name: string, context_sparse_keys: string,"
    " context_dense_keys: string, context_ragged_keys: string, feature_list_sparse_keys: string,"
    " feature_list_dense_keys: string, feature_list_ragged_keys: string,"
    " feature_list_dense_missing_assumed_empty: bool,"
    " context_dense_defaults: list(Tcontext_dense)",
    outputs="context_sparse_indices: Ncontext_sparse * int64,"
    " context_sparse_values: list(context_sparse_types),"
    " context_sparse_shapes: Ncontext_sparse * int64,"
    " context_dense_values: list(Tcontext_dense),"
    " context_ragged_values: list(context_ragged_value_types),"
    " context_ragged_row_splits: list(context_ragged_split_types),"
    " feature_list_sparse_indices: Nfeature_list_sparse * int64,"
    " feature_list_sparse_values: list(feature_list_sparse_types),"
    " feature_list_sparse_shapes: Nfeature_list_sparse * int64,"
    " feature_list_dense_values: list(feature_list_dense_types),"
    " feature_list_dense_lengths: Nfeature_list_dense * int64,"
    " feature_list_ragged_values: list(feature_list_ragged_value_types),"
    " feature_list_ragged_outer_splits: list(feature_list_ragged_split_types),"
    " feature_list_ragged_inner_splits: list(feature_list_ragged_split_types)",
    attrs=f"Ncontext_sparse: int >= 0 = 0, Tcontext_dense: {TYPES} = [],"
    f" context_sparse_types: {TYPES} = [], context_ragged_value_types: {TYPES} = [],"
    f" context_ragged_split_types: {SPLIT_TYPES} = [],"
    " context_dense_shapes: list(shape) >= 0 = [], Nfeature_list_sparse: int >= 0 = 0,"
    f" Nfeature_list_dense: int >= 0 = 0, feature_list_dense_types: {TYPES} = [],"
    f" feature_list_sparse_types: {TYPES} = [], feature_list_ragged_value_types: {TYPES} = [],"
    f" feature_list_ragged_split_types: {SPLIT_TYPES} = [],"
    " feature_list_dense_shapes: list(shape) >= 0 = []",
    shape=_shapes,
    traits=HOST,
)
def parse_sequence_example_v2_(
    xp: Any, serialized: Any, debug_name: Any, context_sparse_keys: Any, context_dense_keys: Any,
    context_ragged_keys: Any, feature_list_sparse_keys: Any, feature_list_dense_keys: Any,
    feature_list_ragged_keys: Any, feature_list_dense_missing_assumed_empty: Any,
    context_dense_defaults: Any, *, Tcontext_dense: Any, context_sparse_types: Any,
    context_ragged_value_types: Any, context_ragged_split_types: Any, context_dense_shapes: Any,
    feature_list_dense_types: Any, feature_list_sparse_types: Any,
    feature_list_ragged_value_types: Any, feature_list_ragged_split_types: Any,
    feature_list_dense_shapes: Any,
) -> list[Any]:  # fmt: skip
    check_rank(serialized)
    optional, lists = feature_list_dense_missing_assumed_empty, len(feature_list_dense_types)
    ragged, ragged_lists = len(context_ragged_value_types), len(feature_list_ragged_value_types)
    _check_counts(
        context_sparse_keys=(context_sparse_keys, len(context_sparse_types), "Ncontext_sparse"),
        context_dense_keys=(context_dense_keys, len(Tcontext_dense), "len(Tcontext_dense)"),
        context_ragged_keys=(context_ragged_keys, ragged, "len(context_ragged_value_types)"),
        feature_list_sparse_keys=(
            feature_list_sparse_keys, len(feature_list_sparse_types), "Nfeature_list_sparse",
        ),
        feature_list_dense_keys=(feature_list_dense_keys, lists, "Nfeature_list_dense"),
        feature_list_ragged_keys=(
            feature_list_ragged_keys, ragged_lists, "len(feature_list_ragged_value_types)",
        ),
        feature_list_dense_missing_assumed_empty=(optional, lists, "Nfeature_list_dense"),
    )  # fmt: skip
    _check_defaults(context_dense_defaults, context_dense_shapes)
    context = [
        text(np.ravel(keys))
        for keys in (context_sparse_keys, context_dense_keys, context_ragged_keys)
    ]
    sequence = [
        text(np.ravel(keys))
        for keys in (feature_list_sparse_keys, feature_list_dense_keys, feature_list_ragged_keys)
    ]
    _check_apart("Context", *context)
    _check_apart("Sequence", *sequence)
    given = [string(each) for each in np.ravel(serialized)]
    made = Outputs(Sequences(given, _names(debug_name, len(given))), np.ndim(serialized) == 1)
    return [
        *made.context_sparse(context[0], context_sparse_types),
        *made.context_dense(
            context[1], Tcontext_dense, context_dense_shapes, context_dense_defaults
        ),
        *made.context_ragged(context[2], context_ragged_value_types, context_ragged_split_types),
        *made.list_sparse(sequence[0], feature_list_sparse_types),
        *made.list_dense(
            sequence[1], feature_list_dense_types, feature_list_dense_shapes, np.ravel(optional)
        ),
        *made.list_ragged(
            sequence[2], feature_list_ragged_value_types, feature_list_ragged_split_types
        ),
    ]
