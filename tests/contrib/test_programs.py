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
    values = _leaves(found.pop("values", [])), _leaves(wanted.get("values", []))
    assert found == {key: fact for key, fact in wanted.items() if key != "values"}
    for (kind, shape, few), (wanted_kind, wanted_shape, wanted_few) in zip(*values, strict=True):
        assert (kind, shape) == (wanted_kind, wanted_shape)
        if kind == "string":
            assert few == wanted_few
        else:
            numbers = [np.array(each, np.float64) for each in (few, wanted_few)]
            np.testing.assert_allclose(*numbers, rtol=1e-3, atol=1e-4)


def _leaves(value: Any) -> list[Any]:
    """The fetched arrays: (type, shape, first elements)."""
    if value is None:
        return []
    if value and isinstance(value[0], str):
        return [value]
    return [leaf for part in value for leaf in _leaves(part)]
