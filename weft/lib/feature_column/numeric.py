"""Columns of numbers, as they are or in buckets."""

from __future__ import annotations

import itertools
from collections import namedtuple
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.slices import SparseTensor
from weft.lib.feature_column import checks
from weft.lib.feature_column.base import (
    CategoricalColumn,
    DenseColumn,
    OfOneFeature,
    is_feature_column_v2,
)
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.math import casts, sequence
from weft.ops.math import histogram as bins
from weft.ops.parsing.features import FixedLenFeature


class NumericColumn(
    OfOneFeature,
    DenseColumn,
    namedtuple("NumericColumn", ["key", "shape", "default_value", "dtype", "normalizer_fn"]),
):
    """See `numeric_column`."""

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        feature = transformation_cache.get(self.key, state_manager)
        checks.refuse(
            (
                isinstance(feature, SparseTensor),
                "The corresponding Tensor of numerical column must be a Tensor. "
                f"SparseTensor is not supported. key: {self.key}",
            )
        )
        normalize = self.normalizer_fn
        return casts.cast(feature if normalize is None else normalize(feature), dtypes.float32)

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        return transformation_cache.get(self, state_manager)


def numeric_column(
    key: Any,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer_fn: Any = None,
) -> NumericColumn:
    """Numbers, of the given shape per example.

    `default_value` is for examples that lack the feature; `normalizer_fn` is applied to the tensor.

    Args:
        key: the name of the feature.
        shape: of the numbers of one example.
        default_value: a number, or one for each; None makes a missing feature an error.
        dtype: the type of the feature.
        normalizer_fn: a function of the tensor.

    Returns:
        A feature column.

    Raises:
        TypeError: an argument is of the wrong kind.
        ValueError: a size is not positive, or the type is not numeric.

    Example:
        >>> age = tf.feature_column.numeric_column("age", normalizer_fn=lambda x: x / 100)
        >>> session.run(tf.feature_column.input_layer({"age": [[50.0], [20.0]]}, [age]))
        array([[0.5],
               [0.2]], dtype=float32)
    """
    shape = checks.check_shape(shape, key)
    checks.check_numeric(dtype, key, None)
    default_value = checks.check_default_value(shape, default_value, dtype, key)
    checks.check_numeric(dtype, key, normalizer_fn)
    checks.assert_key_is_string(key)
    return NumericColumn(key, shape, default_value, dtype, normalizer_fn)


class BucketizedColumn(
    DenseColumn, CategoricalColumn, namedtuple("BucketizedColumn", ["source_column", "boundaries"])
):
    """See `bucketized_column`."""

    no_gaps = True

    @property
    def _is_v2_column(self) -> bool:  # type: ignore[override]
        return is_feature_column_v2([self.source_column])

    @property
    def name(self) -> str:
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.source_column.parse_example_spec

    @property
    def parents(self) -> list[Any]:
        return [self.source_column]

    @property
    def _buckets(self) -> int:
        return len(self.boundaries) + 1

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape((*self.source_column.shape, self._buckets))

    @property
    def num_buckets(self) -> int:
        return self._buckets * self.source_column.shape[0]

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The number of the bucket of every value."""
        source = transformation_cache.get(self.source_column, state_manager)
        return bins.bucketize(source, boundaries=list(self.boundaries))

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """One hot for every value."""
        numbers = casts.cast(transformation_cache.get(self, state_manager), dtypes.int64)
        return select.one_hot(numbers, self._buckets, on_value=1.0, off_value=0.0)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """An id for every bucket of every value of an example."""
        numbers = transformation_cache.get(self, state_manager)
        ids = bucket_ids(numbers, self._buckets, self.source_column.shape[0])
        return CategoricalColumn.IdWeightPair(ids, None)


def bucket_ids(numbers: Any, buckets: int, width: int) -> SparseTensor:
    """Numbers of buckets, [batch, width], as ids that differ from one value to the next."""
    batch = array.shape(numbers)[0]
    steps = array.expand_dims(sequence.range(0, batch), 1)
    rows = array.reshape(array.tile(steps, [1, width]), (-1,))
    columns = array.tile(sequence.range(0, width), [batch])
    ids = array.reshape(numbers, (-1,)) + buckets * columns
    places = array.transpose(array.stack((rows, columns)))
    indices = casts.cast(places, dtypes.int64)
    shape = array.stack([batch, width])
    return SparseTensor(indices, ids, casts.cast(shape, dtypes.int64))


def bucketized_column(source_column: Any, boundaries: Any) -> BucketizedColumn:
    """A numeric column of one dimension, cut at `boundaries`: each is the start of a bucket."""
    if not isinstance(source_column, NumericColumn):
        raise ValueError(
            "source_column must be a column generated with numeric_column(). "
            f"Given: {source_column}"
        )
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    ordered = isinstance(boundaries, list | tuple) and not any(
        a >= b for a, b in itertools.pairwise(boundaries)
    )
    checks.refuse(
        (not boundaries, "boundaries must not be empty."),
        (not ordered, "boundaries must be a sorted list."),
    )
    return BucketizedColumn(source_column, tuple(boundaries))
