"""Functions and kernels with a form of their own for NumPy."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

import numpy as np
import pytest

from weft.core.errors import InvalidArgumentError
from weft.graph.by_library import by_library, form_for_numpy
from weft.graph.op_def import REGISTRY, op
from weft.ops.kit.value_checks import noting, require


@by_library
def double(xp: Any, x: Any, times: int = 1) -> Any:
    """Twice `x`."""
    return "general", x * 2**times


@double.numpy
def _(xp: Any, x: Any, times: int = 1) -> Any:
    return "numpy", double.general(xp, x, times)[1]


def test_the_library_chooses() -> None:
    assert double(np, 3) == ("numpy", 6)
    assert double(object(), 3, times=2) == ("general", 12)
    assert form_for_numpy(double)(np, 1) == ("numpy", 2) and form_for_numpy(len) is len
    assert double.__doc__ == "Twice `x`." and double.__name__ == "double"
    assert list(inspect.signature(double).parameters) == ["xp", "x", "times"]


def test_a_kernel_with_two_forms() -> None:
    try:
        two = op("TwoForms", inputs="x: float", outputs="y: float")(lambda xp, x: ("general", x))
        two.numpy(lambda xp, x: ("numpy", x))
        assert two.kernel is not None and two.traceable
        assert two.kernel(np, 1) == ("numpy", 1) and two.kernel(object(), 1) == ("general", 1)
        with pytest.raises(AssertionError, match="TwoForms"):
            two.numpy(lambda xp, other: other)
    finally:
        del REGISTRY["TwoForms"]


def test_conditions_on_values() -> None:
    def complain() -> InvalidArgumentError:
        return InvalidArgumentError(None, None, "too small")

    class Notes:
        held: ClassVar[list[Any]] = []

        def must_hold(self, condition: Any) -> None:
            self.held.append(condition)

        def must_be_within(self, indices: Any, limit: int) -> None:
            raise AssertionError

    require(np, np.array([True, True]), complain)
    with pytest.raises(InvalidArgumentError, match="too small"):
        require(np, np.array([True, False]), complain)
    with noting(Notes()):
        require(object(), "condition", complain)
    assert Notes.held == ["condition"]
