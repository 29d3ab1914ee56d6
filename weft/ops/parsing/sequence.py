"""Serialized tf.train.SequenceExample messages into tensors: operations and public functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.graph import name_scope
from weft.graph.op_def import op, raw
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST
from weft.ops.kit.shared import as_array, blank, invalid, positions
from weft.ops.kit.string_arrays import string
from weft.ops.parsing.example_nodes import padded
from weft.ops.parsing.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    Request,
    VarLenFeature,
    request,
)
from weft.ops.strings.example_wire import column, split_sequences, type_name
from weft.protos.example import ShallowFeatureList

_LISTS = {dtypes.string: "bytes_list", dtypes.float32: "float_list", dtypes.int64: "int64_list"}
_TYPES = "list({float, int64, string}) >= 0 = []"


# ---- values --------------------------------------------------------------------------------------


class Reader:
    """Columns of features; `where(index)` says in errors which feature is meant."""

    def __init__(self, where: Callable[[int], str], name: str) -> None:
        self.where, self.name = where, name

    def fail(self, index: int, message: str) -> NoReturn:
        raise invalid(f"{self.where(index)}.  {message}")

    def read(self, features: Sequence[bytes | None], dtype: DType) -> tuple[Any, Any, list[int]]:
        def mismatch(actual: DType) -> str:
            return (
                f"Data types don't match. Expected type: {type_name(dtype)}"
                f"  Feature is: {_LISTS[actual]}"
            )

        return column(features, dtype, self.fail, mismatch)

    def rows(self, features: Sequence[bytes], dtype: DType, dims: Dims) -> Any:
        """Features that have exactly a row of values each."""
        values, counts, _ = self.read(features, dtype)
        shape = tuple(dims or ())
        wrong = np.flatnonzero(counts != math.prod(d or 0 for d in shape))
        if len(wrong):
            self.wrong_count(wrong[0], dtype, counts[wrong[0]], dims)
        return values.reshape(len(features), *shape)

    def wrong_count(self, index: int, dtype: DType, count: int, dims: Dims) -> NoReturn:
        kind = "bytes" if dtype.name == "string" else type_name(dtype)
        raise invalid(
            f"{self.name}, Index: {index}.  Number of {kind} values != expected.  values"
            f" size: {count} but output shape: {s.show(dims)}"
        )


class TerseReader(Reader):
    """Of a batch: errors tell the feature and the example, and no more."""

    def __init__(self, kind: str, key: str, example: str) -> None:
        super().__init__(lambda _: "", example)
        self.what = f"{kind} feature {key} in example {example}"
        self.count = f"feature {key}, example {example}" if kind == "sequence" else None

    def fail(self, index: int, message: str) -> NoReturn:
        raise invalid(f"Error in {self.what}")

    def wrong_count(self, index: int, dtype: DType, count: int, dims: Dims) -> NoReturn:
        raise invalid(f"Unexpected number of elements in {self.count or f'example {self.name}'}")


def _context_reader(name: str, key: str) -> Reader:
    return Reader(lambda _: f"Name: {name}, Context feature: {key}", f"Name: {name}, Key: {key}")


def _list_reader(name: str, key: str, kind: str = "Feature list") -> Reader:
    return Reader(lambda i: f"Name: {name}, {kind}: {key}, Index: {i}", f"Name: {name}, Key: {key}")


def feature_steps(feature_list: bytes | None) -> list[bytes]:
    return list(ShallowFeatureList.FromString(feature_list).feature) if feature_list else []


def _text(keys: Sequence[Any]) -> list[str]:
    return [key if isinstance(key, str) else string(key).decode() for key in keys]


class Sequences:
    """Serialized sequence examples, read feature by feature."""

    context_reader: Callable[..., Reader] = staticmethod(_context_reader)
    list_reader: Callable[..., Reader] = staticmethod(_list_reader)

    def lost_context(self, name: str, key: str, dtype: DType) -> str:
        return f"Name: {name}, Context feature '{key}' is required but could not be found."

    def lost_list(self, name: str, key: str) -> str:
        return (
            f"Name: {name}, Feature list '{key}' is required but could not be found.  Did"
            " you mean to include it in feature_list_dense_missing_assumed_empty or"
            " feature_list_dense_defaults?"
        )

    def __init__(self, serialized: list[bytes], names: list[bytes]) -> None:
        self.examples = split_sequences(serialized)
        self.names = _text(names) or ["<unknown>"] * len(serialized)

    def context_dense(self, key: str, dtype: DType, dims: Dims, default: Any) -> Any:
        """[examples, *dims], with the default where an example does not have the feature."""
        return np.concatenate(
            [
                self._one(example.context.feature.get(key), name, key, dtype, dims, default)
                for example, name in zip(self.examples, self.names, strict=True)
            ]
        )

    def _one(
        self, feature: Any, name: str, key: str, dtype: DType, dims: Dims, default: Any
    ) -> Any:
        if feature is not None:
            return self.context_reader(name, key).rows([feature], dtype, dims)
        if np.size(default) == 0:
            raise invalid(self.lost_context(name, key, dtype))
        return as_array(default).reshape((1, *(dims or ())))

    def context_sparse(self, key: str, dtype: DType) -> tuple[Any, Any]:
        found = [example.context.feature.get(key) for example in self.examples]
        values, counts, _ = self.context_reader(self.names[0], key).read(found, dtype)
        return values, counts

    def list_dense(
        self, key: str, dtype: DType, dims: Dims, optional: bool
    ) -> tuple[Any, np.ndarray]:
        """The rows of all examples, and how many each has."""
        parts = []
        for example, name in zip(self.examples, self.names, strict=True):
            feature_list = example.feature_lists.feature.get(key)
            if feature_list is None and not optional:
                raise invalid(self.lost_list(name, key))
            parts.append(self.list_reader(name, key).rows(feature_steps(feature_list), dtype, dims))
        return np.concatenate(parts), np.array([len(part) for part in parts], np.int64)

    def list_sparse(self, key: str, dtype: DType) -> tuple[Any, Any, np.ndarray]:
        """All values, how many each step has, and how many steps each example has."""
        values, counts, lengths = [], [], []
        for example, name in zip(self.examples, self.names, strict=True):
            steps = feature_steps(example.feature_lists.feature.get(key))
            reader = self.list_reader(name, key, "Feature List")
            found, count, _ = reader.read(steps, dtype) if steps else _none(dtype)
            values.append(found)
            counts.append(count)
            lengths.append(len(steps))
        return np.concatenate(values), np.concatenate(counts), np.array(lengths, np.int64)


class SequenceBatch(Sequences):
    """Examples of one batch, of whose errors less is told."""

    @staticmethod
    def context_reader(name: str, key: str) -> Reader:
        return TerseReader("context", key, name)

    @staticmethod
    def list_reader(name: str, key: str, kind: str = "") -> Reader:
        return TerseReader("sequence", key, name)

    def lost_context(self, name: str, key: str, dtype: DType) -> str:
        return f"Feature: {key} (data type: {type_name(dtype)}) is required but could not be found."

    def lost_list(self, name: str, key: str) -> str:
        return f"Missing feature {key} in example {name}"

    def context_dense(self, key: str, dtype: DType, dims: Dims, default: Any) -> Any:
        """As of any examples; the most values that one has are looked at first."""
        most = max(
            (self._count(name, key, each.context.feature.get(key), dtype, default)
             for name, each in zip(self.names, self.examples, strict=True)),
            default=0,
        )  # fmt: skip
        if self.examples and most != math.prod(d or 0 for d in dims or ()):
            raise invalid(f"Inconsistent number of elements for feature {key}: {most} vs 1")
        return super().context_dense(key, dtype, dims, default)

    def _count(self, name: str, key: str, feature: Any, dtype: DType, default: Any) -> int:
        if feature is None:
            return int(np.size(default))
        return int(self.context_reader(name, key).read([feature], dtype)[1][0])

    def list_dense(
        self, key: str, dtype: DType, dims: Dims, optional: bool
    ) -> tuple[Any, np.ndarray]:
        """As of any examples; the most values that one has must make rows."""
        size = math.prod(d or 0 for d in dims or ())
        most = 0
        for name, example in zip(self.names, self.examples, strict=True):
            steps = feature_steps(example.feature_lists.feature.get(key))
            if steps:
                most = max(most, int(self.list_reader(name, key).read(steps, dtype)[1].sum()))
        if size and most % size:
            raise invalid(f"Unexpected shape error in feature {key}")
        return super().list_dense(key, dtype, dims, optional)


def _none(dtype: DType) -> tuple[Any, Any, list[int]]:
    return np.empty(0, dtype.np_storage), np.empty(0, np.int64), []


# ---- operations ----------------------------------------------------------------------------------


def _check_defaults(defaults: list[Any], shapes: list[Dims]) -> None:
    for d, (value, dims) in enumerate(zip(defaults, shapes, strict=True)):
        if np.size(value) and np.shape(value) != tuple(dims or ()):
            raise invalid(
                f"def_value[{d}].shape() == {s.show(np.shape(value))} !="
                f" context_dense_shapes_[{d}] == {s.show(dims)}"
            )


def _shapes(c: ShapeContext, batch: Dims, with_lengths: bool) -> list[Dims]:
    rank = len(batch or ())

    def sparse(count: int, depth: int) -> list[Dims]:
        return [(None, depth)] * count + [(None,)] * count + [(depth,)] * count

    lists = c.attr("feature_list_dense_shapes")
    return [
        *sparse(c.attr("Ncontext_sparse"), rank + 1),
        *(s.concat(batch, dims) for dims in c.attr("context_dense_shapes")),
        *sparse(c.attr("Nfeature_list_sparse"), rank + 2),
        *(s.concat((*(batch or ()), None), dims) for dims in lists),
        *([batch] * len(lists) if with_lengths else []),
    ]


def _single_shapes(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(0), 0)
    return _shapes(c, (), False)


_COUNTS = (
    "Ncontext_sparse: int >= 0 = 0, Ncontext_dense: int >= 0 = 0,"
    " Nfeature_list_sparse: int >= 0 = 0, Nfeature_list_dense: int >= 0 = 0,"
    f" context_sparse_types: {_TYPES}, Tcontext_dense: {_TYPES},"
    f" feature_list_dense_types: {_TYPES}, context_dense_shapes: list(shape) >= 0 = [],"
    f" feature_list_sparse_types: {_TYPES}, feature_list_dense_shapes: list(shape) >= 0 = []"
)
_OUTPUTS = (
    "context_sparse_indices: Ncontext_sparse * int64,"
    " context_sparse_values: list(context_sparse_types),"
    " context_sparse_shapes: Ncontext_sparse * int64,"
    " context_dense_values: list(Tcontext_dense),"
    " feature_list_sparse_indices: Nfeature_list_sparse * int64,"
    " feature_list_sparse_values: list(feature_list_sparse_types),"
    " feature_list_sparse_shapes: Nfeature_list_sparse * int64,"
    " feature_list_dense_values: list(feature_list_dense_types)"
)


@op(
    "ParseSingleSequenceExample",
    inputs="serialized: string, feature_list_dense_missing_assumed_empty: string,"
    " context_sparse_keys: Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string,"
    " feature_list_sparse_keys: Nfeature_list_sparse * string,"
    " feature_list_dense_keys: Nfeature_list_dense * string,"
    " context_dense_defaults: list(Tcontext_dense), debug_name: string",
    outputs=_OUTPUTS,
    attrs=_COUNTS,
    shape=_single_shapes,
    traits=HOST,
)
def parse_single_sequence_example_(
    xp: Any, serialized: Any, feature_list_dense_missing_assumed_empty: Any,
    context_sparse_keys: Any, context_dense_keys: Any, feature_list_sparse_keys: Any,
    feature_list_dense_keys: Any, context_dense_defaults: Any, debug_name: Any,
    *, context_sparse_types: Any, Tcontext_dense: Any, feature_list_dense_types: Any,
    context_dense_shapes: Any, feature_list_sparse_types: Any, feature_list_dense_shapes: Any,
) -> list[Any]:  # fmt: skip
    if np.ndim(serialized):
        raise invalid(
            f"Expected serialized to be a scalar, got shape: {s.show(np.shape(serialized))}"
        )
    _check_defaults(context_dense_defaults, context_dense_shapes)
    name = string(debug_name) if np.size(debug_name) else b""
    read = Sequences([string(serialized)], [name])
    optional = _text(feature_list_dense_missing_assumed_empty)
    context = []
    for key, dtype in zip(_text(context_sparse_keys), context_sparse_types, strict=True):
        values, _ = read.context_sparse(key, dtype)
        context.append((np.arange(len(values))[:, None], values, np.array([len(values)])))
    context_dense = [
        read.context_dense(*what)[0, ...]
        for what in zip(
            _text(context_dense_keys), Tcontext_dense, context_dense_shapes,
            context_dense_defaults, strict=True,
        )
    ]  # fmt: skip
    lists = []
    for key, dtype in zip(_text(feature_list_sparse_keys), feature_list_sparse_types, strict=True):
        values, counts, _ = read.list_sparse(key, dtype)
        lists.append((positions(counts), values, np.array([len(counts), counts.max(initial=0)])))
    dense = [
        read.list_dense(key, dtype, dims, key in optional)[0]
        for key, dtype, dims in zip(
            _text(feature_list_dense_keys), feature_list_dense_types, feature_list_dense_shapes,
            strict=True,
        )
    ]  # fmt: skip
    return [*_columns(context), *context_dense, *_columns(lists), *dense]


def _columns(sparse: list[tuple[Any, Any, Any]]) -> list[Any]:
    """All indices, then all values, then all shapes."""
    return [
        *(indices.astype(np.int64) for indices, _, _ in sparse),
        *(values for _, values, _ in sparse),
        *(shape.astype(np.int64) for _, _, shape in sparse),
    ]


@op(
    "ParseSequenceExample",
    inputs="serialized: string, debug_name: string, context_dense_defaults: list(Tcontext_dense)",
    outputs=f"{_OUTPUTS}, feature_list_dense_lengths: Nfeature_list_dense * int64",
    attrs="feature_list_dense_missing_assumed_empty: list(string) >= 0,"
    " context_sparse_keys: list(string) >= 0, context_dense_keys: list(string) >= 0,"
    " feature_list_sparse_keys: list(string) >= 0, feature_list_dense_keys: list(string) >= 0, "
    + _COUNTS,
    shape=lambda c: _shapes(c, s.with_rank(c.dims(0), 1), True),
    traits=HOST,
)
def parse_sequence_example_(
    xp: Any, serialized: Any, debug_name: Any, context_dense_defaults: Any,
    *, feature_list_dense_missing_assumed_empty: Any, context_sparse_keys: Any,
    context_dense_keys: Any, feature_list_sparse_keys: Any, feature_list_dense_keys: Any,
    context_sparse_types: Any, Tcontext_dense: Any, feature_list_dense_types: Any,
    context_dense_shapes: Any, feature_list_sparse_types: Any, feature_list_dense_shapes: Any,
) -> list[Any]:  # fmt: skip
    if serialized.ndim != 1:
        raise invalid(f"Expected serialized to be a vector, got shape: {s.show(serialized.shape)}")
    _check_defaults(context_dense_defaults, context_dense_shapes)
    read = SequenceBatch(serialized.tolist(), list(np.ravel(debug_name)))
    optional = _text(feature_list_dense_missing_assumed_empty)
    context = []
    for key, dtype in zip(_text(context_sparse_keys), context_sparse_types, strict=True):
        values, counts = read.context_sparse(key, dtype)
        shape = np.array([len(counts), counts.max(initial=0)])
        context.append((positions(counts), values, shape))
    context_dense = [
        read.context_dense(*what)
        for what in zip(
            _text(context_dense_keys), Tcontext_dense, context_dense_shapes,
            context_dense_defaults, strict=True,
        )
    ]  # fmt: skip
    lists = [
        batch_lists(*read.list_sparse(key, dtype))
        for key, dtype in zip(
            _text(feature_list_sparse_keys), feature_list_sparse_types, strict=True
        )
    ]
    dense, lengths = [], []
    for key, dtype, dims in zip(
        _text(feature_list_dense_keys), feature_list_dense_types, feature_list_dense_shapes,
        strict=True,
    ):  # fmt: skip
        rows, count = read.list_dense(key, dtype, dims, key in optional)
        dense.append(padded(rows, count, blank(dtype.np_storage), dtype))
        lengths.append(count)
    return [*_columns(context), *context_dense, *_columns(lists), *dense, *lengths]


def batch_lists(values: Any, counts: Any, lengths: Any) -> tuple[Any, Any, Any]:
    """Positions [example, step, place], values, and shape of a ragged feature list."""
    steps = positions(lengths)
    flat = positions(counts)
    indices = np.concatenate([steps[flat[:, 0]], flat[:, 1:]], axis=1)
    return indices, values, np.array([len(lengths), lengths.max(initial=0), counts.max(initial=0)])


# ---- public functions ----------------------------------------------------------------------------


def _requests(context: Any, sequence: Any) -> tuple[Request, Request]:
    if not (context or sequence):
        raise ValueError("Missing features.")
    return (
        request(context, (VarLenFeature, FixedLenFeature)),
        request(sequence, (VarLenFeature, FixedLenSequenceFeature)),
    )


def _may_be_missing(wanted: Request) -> list[str]:
    for key, value in wanted.defaults.items():
        if value is not None:
            raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return list(wanted.defaults)


def _arguments(context: Request, lists: Request) -> dict[str, Any]:
    """The arguments that both operations take."""
    return dict(
        context_dense_defaults=context.default_tensors(),
        context_sparse_keys=context.sparse_keys,
        context_sparse_types=context.sparse_types,
        context_dense_keys=context.dense_keys,
        context_dense_shapes=context.dense_shapes,
        feature_list_sparse_keys=lists.sparse_keys,
        feature_list_sparse_types=lists.sparse_types,
        feature_list_dense_keys=lists.dense_keys,
        feature_list_dense_types=lists.dense_types,
        feature_list_dense_shapes=lists.dense_shapes,
        feature_list_dense_missing_assumed_empty=_may_be_missing(lists),
    )


def parse_single_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parses one serialized SequenceExample: tensors of its context, and of its sequences."""
    context, lists = _requests(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized]):
        made = raw.ParseSingleSequenceExample(
            serialized,
            debug_name="" if example_name is None else example_name,
            **_arguments(context, lists),
            name=name,
        )
        return context.result(made[:3], made[3]), lists.result(made[4:7], made[7])


def parse_sequence_example(
    serialized: Any,
    context_features: Any = None,
    sequence_features: Any = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Parses a vector of serialized SequenceExamples: context, sequences, and their lengths."""
    context, lists = _requests(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized]):
        made = raw.ParseSequenceExample(
            serialized,
            debug_name=[] if example_names is None else example_names,
            Ncontext_sparse=len(context.sparse_keys),
            Ncontext_dense=len(context.dense_keys),
            Nfeature_list_sparse=len(lists.sparse_keys),
            Nfeature_list_dense=len(lists.dense_keys),
            **_arguments(context, lists),
            name=name,
        )
        lengths = dict(zip(lists.dense_keys, made[8], strict=True))
        return context.result(made[:3], made[3]), lists.result(made[4:7], made[7]), lengths
