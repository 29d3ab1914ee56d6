"""tf.contrib.estimator.DNN...WithLayerAnnotations: what the graph tells of columns."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft as tf

MAKERS = {
    tf.estimator.DNNClassifier: tf.contrib.estimator.DNNClassifierWithLayerAnnotations,
    tf.estimator.DNNRegressor: tf.contrib.estimator.DNNRegressorWithLayerAnnotations,
}


@pytest.fixture(autouse=True)
def _close_event_files() -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


def columns() -> list[Any]:
    kind = tf.feature_column.categorical_column_with_identity("kind", 5)
    return [tf.feature_column.numeric_column("x"), tf.feature_column.embedding_column(kind, 2)]


def input_fn() -> Any:
    features = {"x": [1.0, 2.0], "kind": [1, 2]}
    return tf.data.Dataset.from_tensors((features, [[0.0], [1.0]])).repeat(3)


@pytest.mark.parametrize("kind", MAKERS, ids=lambda kind: kind.__name__)
def test_columns_are_told(kind: Any, tmp_path: Path) -> None:
    make = MAKERS[kind]
    made = make([3], columns(), model_dir=str(tmp_path))
    made.train(input_fn, steps=2)
    with tf.Graph().as_default() as graph:
        features = {"x": tf.constant([1.0, 2.0]), "kind": tf.constant([1, 2])}
        made.model_fn(features, None, tf.estimator.ModeKeys.PREDICT, None)
        collected = graph.get_collection
        assert collected("layer_annotations/unprocessed_features/keys") == ["x", "kind"]
        assert set(collected("layer_annotatons/processed_features/keys")) == {"x", "kind_embedding"}
        infos = []
        for message in collected("layer_annotations/unprocessed_features/values"):
            infos.append(tf.compat.v1.saved_model.build_tensor_info(features["x"]))
            message.Unpack(infos[-1])
        assert [info.name for info in infos] == [features["x"].name, features["kind"].name]
        kept = [pickle.loads(each) for each in collected("layer_annotations/feature_columns")]
    assert [column.name for column in kept] == ["x", "kind_embedding"]
    # Checkpoints are those of the plain Estimator.
    assert kind([3], columns(), model_dir=str(tmp_path)).evaluate(input_fn, steps=1)["loss"] > 0


def test_parameters_are_those_of_the_estimator() -> None:
    for kind, make in MAKERS.items():
        named = [*inspect.signature(make).parameters]
        assert named == [n for n in inspect.signature(kind).parameters if n != "batch_norm"]
