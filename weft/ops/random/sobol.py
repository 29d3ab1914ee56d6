"""Sobol's sequence: points that fill a cube evenly."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid

_MOST_DIMENSIONS = 40
_BITS = 32


def _shape(c: s.ShapeContext) -> s.Dims:
    for i in range(3):
        s.with_rank(c.dims(i), 0)
    dims, count = c.value(0), c.value(1)
    return None if count is None else int(count), None if dims is None else int(dims)


@op(
    "SobolSample", inputs="dim: int32, num_results: int32, skip: int32",
    outputs="samples: dtype", attrs="dtype: {float, double} = float", shape=_shape,
    traits=HOST | NO_GRADIENT,
)  # fmt: skip
def sobol_sample_(xp: Any, dim: Any, num_results: Any, skip: Any, *, dtype: DType) -> Any:
    """The direction numbers are those of Joe and Kuo, which SciPy has as well."""
    from scipy.stats import qmc

    count, first = int(num_results), int(skip)
    if int(dim) < 1:
        raise invalid("dim must be at least one")
    if count < 1:
        raise invalid("num_results must be at least one")
    if first < 0:
        raise invalid("skip must be non-negative")
    if int(dim) > _MOST_DIMENSIONS:
        raise invalid(f"dim must not exceed {_MOST_DIMENSIONS}")
    directions = qmc.Sobol(int(dim), scramble=False, bits=_BITS)._sv.astype(np.uint64)
    # The origin, with which the sequence begins, is no point of TensorFlow's.
    index = np.arange(first + 1, first + 1 + count, dtype=np.uint64)
    points = np.zeros((count, int(dim)), np.uint64)
    gray = index ^ (index >> np.uint64(1))
    for bit in range(_BITS):
        chosen = (gray >> np.uint64(bit) & np.uint64(1)).astype(bool)
        points[chosen] ^= directions[:, bit]
    return (points / 2.0**_BITS).astype(dtype.as_numpy_dtype)
