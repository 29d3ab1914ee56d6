"""tf.is_tensor."""

from __future__ import annotations

from typing import Any

from weft.graph.slices import IndexedSlices, SparseTensor
from weft.graph.tensor import Tensor


def is_tensor(x: Any) -> bool:
    """Whether `x` stands for a value in a graph: a tensor, a variable, or several in one object."""
    return (
        isinstance(x, (Tensor, IndexedSlices, SparseTensor))
        or hasattr(x, "_as_graph_element")
        or hasattr(x, "_composite_components")
        or bool(getattr(x, "is_tensor_like", False))
    )
