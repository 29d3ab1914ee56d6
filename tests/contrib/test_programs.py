"""Programs of tf.contrib against what TensorFlow 1.15.5 made of them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.contrib.programs import FAMILIES, outcome, programs_of, read

recorded = functools.cache(read)


@pytest.mark.parametrize(
    ("family", "name"), [(family, name) for family in FAMILIES for name in programs_of(family)]
)
def test_nodes_and_seeded_values_are_those_of_tensorflow(family: str, name: str) -> None:
    wanted: Any = recorded(family)[name]
    found = outcome(tf, programs_of(family)[name])
    assert found["nodes"] == wanted["nodes"]
    assert [shape for shape, *_ in found["values"]] == [shape for shape, *_ in wanted["values"]]
    for (_, first, total), (_, wanted_first, wanted_total) in zip(
        found["values"], wanted["values"], strict=True
    ):
        if first and isinstance(first[0], str):
            assert first == wanted_first
        else:
            np.testing.assert_allclose(first, wanted_first, rtol=1e-3, atol=1e-4)
            np.testing.assert_allclose(total, wanted_total, rtol=1e-3, atol=1e-3)
