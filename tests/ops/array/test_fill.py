"""The nodes that `tf.zeros` and `tf.ones` add, whose number decides the seeds of what follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf


def added(shape: Any) -> list[str]:
    """The names of the nodes for zeros of `shape`."""
    tf.zeros(shape)
    return [op.name for op in tf.get_default_graph().get_operations() if "zeros" in op.name]


def length() -> tf.Tensor:
    return tf.placeholder(tf.int32, [], name="length")


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        ([2, 3], ["zeros"]),
        ([], ["zeros"]),
        (range(2, 4), ["zeros"]),
        ([1000], ["zeros/shape_as_tensor", "zeros/Const", "zeros"]),
        (5, ["zeros/shape_as_tensor", "zeros/Const", "zeros"]),
        (np.array(5), ["zeros/shape_as_tensor", "zeros/Const", "zeros"]),
        (tf.Dimension(5), ["zeros/shape_as_tensor", "zeros/Const", "zeros"]),
    ],
)
def test_one_number_is_a_vector_that_is_filled(shape: Any, names: list[str]) -> None:
    assert added(shape) == names


@pytest.mark.parametrize(
    ("shape", "compared"),
    [
        (lambda: [length()], []),
        (lambda: [length(), 3], ["zeros/mul/y", "zeros/mul"]),
        (lambda: [3, length()], ["zeros/mul/x", "zeros/mul"]),
        (
            lambda: (2, length(), length()),
            ["zeros/mul/x", "zeros/mul", "zeros/mul_1"],
        ),
    ],
)
def test_lists_of_tensors_are_compared_with_a_small_size(
    shape: Callable[[], Any], compared: list[str]
) -> None:
    names = [name for name in added(shape()) if "packed/" not in name]
    filled = ["zeros/packed", "zeros/Const", "zeros"]
    assert names == [*compared, "zeros/Less/y", "zeros/Less", *filled]


def test_a_tensor_that_is_the_shape_is_compared_with_nothing(sess: tf.Session) -> None:
    size = tf.constant([2, 3])
    filled = tf.ones(size)
    assert [op.type for op in tf.get_default_graph().get_operations()] == ["Const", "Const", "Fill"]
    np.testing.assert_array_equal(sess.run(filled), np.ones((2, 3)))


def test_sizes_below_zero_are_told_as_a_partial_shape() -> None:
    with pytest.raises(ValueError, match=r"must be >= 0 .* partial shapes: input\[0\] = \[\?,3\]"):
        tf.zeros([-1, 3])
