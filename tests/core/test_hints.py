"""Misspelled names: the message is TensorFlow's, a note tells what may have been meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.core.hints import hinted


def notes(call: Any) -> list[str]:
    with pytest.raises((ValueError, KeyError)) as info:
        call()
    return getattr(info.value, "__notes__", [])


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("rian", ["rain", "day"], ["Did you mean 'rain'?"]),
        ("xyz", ["rain", "day"], ["There are: day, rain"]),
        ("xyz", [], []),
        ("xyz", [f"name{i}" for i in range(100)], []),
        ("name1", [f"name{i}" for i in range(1000)], []),
    ],
)
def test_hints(name: str, known: list[str], expected: list[str]) -> None:
    error = hinted(ValueError("no"), name, known)
    assert getattr(error, "__notes__", []) == expected and str(error) == "no"


def test_a_feature() -> None:
    column = tf.feature_column.numeric_column("rian")
    found = notes(lambda: tf.feature_column.input_layer({"rain": tf.ones([2, 1])}, [column]))
    assert found == ["Did you mean 'rain'?"]


def test_a_loss_of_keras() -> None:
    found = notes(lambda: tf.keras.losses.get("sparse_crossentropy"))
    assert found == ["Did you mean 'binary_crossentropy' or 'sparse_categorical_crossentropy'?"]


def test_a_node() -> None:
    tf.identity(tf.constant(1.0, name="logits"), name="predictions")
    graph = tf.get_default_graph()
    hint = ["Did you mean 'predictions'?"]
    assert notes(lambda: graph.get_tensor_by_name("prediction:0")) == hint
    assert notes(lambda: graph.get_operation_by_name("prediction")) == hint


def test_a_variable_of_a_checkpoint(tmp_path: Path) -> None:
    with tf.variable_scope("body"):
        tf.get_variable("kernel", [2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    found = notes(lambda: tf.train.init_from_checkpoint(path, {"bodi/": "body/"}))
    assert found == ["Did you mean 'body/kernel'?"]
