"""Shuffles that are met at several places, or again and again, of one pipeline.

TensorFlow 1.15 keeps a generator of seeds for each place in each iterator: both sides of a `zip`
go through a dataset in one order, and every repetition at a place has the next one.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.data.elements import drain

FIRST, SECOND, THIRD = [4, 3, 2, 0, 1], [1, 4, 0, 3, 2], [1, 2, 3, 4, 0]


def shuffled():
    return tf.data.Dataset.range(5).shuffle(5, seed=3)


def _each(count, make):
    return tf.data.Dataset.range(count).flat_map(lambda _: make)


def _mapped(dataset):
    return dataset.map(lambda x: x)


SHARED = {
    "side by side": (lambda d: tf.data.Dataset.zip((d, d)), list(zip(FIRST, FIRST, strict=True))),
    "repeated side by side": (
        lambda d: tf.data.Dataset.zip((_mapped(d).repeat(2), _mapped(d).repeat(2))),
        list(zip(FIRST + SECOND, FIRST + SECOND, strict=True)),
    ),
    "one after the other": (lambda d: d.concatenate(d).repeat(2), FIRST * 2 + SECOND * 2),
    "in turn": (
        lambda d: tf.data.experimental.choose_from_datasets(
            [d, d], tf.data.Dataset.from_tensor_slices(np.array([0, 0, 1, 1]))
        ),
        FIRST[:2] * 2,
    ),
    "for each element": (lambda d: _each(2, d).repeat(2), FIRST * 2 + SECOND * 2),
    "for each of a cycle": (
        lambda d: tf.data.Dataset.range(3).interleave(lambda _: d, 1), FIRST + SECOND + THIRD
    ),
    "twice": (lambda d: d.shuffle(1, seed=9).repeat(3), FIRST + SECOND + THIRD),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
def test_orders(name) -> None:
    tf.set_random_seed(7)
    make, wanted = SHARED[name]
    iterator = tf.data.make_initializable_iterator(make(shuffled()))
    following = iterator.get_next()
    with tf.Session() as session:
        for _ in range(2):
            session.run(iterator.initializer)
            assert [session.run(following) for _ in wanted] == wanted


@pytest.mark.parametrize("version, is_anew", [("eager_execution", False), ("v2_behavior", True)])
def test_eager_loops(version, is_anew) -> None:
    program = f"""
import weft as tf
tf.enable_{version}()
dataset = tf.data.Dataset.range(50).shuffle(50, seed=3)
print([int(x) for x in dataset] != [int(x) for x in dataset])
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert found.stdout.strip() == str(is_anew), found.stderr


# ---- branches, and passes that begin in vain -----------------------------------------------------


def _passes(dataset: Any) -> list[Any]:
    element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        return drain(tf, session, element)


def _kept(dataset: Any) -> Any:
    return dataset.filter(lambda x: x > -1)


def test_repetitions_of_repetitions_use_up_seeds_between_them() -> None:
    tf.set_random_seed(7)
    shuffled = tf.data.Dataset.range(8).shuffle(3, seed=7)
    found = _passes(_kept(_kept(shuffled).repeat(2)).repeat(2))
    orders = ["".join(map(str, found[i : i + 8])) for i in range(0, 32, 8)]
    assert orders == ["21453760", "10435267", "12056743", "20436751"]


def test_three_repetitions_deep() -> None:
    tf.set_random_seed(7)
    dataset = tf.data.Dataset.range(8).shuffle(3, seed=7)
    for _ in range(3):
        dataset = _kept(dataset).repeat(2)
    found = _passes(dataset)
    orders = ["".join(map(str, found[i : i + 8])) for i in range(32, 64, 8)]
    assert orders == ["21045763", "23456107", "03125467", "02453617"]


def test_flat_maps_of_flat_maps_shuffle_each_for_themselves() -> None:
    tf.set_random_seed(7)

    def four(x: Any) -> Any:
        return tf.data.Dataset.range(4).shuffle(3)

    found = _passes(tf.data.Dataset.range(2).flat_map(four).flat_map(four))
    assert found == [2, 0, 3, 1] * 8


def test_a_parallel_interleave_shuffles_each_dataset_anew() -> None:
    tf.set_random_seed(7)
    dataset = tf.data.Dataset.range(4).interleave(
        lambda x: tf.data.Dataset.range(4).shuffle(3, seed=1), 2, num_parallel_calls=2
    )
    found = "".join(map(str, _passes(dataset.repeat(2))))
    assert found == "22331100" * 2 + "11003322" * 2


@pytest.mark.parametrize("seed", [None, 3])
def test_functions_of_a_dataset_that_is_taken_twice_draw_the_same_numbers(seed: Any) -> None:
    tf.set_random_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the graph's seed is used in the function
        drawn = tf.data.Dataset.range(8).map(
            lambda x: x + tf.random_uniform([], maxval=100, dtype=tf.int64, seed=seed)
        )
    pairs = _passes(tf.data.Dataset.zip((drawn, drawn)).repeat(2))
    assert all(a == b for a, b in pairs) and pairs[:8] != pairs[8:]
    chain = _passes(drawn.concatenate(drawn))
    assert chain[:8] == chain[8:] == [a for a, _ in pairs[:8]]
