"""What tests of misused lists and arrays share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf


def check_refusals(run: Callable[[Any], Any], good: Any, bad: Any) -> None:
    """Asserts that steps of `bad` are refused, and that those of `good`, if given, give the same.

    The first steps are interpreted and the later ones compiled.
    """
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(bad)
    if good is None:
        return
    first = run(good)
    for _ in range(3):
        np.testing.assert_array_equal(run(good), first)
        with pytest.raises(tf.errors.InvalidArgumentError):
            run(bad)
