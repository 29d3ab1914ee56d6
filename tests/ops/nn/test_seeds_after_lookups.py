"""A seed that counts operations counts lookups as in TensorFlow 1.15; here they take fewer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

# (of a resource, weighted, combiner, what else) -> `seed2` of a random number that comes after it.
SEEDS: list[tuple[bool, bool, str, dict[str, Any], int]] = [
    (False, False, "mean", {}, 66), (False, True, "mean", {}, 117),
    (False, False, "sum", {}, 66), (False, True, "sum", {}, 97),
    (False, True, "sqrtn", {}, 120), (True, False, "mean", {}, 67),
    (True, True, "mean", {}, 118), (True, True, "sum", {}, 98), (True, True, "sqrtn", {}, 121),
    (False, False, "mean", {"default_id": 3}, 54), (True, False, "mean", {"max_norm": 1.0}, 84),
    (True, True, "sqrtn", {"default_id": 2}, 109),
]  # fmt: skip


@pytest.mark.parametrize(("resource", "weighted", "combiner", "more", "seed"), SEEDS)
def test_safe_lookups(
    resource: bool, weighted: bool, combiner: str, more: dict[str, Any], seed: int
) -> None:
    tf.set_random_seed(7)
    table = tf.get_variable(
        "v", [6, 2], initializer=tf.constant_initializer(np.arange(12.0)), use_resource=resource
    )
    ids = _sparse([1, 2, 1], tf.int64)
    weights = _sparse([1.0, 2.0, 0.5], tf.float32) if weighted else None
    tf.nn.safe_embedding_lookup_sparse([table], ids, weights, combiner=combiner, **more)
    shape, low, high = (tf.constant(each) for each in ([2], 0.0, 1.0))  # as many as a variable has
    drawn = tf.random_uniform(shape, low, high)
    seeds = [
        op.get_attr("seed2") for op in drawn.graph.get_operations() if op.type == "RandomUniform"
    ]
    assert seeds == [seed]


def _sparse(values: list[Any], dtype: Any) -> Any:
    rows = tf.constant([[0, 0], [0, 1], [2, 0]], tf.int64)
    return tf.SparseTensor(rows, tf.constant(values, dtype), tf.constant([4, 3], tf.int64))


def test_fractions_of_zeros() -> None:
    tf.nn.zero_fraction(tf.constant([0.0, 1.0, 0.0, 3.0]))
    assert len(tf.get_default_graph().get_operations()) == 27
    empty, some = tf.nn.zero_fraction(tf.zeros([0])), tf.nn.zero_fraction([0, 1, 0, 2])
    with tf.Session() as session:
        found = session.run([empty, some])
    assert np.isnan(found[0])
    assert found[1] == 0.5
