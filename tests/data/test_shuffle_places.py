"""Shuffles that are met at several places, or again and again, of one pipeline.

TensorFlow 1.15 keeps a generator of seeds for each place in each iterator: both sides of a `zip`
go through a dataset in one order, and every repetition at a place has the next one.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import weft as tf

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
