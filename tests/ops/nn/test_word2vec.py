"""Skipgram and NegTrain give what TensorFlow gives (tests/parity/record_word2vec.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.parity import record_word2vec as recorded

KEPT = np.load(recorded.DATA)


@pytest.mark.parametrize("name", recorded.TEXTS)
def test_pairs_of_a_text(name: str, tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text(recorded.TEXT)
    pairs = tf.raw_ops.Skipgram(filename=str(file), **recorded.TEXTS[name])
    with tf.Session() as session:
        for run in range(recorded.RUNS):
            for i, value in enumerate(session.run(list(pairs))):
                wanted = KEPT[f"{name}.{run}.{i}"]
                have = value.astype(str) if i == 0 else value
                np.testing.assert_array_equal(have, wanted, err_msg=f"run {run}, output {i}")


def test_a_text_of_too_few_words(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("a b c")
    pairs = tf.raw_ops.Skipgram(filename=str(file), batch_size=1)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="3 words"):
        session.run(pairs.examples)


def _training(labels: np.ndarray, vocabulary: list[int]) -> tuple[list[tf.Variable], tf.Operation]:
    variables = [tf.Variable(v) for v in (recorded.VECTORS, recorded.VECTORS[::-1].copy())]
    train = tf.raw_ops.NegTrain(
        w_in=variables[0], w_out=variables[1], examples=recorded.EXAMPLES, labels=labels,
        lr=recorded.RATE, vocab_count=vocabulary, num_negative_samples=recorded.SAMPLES,
    )  # fmt: skip
    return variables, train


def test_training() -> None:
    variables, train = _training(recorded.LABELS, recorded.VOCABULARY)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for run in range(recorded.RUNS):
            session.run(train)
            for i, value in enumerate(session.run(variables)):
                np.testing.assert_allclose(value, KEPT[f"trained.{run}.{i}"], 1e-5, 1e-6)


def test_words_are_drawn_by_how_often_they_are() -> None:
    variables, train = _training(recorded.LABELS, [1, 0, 10**9, 0, 0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        changed = (session.run(variables[1]) != recorded.VECTORS[::-1]).any(axis=1)
    assert changed[recorded.LABELS].all() and changed[2]


@pytest.mark.parametrize(
    ("labels", "vocabulary", "message"),
    [
        (recorded.LABELS[:1], recorded.VOCABULARY, "examples.shape == labels.shape"),
        (recorded.LABELS, [1, 2], "vocab_size mismatches: 5 vs. 2"),
    ],
)
def test_what_does_not_fit(labels: np.ndarray, vocabulary: list[int], message: str) -> None:
    _, train = _training(labels, vocabulary)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(train)
