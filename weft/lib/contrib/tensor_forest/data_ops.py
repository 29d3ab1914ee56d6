"""The inputs of a forest, as one matrix of numbers and one tensor of labels."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.sparse.convert import sparse_tensor_to_dense
from weft.ops.strings.hash import string_to_hash_bucket_fast


def CastToFloat(tensor: Any) -> Any:
    """Numbers as floats; strings as the numbers of their hashes."""
    if tensor.dtype is dtypes.string:
        return math.cast(string_to_hash_bucket_fast(tensor, 2**23), dtypes.float32)
    return math.cast(tensor, dtypes.float32)


def _matrix(tensor: Any) -> Tensor:
    if isinstance(tensor, SparseTensor):
        tensor = sparse_tensor_to_dense(tensor)
    tensor = CastToFloat(convert_to_tensor(tensor))
    return array.expand_dims(tensor, 1) if tensor.shape.ndims == 1 else tensor


def ParseDataTensorOrDict(data: Any) -> tuple[Tensor, None, dict[str, Any]]:
    """(the features as one matrix, None, the width of each column by name).

    Columns of a dict come in the order of their names. TensorFlow keeps sparse ones apart; here
    they are made dense.
    """
    columns = dict(sorted(data.items())) if isinstance(data, dict) else {"features": data}
    parts = {name: _matrix(column) for name, column in columns.items()}
    whole = list(parts.values())
    joined = whole[0] if len(whole) == 1 else array.concat(whole, 1)
    return joined, None, {name: part.shape.as_list()[-1] for name, part in parts.items()}


def ParseLabelTensorOrDict(labels: Any) -> Tensor:
    """Labels as floats; those of a dict side by side, in the order of their names."""
    if isinstance(labels, dict):
        return array.concat([CastToFloat(labels[name]) for name in sorted(labels)], 1)
    if isinstance(labels, SparseTensor):
        labels = sparse_tensor_to_dense(labels)
    found: Tensor = CastToFloat(convert_to_tensor(labels))
    return found
