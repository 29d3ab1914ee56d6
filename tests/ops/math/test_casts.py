"""Floats that no integer holds become what TensorFlow's kernels for x86 make of them."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.runtime.xla import region

FLOATS = [np.inf, -np.inf, np.nan, 3.7, -3.7, 300.0, -300.0, 6e4, 1e30, -1e30]
LEAST = {"int32": -(2**31), "int64": -(2**63)}
SMALL = {
    "int8": [0, 0, 0, 3, -3, 44, -44, 96, 0, 0],
    "int16": [0, 0, 0, 3, -3, 300, -300, -5536, 0, 0],
    "uint8": [0, 0, 0, 3, 253, 44, 212, 96, 0, 0],
    "uint16": [0, 0, 0, 3, 65533, 300, 65236, 60000, 0, 0],
}


def _expected(target: str) -> list[int]:
    if target in SMALL:
        return SMALL[target]
    least = LEAST[target]
    return [least, least, least, 3, -3, 300, -300, 60000, least, least]


@pytest.mark.parametrize("target", [*LEAST, *SMALL])
@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
def test_floats_that_do_not_fit(source: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region, "CALL_COST", 0.0)
    monkeypatch.setattr(region, "BUFFER_COST", 0.0)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(source, [None])
        integers = tf.cast(x, target)
        with np.errstate(over="ignore"):
            fed = np.array(FLOATS).astype(source)
        for _ in range(3):  # interpreted, then compiled
            assert session.run(integers, {x: fed}).tolist() == _expected(target)
