"""Equal rows brought together, as reductions of sparse tensors need them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.ops.sparse.shape_nodes import row_major


def groups_of_rows(keys: Any) -> tuple[Any, Any]:
    """The order that brings equal rows of `keys` together, and where each group starts."""
    order = row_major(keys)
    ordered = keys[order]
    changes = np.any(ordered[1:] != ordered[:-1], axis=1)
    return order, np.flatnonzero(np.r_[True, changes][: len(keys)])
