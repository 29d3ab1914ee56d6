"""Converted functions compute what Python computes: with numbers, and with tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.autograph.programs import PROGRAMS

CASES = [pytest.param(f, inputs, id=f.__name__) for f, inputs in PROGRAMS]


@pytest.mark.parametrize(("function", "inputs"), CASES)
def test_with_numbers(function: Any, inputs: Any) -> None:
    converted = tf.autograph.to_graph(function)
    assert [converted(*args) for args in inputs] == [function(*args) for args in inputs]


@pytest.mark.parametrize(("function", "inputs"), CASES)
def test_with_tensors(function: Any, inputs: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        places = [tf.placeholder(tf.int32, [], name=f"x{i}") for i in range(len(inputs[0]))]
        result = tf.function(function)(*places)
        for args in inputs:
            found = session.run(result, dict(zip(places, args, strict=True)))
            _compare(found, function(*args))


def _compare(found: Any, wanted: Any) -> None:
    tf.nest.assert_same_structure(found, wanted)
    for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
        np.testing.assert_array_equal(a, b)
