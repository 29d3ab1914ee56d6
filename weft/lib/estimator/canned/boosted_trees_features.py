"""Feature columns of boosted trees as one tensor of bucket numbers for each feature id."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.feature_column.base import CategoricalColumn, DenseColumn
from weft.lib.feature_column.indicator import IndicatorColumn
from weft.lib.feature_column.numeric import BucketizedColumn
from weft.lib.feature_column.transformation import FeatureTransformationCache
from weft.ops.array import array
from weft.ops.math import math


def is_float(column: Any) -> bool:
    """Whether a column's values are numbers that quantiles are to cut into buckets."""
    if isinstance(column, (BucketizedColumn, IndicatorColumn)):
        return False
    if isinstance(column, CategoricalColumn):
        raise ValueError(f"CategoricalColumn must be wrapped by IndicatorColumn, got: {column}")
    if isinstance(column, DenseColumn) and hasattr(column, "dtype"):
        return bool(column.dtype.is_floating)
    raise ValueError(f"Encountered unexpected column {column}")


def width(column: Any) -> int:
    """How many feature ids a column has."""
    if isinstance(column, BucketizedColumn):
        return 1
    if isinstance(column, IndicatorColumn):
        return int(column.categorical_column.num_buckets)
    dims = column.variable_shape.as_list()
    if len(dims) > 1:
        raise ValueError(
            "For now, we only support Dense column with rank of 1, but column "
            f"`{column.name}` got: {column.variable_shape}"
        )
    return dims[0] if dims else 1


def names(columns: list[Any]) -> list[str]:
    """The name of the column that each feature id belongs to."""
    found: list[str] = []
    for column in columns:
        inner = column.categorical_column if isinstance(column, IndicatorColumn) else column
        is_float(column)
        found += [inner.name] * width(column)
    return found


def transformed(features: dict[str, Any], columns: list[Any], boundaries: Any = None) -> list[Any]:
    """The values of each feature id; with `boundaries`, floats as the numbers of their buckets."""
    cache = FeatureTransformationCache(features)
    found: list[Tensor] = []
    for column in columns:
        value = cache.get(column)
        if isinstance(column, BucketizedColumn):
            value = array.squeeze(value, [1])
            if (value.shape.ndims or 1) > 1:
                raise ValueError(
                    "For now, only supports features equivalent to rank 1 but column "
                    f"`{column.source_column.name}` got: {value.shape}"
                )
            found.append(value)
        elif isinstance(column, IndicatorColumn):
            found += array.unstack(math.cast(value, dtypes.int32), width(column), axis=1)
        else:
            parts = array.unstack(value, width(column), axis=1)
            if boundaries:
                parts = list(raw.BoostedTreesBucketize(parts, boundaries[column.name]))
            found += parts
    return found


def grouped(columns: list[Any], num_quantiles: int) -> tuple[list[int], list[list[int]]]:
    """(numbers of buckets, the feature ids that have so many)

    Bucketized columns all get as many buckets as the finest of them.
    """
    most = max([2, *(len(c.boundaries) + 1 for c in columns if isinstance(c, BucketizedColumn))])
    groups: dict[int, list[int]] = {}
    bucketized: list[int] = []
    number = 0
    for column in columns:
        ids = list(range(number, number + width(column)))
        number += len(ids)
        if isinstance(column, BucketizedColumn):
            bucketized += ids
        elif isinstance(column, IndicatorColumn):
            groups.setdefault(2, []).extend(ids)
        else:
            groups.setdefault(num_quantiles, []).extend(ids)
    if bucketized:
        groups.setdefault(most, []).extend(bucketized)
    return list(groups), list(groups.values())
