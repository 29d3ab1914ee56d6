"""Conditional random fields against all sequences of tags, counted out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import weft as tf

crf = tf.contrib.crf
INPUTS = np.array([[[4, 5, -3], [3, -1, 3], [-1, 2, 1]], [[1, 0, 2], [0, 3, 1], [9, 9, 9]]], "f")
TRANSITIONS = np.array([[-3, 5, -2], [3, 4, 1], [1, 2, 1]], "f")
TAGS = np.array([[1, 2, 0], [2, 1, 0]], np.int32)


def scores(example: int, length: int) -> dict[tuple[int, ...], float]:
    found = {}
    for tags in itertools.product(range(3), repeat=length):
        unary = sum(INPUTS[example, step, tag] for step, tag in enumerate(tags))
        found[tags] = unary + sum(TRANSITIONS[a, b] for a, b in itertools.pairwise(tags))
    return found


@pytest.mark.parametrize("lengths", [(3, 2), (1, 3)])
def test_likelihoods_and_the_best_tags(lengths: tuple[int, int]) -> None:
    steps = tf.constant(np.array(lengths, np.int32))
    given = tf.constant(INPUTS), tf.constant(TAGS), steps, tf.constant(TRANSITIONS)
    likelihood, _ = crf.crf_log_likelihood(*given)
    tags, best = crf.crf_decode(given[0], given[3], steps)
    with tf.Session() as session:
        likelihood, tags, best = session.run([likelihood, tags, best])
    for example, length in enumerate(lengths):
        all_scores = scores(example, length)
        norm = np.log(np.sum(np.exp(list(all_scores.values()))))
        right = all_scores[tuple(TAGS[example, :length])]
        assert likelihood[example] == pytest.approx(right - norm, abs=1e-4)
        winner = max(all_scores, key=lambda key: all_scores[key])
        assert tuple(tags[example, :length]) == winner
        assert best[example] == pytest.approx(all_scores[winner], abs=1e-4)


def test_one_step_and_no_step() -> None:
    given = tf.constant(INPUTS[:, :1]), tf.constant(TAGS[:, :1]), tf.constant([1, 0])
    score = crf.crf_sequence_score(*given, tf.constant(TRANSITIONS))
    norm = crf.crf_log_norm(given[0], given[2], tf.constant(TRANSITIONS))
    allowed = tf.constant(np.array([[[True, False, True]], [[False, True, False]]]))
    several = crf.crf_multitag_sequence_score(given[0], allowed, given[2], tf.constant(TRANSITIONS))
    with tf.Session() as session:
        score, norm, several = session.run([score, norm, several])
    np.testing.assert_allclose(score, [5, 0])
    np.testing.assert_allclose(norm, [np.log(np.exp([4.0, 5, -3]).sum()), 0], rtol=1e-6)
    np.testing.assert_allclose(several, [np.log(np.exp([4.0, -3]).sum()), 0], atol=1e-6)


def test_transitions_are_learned() -> None:
    likelihood, transitions = crf.crf_log_likelihood(
        tf.constant(INPUTS), tf.constant(TAGS), tf.constant([3, 2])
    )
    assert transitions.name == "transitions:0"
    loss = tf.reduce_mean(-likelihood)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(5):
            session.run(train)
        assert session.run(loss) < before


def test_viterbi_in_numpy() -> None:
    tags, best = crf.viterbi_decode(INPUTS[0], TRANSITIONS)
    all_scores = scores(0, 3)
    assert tuple(tags) == max(all_scores, key=lambda key: all_scores[key])
    assert best == max(all_scores.values())


def test_the_best_tags_are_numbers_of_32_bits() -> None:
    tags, _ = crf.viterbi_decode(INPUTS[0], TRANSITIONS)
    assert [tag.dtype for tag in tags] == [np.int32, np.int32, np.int64]  # the last by NumPy


def test_tags_that_are_not_allowed_are_left_out_beside_the_steps() -> None:
    inputs = tf.placeholder(tf.float32, [None, None, 3])
    allowed = tf.constant(np.ones((2, 3, 3), bool))
    score = crf.crf_multitag_sequence_score(
        inputs, allowed, tf.constant([3, 2]), tf.constant(TRANSITIONS)
    )
    assert tf.gradients(score, inputs)[0].shape.as_list() == [None, None, 3]
