"""Arrays that are given to Estimators of tf.contrib.learn, batch by batch as TensorFlow 1.15.5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

learn = tf.contrib.learn
X, Y = np.arange(7.0).reshape(7, 1).astype("f"), np.arange(7)


@pytest.fixture(autouse=True)
def no_writers_stay() -> Any:
    yield
    tf.summary.FileWriterCache.clear()


class Seen(tf.train.SessionRunHook):  # type: ignore[misc]
    """Keeps what the model gets in every step."""

    def __init__(self) -> None:
        self.batches: list[list[float]] = []

    def before_run(self, context: Any) -> Any:
        return tf.train.SessionRunArgs(context.session.graph.get_tensor_by_name("seen:0"))

    def after_run(self, context: Any, values: Any) -> None:
        self.batches.append(values.results.ravel().tolist())


def model(features: Any, labels: Any, mode: str) -> Any:
    x = tf.identity(features["a"] if isinstance(features, dict) else features, name="seen")
    loss = tf.Variable(1.0) * tf.reduce_mean(x)
    step = tf.train.get_global_step().assign_add(1).op
    return learn.ModelFnOps(mode, {"p": x, "q": x * 2}, loss, step)


def batches(folder: Path, x: Any, y: Any, **settings: Any) -> list[list[float]]:
    seen = Seen()
    learn.Estimator(model, str(folder)).fit(x, y, monitors=[seen], **settings)
    return seen.batches


def test_passes_are_shuffled_by_the_same_numbers(tmp_path: Path) -> None:
    wanted = [[0, 1, 5], [2, 4, 3], [6], [5, 0, 3], [2, 1, 6], [4]]
    assert batches(tmp_path / "a", X, Y, steps=6, batch_size=3) == wanted
    named = batches(tmp_path / "b", {"a": X}, {"b": Y}, steps=2, batch_size=3)
    assert named == wanted[:2]
    whole = [[0, 1, 5, 2, 4, 3, 6], [5, 0, 3, 2, 1, 6, 4]]
    assert batches(tmp_path / "c", X, Y, steps=2) == whole


def test_evaluations_and_predictions_take_all_rows_once(tmp_path: Path) -> None:
    made = learn.Estimator(model, str(tmp_path))
    made.fit(X, Y, steps=1, batch_size=3)
    assert made.evaluate(X, Y, batch_size=3)["loss"] == pytest.approx(11 / 3)
    assert made.evaluate(X, Y, steps=2, batch_size=3)["loss"] == pytest.approx(2.5)
    assert [row["q"][0] for row in made.predict(X, batch_size=2)] == [0, 2, 4, 6, 8, 10, 12]


def test_placeholders_have_the_shapes_of_rows(tmp_path: Path) -> None:
    told = []

    def asking(features: Any, labels: Any, mode: str) -> Any:
        told.append((features.name, features.shape.as_list(), labels.name, labels.shape.as_list()))
        return model(features, labels, mode)

    learn.Estimator(asking, str(tmp_path)).fit(X[:, 0], Y[:, None], steps=1)
    assert told == [("input:0", [None, 1], "output:0", [None])]


def test_all_predictions_as_in_scikit_learn(tmp_path: Path) -> None:
    column = tf.contrib.layers.real_valued_column("", 1)
    made = learn.SKCompat(learn.DNNRegressor([2], [column], str(tmp_path)))
    made.fit(X, Y.astype("f"), steps=1)
    found = made.predict(X)
    assert list(found) == ["scores"] and found["scores"].shape == (7,)
