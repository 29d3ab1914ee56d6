"""The debug switch WEFT_NUMERICS: stop at the first node that makes a NaN or an infinity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.passes.client_graph import Node


class NumericCheck:
    """Called after every node; raises for the first bad value."""

    def __call__(self, node: Node, outputs: Sequence[Any]) -> None:
        for i, value in enumerate(outputs):
            if not isinstance(value, (np.ndarray, np.generic)) or not node.dtypes[i].is_floating:
                continue
            array = np.asarray(value, dtype=np.float64)
            if not np.isfinite(array).all():
                kind = "NaN" if np.isnan(array).any() else "Inf"
                raise errors.InvalidArgumentError(
                    None, None, f"Node {node.name!r} ({node.type}) made a {kind} in output {i}"
                )
