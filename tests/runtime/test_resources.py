"""Variables as cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from weft.core import dtypes
from weft.runtime.resources import ResourceStore, Variable


class Taken:
    """A device array that another step is given while it is read."""

    def __init__(self, cell: Variable, replaced: bool) -> None:
        self.cell, self.replaced = cell, replaced

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        if self.replaced:
            self.cell.value = np.ones(2, np.float32)
        raise RuntimeError("Array has been deleted")


def test_a_read_survives_that_a_step_takes_the_buffer() -> None:
    cell = ResourceStore().variable("", "v", dtypes.float32, (2,))
    cell.value = Taken(cell, replaced=True)
    assert cell.read().tolist() == [1.0, 1.0]
    cell.value = Taken(cell, replaced=False)
    with pytest.raises(RuntimeError, match="deleted"):
        cell.read()
