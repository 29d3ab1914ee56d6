"""tf.contrib.libsvm: lines of numbered features."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.op_def import raw
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor


def decode_libsvm(
    content: Any, num_features: int, dtype: Any = None, label_dtype: Any = None
) -> tuple[SparseTensor, Tensor]:
    """(features, labels) of lines such as "1 3:0.5 7:2": a label, then numbers of features."""
    labels, *features = raw.DecodeLibsvm(
        content,
        num_features=num_features,
        dtype=dtype or dtypes.float32,
        label_dtype=label_dtype or dtypes.int64,
    )
    return SparseTensor(*features), labels
