"""The seeds of datasets, as tensors."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.random_seed import get_seed as op_seeds
from weft.graph.tensor import Tensor

_MAX_INT32 = 2**31 - 1


def get_seed(seed: Any) -> tuple[Tensor, Tensor]:
    """The pair of seeds for a dataset made now; `seed` may be a tensor."""
    first, second = _pair(seed)
    first_tensor = convert_to_tensor(0 if first is None else first, dtypes.int64, name="seed")
    if second is None:
        return first_tensor, constant(0, dtype=dtypes.int64, name="seed2")
    with name_scope("seed2") as scope:
        own = convert_to_tensor(second, dtype=dtypes.int64)
        zeros = raw.LogicalAnd(raw.Equal(first_tensor, 0), raw.Equal(own, 0))
        # Two zeros would mean: seed yourself.
        most = constant(_MAX_INT32, dtype=dtypes.int64)
        return first_tensor, raw.Select(zeros, most, own, name=scope)


def _pair(seed: Any) -> tuple[Any, Any]:
    if not isinstance(seed, Tensor):
        return op_seeds(None if seed is None else int(seed))
    from weft.graph.random_seed import DEFAULT_GRAPH_SEED
    from weft.graph.stacks import get_default_graph

    graph_seed = get_default_graph().seed
    return (DEFAULT_GRAPH_SEED if graph_seed is None else graph_seed), seed % _MAX_INT32
