"""What TensorFlow checks of TensorArrays is checked in compiled steps too."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime.xla import region


@pytest.fixture(autouse=True)
def _compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region, "CALL_COST", -1e9)


def _array(size: int = 4) -> tf.TensorArray:
    return tf.TensorArray(tf.float32, size, element_shape=[2], clear_after_read=False)


def _loop(count: Any, write: Any, array: tf.TensorArray | None = None) -> Any:
    def body(i: Any, made: Any) -> Any:
        return i + 1, write(i, made)

    first = _array() if array is None else array
    return tf.while_loop(lambda i, _: i < count, body, [tf.constant(0), first])[1].stack()


TWICE = "because it has already been written to"
RANGE = "Tried to write to index .* but array is not resizeable and size is: 4"
BAD = {
    "at one number": (lambda x, k: _array().write(0, x).write(0, x * 2.0).stack(), TWICE),
    "at one value": (lambda x, k: _array().write(k, x).write(k, x * 2.0).stack(), TWICE),
    "after unstack": (lambda x, k: _array().unstack([x] * 4).write(1, x).stack(), TWICE),
    "scattered": (lambda x, k: _array().scatter([0, 1, 1], [x] * 3).stack(), TWICE),
    "in a loop": (lambda x, k: _loop(3, lambda i, a: a.write(0, x)), TWICE),
    "by one counter": (lambda x, k: _loop(3, lambda i, a: a.write(i, x).write(i, x)), TWICE),
    "beyond the end": (lambda x, k: _array().write(k + 9, x).stack(), RANGE),
    "number beyond the end": (lambda x, k: _array().write(4, x).stack(), RANGE),
    "a loop too long": (lambda x, k: _loop(k + 5, lambda i, a: a.write(i, x)), RANGE),
    "read beyond the end": (
        lambda x, k: _array().write(0, x).read(k + 9), "Tried to read from index 9",
    ),
}  # fmt: skip
FINE = {
    "each once": lambda x, k: _array().write(0, x).write(1, x * 2.0).stack(),
    "by a counter": lambda x, k: _loop(4, lambda i, a: a.write(i, x)),
    "after a first": lambda x, k: _loop(3, lambda i, a: a.write(i + 1, x), _array().write(0, x)),
    "made in the loop": lambda x, k: tf.while_loop(
        lambda i, _: i < 3, lambda i, t: (i + 1, t + _array().write(0, x).stack()),
        [0, tf.zeros([4, 2])],
    )[1],
    "gradients": lambda x, k: tf.gradients(
        tf.reduce_sum(_loop(4, lambda i, a: a.write(i, x)) ** 2), x
    )[0],
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refused(name: str) -> None:
    make, words = BAD[name]
    x, k = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int32, [])
    made = tf.exp(make(x, k)) + 1.0
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(made, {x: [1.0, 2.0], k: 0})


@pytest.mark.parametrize("name", FINE)
def test_allowed(name: str) -> None:
    x, k = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int32, [])
    made = FINE[name](x, k) * 2.0
    with tf.Session() as session:
        found = [session.run(made, {x: [1.0, 2.0], k: 0}) for _ in range(3)]
        assert any(map(_has_array_in_program, _regions())), "it was not compiled"
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])


def _regions() -> list[region.Region]:
    gc.collect()
    return [each for each in gc.get_objects() if type(each) is region.Region]


def _has_array_in_program(each: region.Region) -> bool:
    kinds = ("TensorArray", "_While")
    return each.has_program and any(n.type.startswith(kinds) for n in each.unit.nodes)
