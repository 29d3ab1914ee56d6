"""What must not be done with a TensorArray fails in each step, interpreted or compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.lists.refusals import check_refusals

Feeds = list[Any]


def _array(size: Any, **options: Any) -> Any:
    return tf.TensorArray(tf.float32, size=size, element_shape=[], **options)


def _read_of_nothing(x: Any, i: Any) -> Any:
    return _array(tf.size(x)).unstack(x).read(0)


def _read_outside(x: Any, i: Any) -> Any:
    return _array(tf.size(x)).unstack(x).read(i)


def _read_of_what_grew(x: Any, i: Any) -> Any:
    return _array(0, dynamic_size=True).write(0, x[0]).read(i)


def _write_to_nothing(x: Any, i: Any) -> Any:
    return _array(tf.size(x)).write(0, 1.0).flow


def _gather_outside(x: Any, i: Any) -> Any:
    return _array(tf.size(x)).unstack(x).gather([0, i])


def _scatter_outside(x: Any, i: Any) -> Any:
    return _array(2).scatter([0, i], tf.concat([x, x], 0)[:2]).stack()


def _scatter_to_one_place(x: Any, i: Any) -> Any:
    return _array(3).scatter([i, i], x).flow


def _read_twice(x: Any, i: Any) -> Any:
    array = _array(tf.size(x)).unstack(x)
    with tf.control_dependencies([array.read(0)]):
        return array.read(0)


def _read_after_all(x: Any, i: Any) -> Any:
    array = _array(2).unstack(x)
    with tf.control_dependencies([array.stack()]):
        return array.read(1)


def _read_in_each_turn(x: Any, i: Any) -> Any:
    array = _array(tf.size(x)).unstack(x)
    return tf.while_loop(lambda k, _: k < 2, lambda k, v: (k + 1, v + array.read(0)), [0, 0.0])


def _write_what_was_read(x: Any, i: Any) -> Any:
    array = _array(3).write(0, x[0])
    with tf.control_dependencies([array.read(0)]):
        return array.write(0, 2.0).flow


@pytest.mark.parametrize(
    ("misuse", "good", "bad"),
    [
        (_read_of_nothing, ([1.0], 0), ([], 0)),
        (_read_outside, ([1.0, 2.0], 1), ([1.0, 2.0], 2)),
        (_read_outside, ([1.0, 2.0], 1), ([1.0, 2.0], -1)),
        (_read_of_what_grew, ([1.0], 0), ([1.0], 1)),
        (_write_to_nothing, ([1.0], 0), ([], 0)),
        (_gather_outside, ([1.0, 2.0], 1), ([1.0, 2.0], 2)),
        (_scatter_outside, ([1.0, 2.0], 1), ([1.0, 2.0], 2)),
        (_scatter_to_one_place, None, ([1.0, 2.0], 1)),
        (_read_twice, None, ([1.0], 0)),
        (_read_after_all, None, ([1.0, 2.0], 0)),
        (_read_in_each_turn, None, ([1.0], 0)),
        (_write_what_was_read, None, ([1.0], 0)),
    ],
)
def test_misuse_fails_in_each_step(
    misuse: Callable[[Any, Any], Any],
    good: tuple[Feeds, int] | None,
    bad: tuple[Feeds, int],
) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, i = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
        found = misuse(x, i)

        def run(feeds: tuple[Feeds, int]) -> Any:
            return session.run(found, {x: np.array(feeds[0], np.float32), i: feeds[1]})

        check_refusals(run, good, bad)


def test_a_loop_over_nothing_reads_nothing() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        doubled = tf.map_fn(lambda v: v * 2, x)
        for values in ([], [1.0], [], [2.0, 3.0], [], []):
            assert session.run(doubled, {x: values}).tolist() == [v * 2 for v in values]
