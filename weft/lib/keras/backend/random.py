"""Random tensors. Without a seed they take one from NumPy, so that seeding NumPy is enough."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph.graph import Tensor
from weft.lib.keras.backend.config import floatx
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.random import random


def _seed(seed: int | None) -> int:
    return int(np.random.randint(10**7)) if seed is None else seed


def random_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """Numbers drawn from a normal distribution."""
    return random.random_normal(
        shape, mean=mean, stddev=stddev, dtype=dtype or floatx(), seed=_seed(seed)
    )


def random_uniform(
    shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """Numbers drawn from a uniform distribution."""
    return random.random_uniform(
        shape, minval=minval, maxval=maxval, dtype=dtype or floatx(), seed=_seed(seed)
    )


def random_binomial(
    shape: Any, p: float = 0.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """Ones with probability `p`, zeros else."""
    dtype = dtype or floatx()
    drawn = random.random_uniform(shape, dtype=dtype, seed=_seed(seed))
    return select.where(drawn <= p, array.ones(shape, dtype=dtype), array.zeros(shape, dtype=dtype))


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: int | None = None
) -> Tensor:
    """Numbers drawn from a normal distribution, within two standard deviations."""
    return random.truncated_normal(shape, mean, stddev, dtype=dtype or floatx(), seed=_seed(seed))
