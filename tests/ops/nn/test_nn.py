"""tf.nn's composed functions: names of their nodes, values, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution

RANDOM = np.random.default_rng(5)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetches, feeds)


def node_names() -> list[str]:
    return [op.name for op in tf.get_default_graph().get_operations()]


def test_dropout_is_built_as_in_tensorflow() -> None:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    tf.nn.dropout(x, keep_prob=0.75, seed=1)
    assert node_names() == [
        "x",
        "dropout/rate",
        "dropout/Shape",
        "dropout/random_uniform/min",
        "dropout/random_uniform/max",
        "dropout/random_uniform/RandomUniform",
        "dropout/random_uniform/sub",
        "dropout/random_uniform/mul",
        "dropout/random_uniform",
        "dropout/sub/x",
        "dropout/sub",
        "dropout/truediv/x",
        "dropout/truediv",
        "dropout/GreaterEqual",
        "dropout/mul",
        "dropout/Cast",
        "dropout/mul_1",
    ]


def test_dropout_keeps_the_mean_and_whole_rows() -> None:
    x = np.ones((200, 50), np.float32)
    dropped, rows = run(
        [
            tf.nn.dropout(x, rate=0.5, seed=3),
            tf.nn.dropout(x, rate=0.5, noise_shape=[None, 1], seed=3),
        ]
    )
    assert set(np.unique(dropped)) == {0.0, 2.0} and abs(dropped.mean() - 1) < 0.05
    assert (rows == rows[:, :1]).all()
    constant = tf.constant(x)
    assert tf.nn.dropout(constant, rate=0.0) is constant


@pytest.mark.parametrize(
    "options", [{}, {"rate": 1.0}, {"rate": -0.1}, {"rate": 0.1, "keep_prob": 0.9}]
)
def test_dropout_refuses(options: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        tf.nn.dropout(tf.constant([1.0]), **options)


@pytest.mark.parametrize("axis", [-1, 0, 1, -2, 2])
def test_softmax_along_an_axis(axis: int) -> None:
    x = normal(2, 3, 4)
    powers = np.exp(x)
    expected = powers / powers.sum(axis, keepdims=True)
    soft, log = run([tf.nn.softmax(x, axis), tf.nn.log_softmax(x, axis)])
    np.testing.assert_allclose(soft, expected, rtol=1e-5)
    np.testing.assert_allclose(log, np.log(expected), rtol=1e-4, atol=1e-5)


def test_softmax_refuses_an_axis_that_is_not_there() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"must be in the range \[-2, 2\)"):
        tf.nn.softmax(tf.ones([2, 3]), axis=2)


def test_cross_entropies_agree() -> None:
    logits, classes = normal(4, 5), np.array([0, 4, 2, 2])
    hot = np.eye(5, dtype=np.float32)[classes]
    cube = logits.reshape(2, 2, 5)
    results = run(
        [
            tf.nn.softmax_cross_entropy_with_logits(labels=hot, logits=logits),
            tf.nn.softmax_cross_entropy_with_logits_v2(labels=hot.T, logits=logits.T, axis=0),
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits),
            tf.reshape(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=classes.reshape(2, 2), logits=cube
                ),
                [-1],
            ),
        ]
    )
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=1e-5)


def test_labels_get_no_gradient_in_the_first_version() -> None:
    labels, logits = tf.constant([[0.5, 0.5]]), tf.constant([[1.0, 2.0]])
    old = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    new = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    assert tf.gradients(old, labels) == [None]
    assert tf.gradients(new, labels)[0] is not None


def test_labels_out_of_range() -> None:
    logits, labels = tf.constant(normal(2, 3)), tf.placeholder(tf.int32, [2])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="label value of 3"),
    ):
        session.run(loss, {labels: [0, 3]})


def test_moments_and_normalization() -> None:
    x = normal(6, 5) * 3 + 1
    mean, variance = tf.nn.moments(tf.constant(x), [0])
    weighted = tf.nn.weighted_moments(tf.constant(x), [0], np.ones((6, 1), np.float32))
    statistics = tf.nn.sufficient_statistics(x, [0], shift=1.0)
    again = tf.nn.normalize_moments(*statistics)
    normal_x = tf.nn.batch_normalization(x, mean, variance, None, None, 0.0)
    results = run([(mean, variance), weighted, again, normal_x])
    for m, v in results[:3]:
        np.testing.assert_allclose(m, x.mean(0), rtol=1e-4)
        np.testing.assert_allclose(v, x.var(0), rtol=1e-4)
    np.testing.assert_allclose(results[3].std(0), 1, rtol=1e-4)


def test_largest_entries_have_names() -> None:
    top = tf.nn.top_k([[1.0, 5.0, 3.0]], k=2)
    assert run(top.values).tolist() == [[5, 3]] and run(top.indices).tolist() == [[1, 2]]
    assert run(tf.nn.in_top_k([[0.1, 0.9]], [0], 1)).tolist() == [False]


@pytest.mark.parametrize("strategy", ["mod", "div"])
@pytest.mark.parametrize("resource", [False, True])
def test_embedding_lookup_in_parts(strategy: str, resource: bool) -> None:
    table = normal(7, 3)
    split = [table[i::3] for i in range(3)] if strategy == "mod" else np.split(table, [3, 5])
    parts = [
        tf.get_variable(f"part{i}", initializer=part, use_resource=resource)
        for i, part in enumerate(split)
    ]
    ids = [[6, 0], [3, 3]]
    rows = tf.nn.embedding_lookup(parts, ids, strategy)
    clipped = tf.nn.embedding_lookup(parts, ids, strategy, max_norm=0.5)
    grads = tf.gradients(rows, parts, np.ones((2, 2, 3), np.float32))
    dense = [tf.convert_to_tensor(g) for g in grads]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, short, *counts = session.run([rows, clipped, *dense])
    np.testing.assert_array_equal(found, table[ids])
    assert np.linalg.norm(short, axis=-1).max() < 0.5 + 1e-5
    used = sum(count[:, 0].sum() for count in counts)
    assert rows.shape.as_list() == [2, 2, 3] and used == 4


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_embeddings(combiner: str, weighted: bool) -> None:
    table, ids = normal(5, 2), np.array([1, 3, 3, 0])
    weights = np.array([1.0, 2.0, 0.5, 3.0], np.float32) if weighted else np.ones(4, np.float32)
    places = np.array([[0, 0], [0, 1], [1, 0], [2, 0]])
    sparse = tf.SparseTensor(places, ids, [3, 2])
    sparse_weights = tf.SparseTensor(places, weights, [3, 2]) if weighted else None
    rows = tf.nn.embedding_lookup_sparse(table, sparse, sparse_weights, combiner=combiner)
    expected = np.stack([sum(weights[i] * table[ids[i]] for i in g) for g in ([0, 1], [2], [3])])
    norm = {"sum": lambda w: 1.0, "mean": np.sum, "sqrtn": lambda w: np.sqrt(np.sum(w**2))}[
        combiner
    ]
    expected /= np.array([norm(weights[g]) for g in ([0, 1], [2], [3])])[:, None]
    np.testing.assert_allclose(run(rows), expected, rtol=1e-5)


def test_sampled_losses_approach_the_full_ones() -> None:
    weights, biases, inputs = normal(6, 4), normal(6), normal(3, 4)
    labels = np.array([[0], [5], [2]])
    everything = (np.arange(6), np.ones((3, 1), np.float32), np.ones(6, np.float32))
    loss = tf.nn.sampled_softmax_loss(
        weights, biases, tf.constant(labels), tf.constant(inputs), 6, 6, sampled_values=everything
    )
    logits = inputs @ weights.T + biases
    exact = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels[:, 0], logits=logits)
    a, b = run([loss, exact])
    np.testing.assert_allclose(a, b, rtol=1e-4)


def test_rows_of_resources_are_looked_up_eagerly() -> None:
    with EagerExecution().as_default():
        table = tf.Variable(np.arange(12.0).reshape(4, 3), dtype=tf.float32, use_resource=True)
        ids = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 3, 1], [3, 2])
        with tf.GradientTape() as tape:
            found = tf.nn.safe_embedding_lookup_sparse(table, ids)
        for rows in (found, tf.nn.safe_embedding_lookup_sparse(table, ids)):
            np.testing.assert_allclose(rows, [[6, 7, 8], [0, 0, 0], [3, 4, 5]])
        gradient = tf.convert_to_tensor(tape.gradient(found, table))
        np.testing.assert_allclose(gradient[:, 0], [0, 1.5, 0, 0.5])
