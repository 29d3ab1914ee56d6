"""tf.parse_example and tf.parse_single_example, and the features one asks them for."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.core.shapes import TensorShape, as_shape, dimension_value
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.ops.sparse.select import sparse_merge


class VarLenFeature(NamedTuple):
    """Any number of values: a SparseTensor.

    Args:
        dtype: `tf.float32`, `tf.int64` or `tf.string`.

    Example:
        >>> tf.VarLenFeature(tf.string)
        VarLenFeature(dtype=tf.string)
    """

    dtype: Any


class SparseFeature(NamedTuple):
    """Values at positions that other features (`index_key`) give: a SparseTensor."""

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False


class FixedLenFeature(NamedTuple):
    """As many values as `shape` has places; examples without them get `default_value`.

    Args:
        shape: the shape of the feature in each example.
        dtype: `tf.float32`, `tf.int64` or `tf.string`.
        default_value: for examples without the feature; None makes it an error.

    Example:
        >>> tf.FixedLenFeature([], tf.int64, default_value=0)
        FixedLenFeature(shape=[], dtype=tf.int64, default_value=0)
    """

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """Any number of rows of `shape`, padded to the longest with `default_value`."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


@dataclass
class Request:
    """Features sorted into the lists that the operations take."""

    sparse_keys: list[str] = field(default_factory=list)
    sparse_types: list[Any] = field(default_factory=list)
    dense_keys: list[str] = field(default_factory=list)
    dense_types: list[Any] = field(default_factory=list)
    dense_shapes: list[TensorShape] = field(default_factory=list)
    defaults: dict[str, Any] = field(default_factory=dict)

    def add(self, key: str, feature: Any) -> None:
        if not isinstance(feature, _ALL):
            raise ValueError(f"Invalid feature {key}:{feature}.")
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}.")
        if isinstance(feature, VarLenFeature):
            self.add_sparse(key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            self._add_parts(feature)
        else:
            self._add_dense(key, feature)

    def add_sparse(self, key: str, dtype: Any) -> None:
        if key not in self.sparse_keys:
            self.sparse_keys.append(key)
            self.sparse_types.append(dtypes.as_dtype(dtype))
            return
        known = self.sparse_types[self.sparse_keys.index(key)]
        if known != dtype:
            wanted = dtypes.as_dtype(dtype)
            shown = "int64" if wanted == dtypes.int64 else repr(wanted)
            raise ValueError(f"Conflicting type {known!r} vs {shown} for feature {key}.")

    def _add_parts(self, feature: SparseFeature) -> None:
        for part in ("index_key", "value_key"):
            if not getattr(feature, part):
                raise ValueError(f"Missing {part} for SparseFeature {feature}.")
        index_keys = feature.index_key
        if isinstance(index_keys, str):
            index_keys = [index_keys]
        elif len(index_keys) > 1:
            logging.getLogger("weft").warning(
                "SparseFeature is a complicated feature config and should only be used after"
                " careful consideration of VarLenFeature."
            )
        for key in sorted(index_keys):
            self.add_sparse(key, dtypes.int64)
        self.add_sparse(feature.value_key, feature.dtype)

    def _add_dense(self, key: str, feature: Any) -> None:
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        shape = as_shape(feature.shape)
        if isinstance(feature, FixedLenFeature):
            _check_fixed(key, feature.shape, shape)
        elif feature.allow_missing:
            self.defaults[key] = None
        self.dense_keys.append(key)
        self.dense_types.append(dtypes.as_dtype(feature.dtype))
        self.dense_shapes.append(shape)
        if feature.default_value is not None:
            self.defaults[key] = feature.default_value

    def default_tensors(self) -> list[Tensor]:
        """The default of each dense feature that may be missing; empty if it must be there."""
        return [
            _default(key, dtype, shape, self.defaults.get(key))
            for key, dtype, shape in zip(
                self.dense_keys, self.dense_types, self.dense_shapes, strict=True
            )
        ]

    def result(self, sparse: Any, dense: Any) -> dict[str, Any]:
        """Feature name -> tensor, from (indices, values, shapes) of the sparse, and the dense."""
        found = [SparseTensor(*parts) for parts in zip(*sparse, strict=True)]
        return dict(zip(self.sparse_keys + self.dense_keys, [*found, *dense], strict=True))


_ALL = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def request(features: Mapping[str, Any] | None, kinds: tuple[Any, ...] = _ALL) -> Request:
    """The lists for `features`, which may be of these `kinds`."""
    made = Request()
    for key in sorted(features or {}):
        feature = (features or {})[key]
        if isinstance(feature, _ALL) and not isinstance(feature, kinds):
            raise ValueError(f"Unsupported {type(feature).__name__} {feature}.")
        made.add(key, feature)
    both = set(made.dense_keys) & set(made.sparse_keys)
    if both:
        raise ValueError(f"Dense and sparse keys must not intersect; intersection: {both}")
    return made


def _check_fixed(key: str, given: Any, shape: TensorShape) -> None:
    if given and shape.ndims and dimension_value(shape[0]) is None:
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. Consider using"
            " FixedLenSequenceFeature."
        )
    if not shape.is_fully_defined():
        raise ValueError(
            f"All dimensions of shape for feature {key} need to be known but received {given}."
        )


def _default(key: str, dtype: Any, shape: TensorShape, value: Any) -> Tensor:
    from weft.ops.array.array import reshape

    clean = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
    if shape.ndims and dimension_value(shape[0]) is None:
        if value is None:
            return convert_to_tensor("" if dtype == dtypes.string else 0, dtype)
        return reshape(convert_to_tensor(value, dtype, name=f"padding_{clean}"), [])
    if value is None:
        return constant([], dtype)
    if isinstance(value, Tensor):
        return value
    return reshape(convert_to_tensor(value, dtype, name=f"key_{clean}"), shape.as_list())


def _with_rows(features: Mapping[str, Any]) -> dict[str, Any]:
    """Sequence features with the dimension that counts their rows."""
    made = dict(features)
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError(
                    "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
                )
            made[key] = feature._replace(shape=[None, *feature.shape])
    return made


def _assembled(features: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """`found` with the sparse features put together, without their parts."""
    found = dict(found)
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            ids = feature.index_key
            ids = found[ids] if isinstance(ids, str) else [found[each] for each in ids]
            found[key] = sparse_merge(
                ids, found[feature.value_key], feature.size, already_sorted=feature.already_sorted
            )
    return {key: value for key, value in found.items() if key in features}


def parse_example(
    serialized: Any, features: Any, name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """Parses a vector of serialized Examples into a tensor for each feature."""
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    features = _with_rows(features)
    return _assembled(features, _parse_batch(serialized, request(features), example_names, name))


def _parse_batch(serialized: Any, wanted: Request, names: Any, name: str | None) -> dict[str, Any]:
    with name_scope(name, "ParseExample", [serialized, names]):
        *sparse, dense = raw.ParseExample(
            serialized, [] if names is None else names, wanted.sparse_keys, wanted.dense_keys,
            wanted.default_tensors(), sparse_types=wanted.sparse_types,
            dense_shapes=wanted.dense_shapes, name=name,
        )  # fmt: skip
        return wanted.result(sparse, dense)


def parse_single_example(
    serialized: Any, features: Any, name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """Parses one serialized Example into a tensor for each feature.

    Args:
        serialized: a string scalar: an `Example` message.
        features: a dict from names to `FixedLenFeature`, `VarLenFeature` and the like.
        name: of the operation.
        example_names: what to call the example in errors.

    Returns:
        A dict of tensors and SparseTensors.

    Raises:
        ValueError: `features` is empty, or one of them lacks something.
        tf.errors.InvalidArgumentError: from the step: a feature is missing or has another type.

    Example:
        >>> age = tf.train.Feature(int64_list=tf.train.Int64List(value=[42]))
        >>> example = tf.train.Example(features=tf.train.Features(feature={"age": age}))
        >>> wanted = {"age": tf.FixedLenFeature([], tf.int64)}
        >>> int(session.run(tf.parse_single_example(example.SerializeToString(), wanted)["age"]))
        42
    """
    if not features:
        raise ValueError("Missing features.")
    features = _with_rows(features)
    wanted = request(features)
    if example_names is not None:
        found = _parse_named(serialized, wanted, example_names, name)
    else:
        with name_scope(name, "ParseSingleExample", [serialized]):
            *sparse, dense = raw.ParseSingleExample(
                convert_to_tensor(serialized, name="serialized"), wanted.default_tensors(),
                num_sparse=len(wanted.sparse_keys), sparse_keys=wanted.sparse_keys,
                sparse_types=wanted.sparse_types, dense_keys=wanted.dense_keys,
                dense_shapes=wanted.dense_shapes, name=name,
            )  # fmt: skip
            found = wanted.result(sparse, dense)
    return _assembled(features, found)


def _parse_named(serialized: Any, wanted: Request, names: Any, name: str | None) -> dict[str, Any]:
    """One example as a batch of one, so that errors can name it."""
    with name_scope(name, "ParseSingleExample", [serialized, names]):
        batch = [
            _as_batch(value, what) for value, what in ((serialized, "serialized"), (names, "names"))
        ]
        found = _parse_batch(batch[0], wanted, batch[1], name)
        return {key: _first(key, value) for key, value in found.items()}


def _as_batch(value: Any, what: str) -> Tensor:
    from weft.ops.array import array
    from weft.ops.control import check_shapes

    value = convert_to_tensor(value)
    if value.shape.ndims is None:
        with control_dependencies([check_shapes.assert_rank(value, 0)]):
            value = array.identity(value)
    elif value.shape.ndims:
        raise ValueError(f"Input {what} must be a scalar")
    return array.expand_dims(value, 0)


def _first(key: str, value: Any) -> Any:
    from weft.ops.array import array, slicing

    clean = re.sub(r"[^A-Za-z0-9_.\-/]", "_", key)
    if not isinstance(value, SparseTensor):
        return array.squeeze(value, [0], name=f"Squeeze_{clean}")
    return SparseTensor(
        slicing.slice(value.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{clean}"),
        value.values,
        slicing.slice(value.dense_shape, [1], [-1], name=f"Squeeze_Shape_{clean}"),
    )
