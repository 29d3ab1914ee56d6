"""What is computed on the host because host nodes lie before and behind it."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft as tf
from weft.passes.pipeline import prepare
from weft.passes.regions.group import group
from weft.passes.regions.host_indexing import index_arithmetic


def moved(feeds: Any, *fetches: Any) -> tuple[set[str], int]:
    """The types of the nodes that stay on the host, and how many regions are left."""
    (part,) = prepare(feeds, list(fetches), [])
    found = index_arithmetic(part.graph)
    units = group(part.graph, found).units
    return {node.type for node in found}, sum(unit.is_region for unit in units)


def test_masks_and_positions_between_host_nodes() -> None:
    words = tf.placeholder(tf.string, [None])
    ids = tf.string_to_hash_bucket_fast(words, 10)
    kept = tf.gather(ids, tf.where(ids > 2)[:, 0])
    rows, _ = tf.unique(kept)
    table = tf.constant(np.arange(20.0).reshape(10, 2))
    types, regions = moved([words], tf.reduce_sum(tf.gather(table, rows)))
    assert types == {"Greater", "StridedSlice", "GatherV2"}
    assert regions == 1


def test_numbers_are_left_to_programs() -> None:
    x = tf.placeholder(tf.float32, [None])
    types, _ = moved([x], tf.py_func(lambda y: y, [tf.exp(x) * 2], tf.float32))
    assert not types


def test_what_follows_from_a_program_stays_in_it() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    best = tf.argmax(tf.exp(x), 1) + 1
    types, regions = moved([x], tf.py_func(lambda y: y, [best], tf.int64))
    assert not types and regions == 1


def test_values_are_moved_about_on_the_host() -> None:
    x = tf.placeholder(tf.float32, [None])
    both = tf.concat([x, x], 0)
    types, regions = moved([x], tf.py_func(lambda y: y, [both], tf.float32))
    assert types == {"ConcatV2"} and not regions
    with tf.Session() as session:
        for _ in range(3):
            found = session.run(tf.py_func(lambda y: y + 1, [both], tf.float32), {x: [1.0, 2.0]})
    np.testing.assert_array_equal(found, [2, 3, 2, 3])
