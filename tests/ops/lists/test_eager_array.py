"""tf.TensorArray in eager execution: a list whose elements tapes follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    with EagerExecution().as_default():
        yield


def array(size: Any = 2, **options: Any) -> Any:
    return tf.TensorArray(tf.float32, size, **options)


@pytest.mark.parametrize(
    "found, wanted",
    [
        (lambda: array().write(0, [1.0, 2.0]).stack(), [[1.0, 2.0], [0.0, 0.0]]),
        (lambda: array(1).write(0, 1.0).write(0, 3.0).stack(), [3.0]),
        (lambda: array(tf.constant(2)).unstack([1.0, 2.0]).gather([1, 0, 1]), [2.0, 1.0, 2.0]),
        (lambda: array(3).scatter([2, 0], [[1.0], [2.0]]).stack(), [[2.0], [0.0], [1.0]]),
        (lambda: array().split([1.0, 2.0, 3.0], [1, 2]).concat(), [1.0, 2.0, 3.0]),
        (lambda: array().unstack([1.0]).stack(), [1.0]),
        (lambda: array(0, dynamic_size=True).write(2, 5.0).identity().stack(), [0.0, 0.0, 5.0]),
        (lambda: array(3).size(), 3),
        (lambda: array(1, element_shape=[2]).read(0), [0.0, 0.0]),
        (lambda: array(0).stack(), np.zeros([0])),
        (lambda: array(0, element_shape=[3]).stack(), np.zeros([0, 3])),
        (lambda: tf.map_fn(lambda row: row * 2, tf.zeros([0, 3])), np.zeros([0])),
    ],
)
def test_values(found: Callable[[], Any], wanted: Any) -> None:
    np.testing.assert_array_equal(found().numpy(), wanted)


def read_twice() -> None:
    once = array().write(0, 1.0)
    once.read(0)
    once.read(0)


@pytest.mark.parametrize(
    "call, kind, message",
    [
        (lambda: array().write(2, 1.0), "OutOfRange", "index 2 but array is not resizeable"),
        (lambda: array().write(-1, 1.0), "OutOfRange", "negative indices (index -1)"),
        (lambda: array().read(2), "OutOfRange", "read from index 2 but array size is: 2"),
        (lambda: array().read(-1), "OutOfRange", "Reading from negative indices"),
        (read_twice, "InvalidArgument", "Could not read index 0 twice"),
        (lambda: array().write(0, tf.constant(1)), "InvalidArgument", "write dtype int32"),
        (lambda: array().write(0, 1.0).concat(), "InvalidArgument", "a scalar shape at index 0"),
        (lambda: array().split([1.0], [[1]]), "InvalidArgument", "received shape: [1, 1]"),
        (lambda: array().split(1.0, [1]), "InvalidArgument", "at least a vector"),
        (lambda: array().split([1.0, 2.0], [1, 2]), "InvalidArgument", "sum of lengths is 3"),
        (lambda: array().split([1.0, 2.0], [2]), "InvalidArgument", "lengths (2 vs. 1)"),
    ],
)
def test_refusals(call: Callable[[], Any], kind: str, message: str) -> None:
    with pytest.raises(getattr(tf.errors, f"{kind}Error")) as caught:
        call()
    assert message in caught.value.message


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: array().write(0, [1.0, 2.0]).write(1, [1.0]), "shape for value ((1,)), expected"),
        (lambda: array().unstack([1.0, 2.0, 3.0]), "Cannot unstack 3 tensors"),
        (lambda: tf.TensorArray(tf.float32), "Size must be declared"),
        (lambda: array().stack(), "partially known TensorShape"),
    ],
)
def test_refusals_of_python(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    assert message in str(caught.value)


def test_gradients_of_gradients() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        given, squares = array(3, clear_after_read=False).unstack(x), array(3)
        for i in range(3):
            squares = squares.write(i, given.read(i) * given.read(i))
        first = tape.gradient(tf.reduce_sum(squares.stack() * x), x)
    np.testing.assert_array_equal(first.numpy(), [3.0, 12.0, 27.0])
    np.testing.assert_array_equal(tape.gradient(first, x).numpy(), [6.0, 12.0, 18.0])


def test_arrays_go_in_and_out_of_functions() -> None:
    @tf.function
    def filled(given: Any) -> Any:
        return given.write(1, 7.0)

    twice = filled(filled(array().write(0, 1.0)))
    np.testing.assert_array_equal(twice.stack().numpy(), [1.0, 7.0])


def test_no_rows_are_an_empty_list() -> None:
    assert tf.unstack(tf.zeros([0, 3])) == []
