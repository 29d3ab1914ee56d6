"""A function that is called once for a batch gives what it gives for one element at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.ops.dataset.lift import lift

ROWS = np.arange(84, dtype=np.float32).reshape(7, 4, 3) / 7 - 5


def _image(x: Any) -> Any:
    resized = tf.image.resize_images(tf.cast(x, tf.float32)[tf.newaxis, :, :, tf.newaxis], [5, 6])
    return tf.squeeze(resized, [0, 3])


LIFTED: dict[str, Callable[[Any], Any]] = {
    "arithmetic": lambda x: tf.sqrt(tf.abs(x)) * 2.0 - x / 3.0,
    "scalar and row": lambda x: x[0, 0] + x[1] * tf.constant([1.0, 2.0, 3.0]),
    "row and matrix": lambda x: x - x[0] + tf.reduce_mean(x),
    "comparison": lambda x: tf.cast(x > tf.reduce_max(x) - 1.0, tf.int32),
    "axes": lambda x: (tf.reduce_sum(x, 0), tf.reduce_min(x, [-1]), tf.argmax(x, 1)),
    "kept axes": lambda x: x / tf.reduce_sum(x, axis=-1, keepdims=True),
    "shapes": lambda x: (tf.reshape(x, [-1]), tf.reshape(x, [2, 6]), tf.transpose(x)),
    "cuts": lambda x: (x[1:3], x[..., -1], x[::-1, 0], x[:, tf.newaxis, 1:]),
    "joins": lambda x: (tf.concat([x, x * 2], 1), tf.stack([x[0], x[3]], axis=1)),
    "types": lambda x: tf.one_hot(tf.cast(tf.abs(x[0]), tf.int32) % 4, 4, axis=0),
    "look up": lambda x: tf.gather(tf.range(20) * 3, tf.cast(tf.abs(x[:, 0]), tf.int32)),
    "draws": lambda x: tf.squeeze(
        tf.raw_ops.StatelessMultinomial(
            logits=[[0.0, 1.0, 2.0, -1.0]], num_samples=1, seed=tf.cast(x[0, :2] * 100, tf.int64)
        )
    ),
    "image": _image,
    "strings": lambda x: tf.string_to_number(tf.constant("7")) + x,
}


def run(dataset: Any) -> list[Any]:
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


def body_of(dataset: Any) -> Any:
    return dataset._functions()[0].graph.body()


@pytest.mark.parametrize("name", LIFTED)
def test_batches_of_results_are_results_of_batches(name: str) -> None:
    dataset = tf.data.Dataset.from_tensor_slices(ROWS).map(LIFTED[name])
    assert lift(body_of(dataset), 1) is not None
    single = run(dataset)
    if not isinstance(single[0], tuple):
        single = [(each,) for each in single]
    wanted = [np.stack(column) for column in zip(*single, strict=True)]
    for size in (3, 7):
        batches = run(dataset.batch(size))
        if not isinstance(batches[0], tuple):
            batches = [(each,) for each in batches]
        found = [np.concatenate(column) for column in zip(*batches, strict=True)]
        for ours, theirs in zip(found, wanted, strict=True):
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + tf.random_uniform([]),
        lambda x: tf.py_func(lambda v: v, [x], tf.float32),
        lambda x: tf.boolean_mask(x, x > 0),
        lambda x: tf.cond(x[0, 0] > 0, lambda: x, lambda: -x),
        lambda x: tf.Print(x, [x]),
    ],
)
def test_what_is_not_the_same_for_many_is_not_lifted(function: Any) -> None:
    dataset = tf.data.Dataset.from_tensor_slices(ROWS).map(function)
    assert lift(body_of(dataset), 1) is None


def test_elements_of_different_shapes_are_not_lifted() -> None:
    rows = tf.data.Dataset.range(1, 4).map(lambda n: tf.range(n))
    doubled = rows.map(lambda row: tf.reduce_sum(row * 2))
    assert lift(body_of(doubled), 1) is None
    assert run(doubled.batch(3))[0].tolist() == [0, 2, 6]


def taken(dataset: Any, steps: int) -> list[Any]:
    """What some steps get; None for an error."""
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found: list[Any] = []
    with tf.Session() as session:
        for _ in range(steps):
            try:
                found.append(session.run(element).tolist())
            except tf.errors.InvalidArgumentError:
                found.append(None)
    return found


def test_an_error_takes_its_batch_along_and_the_rest_follows() -> None:
    numbers = tf.data.Dataset.range(8)
    assert taken(numbers.map(lambda x: 6 // (x - 2)).batch(2), 4) == [
        [-3, -6],
        None,
        [3, 2],
        [1, 1],
    ]
    kept = numbers.filter(lambda x: 6 // (x - 2) < 4)
    assert taken(kept.batch(2), 4) == [[0, 1], None, [4, 5], [6, 7]]


def test_an_error_on_the_way_into_a_shuffle_buffer_loses_nothing() -> None:
    numbers = tf.data.Dataset.range(12).map(lambda x: 60 // (x - 5) * 0 + x)
    found = taken(numbers.shuffle(8, seed=2), 12)
    assert found[0] is None
    assert sorted(found[1:]) == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]


def test_shuffled_results_are_made_by_many_at_a_time() -> None:
    dataset = tf.data.Dataset.range(300).map(lambda x: (x * x, tf.cast(x, tf.float32) / 2))
    shuffled = run(dataset.shuffle(300, seed=1).batch(300))[0]
    order = run(tf.data.Dataset.range(300).shuffle(300, seed=1).batch(300))[0]
    np.testing.assert_array_equal(shuffled[0], order**2)
    np.testing.assert_array_equal(shuffled[1], (order / 2).astype(np.float32))
