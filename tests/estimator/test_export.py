"""Models as SavedModels: what is written, and that it answers as the Estimator does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.estimator import programs
from tests.estimator.models import X, inputs, linear, questions, receiver
from weft.core import flags
from weft.lib.estimator import exporting
from weft.lib.estimator.receivers import SupervisedInputReceiver

export = tf.estimator.export


def served(path: bytes, key: str, feeds: dict[str, Any], tags: Any = ("serve",)) -> dict[str, Any]:
    """What a signature of a SavedModel answers."""
    with tf.Graph().as_default(), tf.Session() as sess:
        graph = tf.saved_model.load(sess, list(tags), path.decode())
        signature = graph.signature_def[key]
        fetches = {name: info.name for name, info in signature.outputs.items()}
        return sess.run(fetches, {signature.inputs[k].name: v for k, v in feeds.items()})


def test_a_served_model_answers_as_the_estimator(tmp_path: Path) -> None:
    estimator = linear(tmp_path / "model")
    estimator.train(inputs(), steps=5)
    path = estimator.export_saved_model(str(tmp_path / "out"), receiver)
    assert path.startswith(str(tmp_path / "out").encode()) and path.split(b"/")[-1].isdigit()
    answer = served(path, "serving_default", {"x": X})
    expected = [row["y"] for row in estimator.predict(questions())]
    np.testing.assert_allclose(answer["y"], expected, rtol=1e-6)
    assert not list((tmp_path / "out").glob("temp-*"))


def test_extra_assets_and_text(tmp_path: Path) -> None:
    estimator = linear(tmp_path / "model")
    estimator.train(inputs(), steps=1)
    (tmp_path / "notes").write_text("here")
    path = estimator.export_savedmodel(
        str(tmp_path / "out"), receiver, {"a/b.txt": str(tmp_path / "notes")}, as_text=True
    )
    folder = Path(path.decode())
    assert (folder / "assets.extra" / "a" / "b.txt").read_text() == "here"
    assert (folder / "saved_model.pbtxt").exists()


def test_graphs_for_all_modes(tmp_path: Path) -> None:
    estimator = linear(tmp_path / "model")
    estimator.train(inputs(), steps=2)
    features, labels = {"x": tf.constant(X)}, tf.zeros([10])
    supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn(features, labels)
    path = estimator.experimental_export_all_saved_models(
        str(tmp_path / "out"), {"train": supervised, "eval": supervised, "infer": receiver}
    )
    feeds = {"x": X, "label": np.zeros(10, np.float32)}
    found = served(path, "eval", feeds, ("eval",))
    assert sorted(found) == ["loss", "metrics/mae/update_op", "metrics/mae/value"]
    assert "loss" in served(path, "train", feeds, ("train",))
    assert "y" in served(path, "serving_default", {"x": X})


def test_classifiers_take_serialized_examples(tmp_path: Path) -> None:
    column = tf.feature_column.numeric_column("a", shape=(3,))
    estimator = tf.estimator.LinearClassifier([column], str(tmp_path / "model"), n_classes=3)
    with flags.XLA.override(False):
        estimator.train(programs.input_fn(tf, "classes", None), steps=2)
        spec = tf.feature_column.make_parse_example_spec([column])
        path = estimator.export_saved_model(
            str(tmp_path / "out"), export.build_parsing_serving_input_receiver_fn(spec)
        )
        rows = programs.data()["a"][:2]
        examples = [
            tf.train.Example(
                features=tf.train.Features(
                    feature={"a": tf.train.Feature(float_list=tf.train.FloatList(value=row))}
                )
            ).SerializeToString()
            for row in rows
        ]
        answer = served(path, "serving_default", {"inputs": examples})
        predict = served(path, "predict", {"examples": examples})
        expected = list(estimator.predict(programs.input_fn(tf, None, 1)))[:2]
    assert answer["classes"].tolist() == [[b"0", b"1", b"2"]] * 2
    np.testing.assert_allclose(
        answer["scores"], [row["probabilities"] for row in expected], rtol=1e-5
    )
    assert predict["class_ids"].tolist() == [row["class_ids"].tolist() for row in expected]


def test_nothing_to_export(tmp_path: Path) -> None:
    estimator = linear(tmp_path)
    with pytest.raises(ValueError, match="An input_receiver_fn must be defined"):
        estimator.export_saved_model(str(tmp_path), None)
    with pytest.raises(ValueError, match="Couldn't find trained model at"):
        estimator.export_saved_model(str(tmp_path), receiver)
    estimator.train(inputs(), steps=1)
    with pytest.raises(ValueError, match="No valid modes for exporting found"):
        estimator.experimental_export_all_saved_models(str(tmp_path / "out"), {})


def test_folders_are_new(tmp_path: Path, monkeypatch: Any) -> None:
    seconds = iter([100, 100, 101])
    monkeypatch.setattr(exporting.time, "time", lambda: next(seconds))
    monkeypatch.setattr(exporting.time, "sleep", lambda _: None)
    (tmp_path / "100").mkdir()
    found = exporting.get_timestamped_export_dir(str(tmp_path))
    monkeypatch.undo()
    assert found.endswith(b"/101")


def test_receivers_are_checked() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    receiver_of = export.ServingInputReceiver
    assert receiver_of(x, x).features == {"feature": x}
    assert receiver_of(x, x).receiver_tensors == {"input": x}
    assert export.TensorServingInputReceiver(x, x).features is x
    cases: list[tuple[Any, str]] = [
        (lambda: receiver_of(None, x), "features must be defined"),
        (lambda: receiver_of(x, None), "receiver_tensors must be defined"),
        (lambda: receiver_of({"a": 1}, x), "feature a must be a Tensor or SparseTensor"),
        (lambda: receiver_of(x, {1: x}), "receiver_tensor keys must be strings: 1"),
        (lambda: receiver_of(x, x, 3), "receiver_tensors_alternatives must be a dict: 3"),
        (lambda: SupervisedInputReceiver(x, None, x), "labels must be defined"),
    ]
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(ValueError, match="must have distinct keys"):
        tf.estimator.experimental.build_raw_supervised_input_receiver_fn({"a": x}, {"a": x})


def test_outputs_are_checked() -> None:
    number, text = tf.constant([1.0]), tf.constant(["a"])
    cases: list[tuple[Any, str]] = [
        (lambda: export.ClassificationOutput(), "At least one of scores and classes must be set"),
        (lambda: export.ClassificationOutput(scores=text), "scores must be a float32 Tensor"),
        (lambda: export.ClassificationOutput(classes=number), "classes must be a string Tensor"),
        (lambda: export.RegressionOutput(text), "output value must be a float32 Tensor"),
        (lambda: export.PredictOutput({1: number}), "Prediction output key must be a string"),
        (lambda: export.PredictOutput({"a": 1}), "Prediction output value must be a Tensor"),
        (
            lambda: export.RegressionOutput(number).as_signature_def({"a": number}),
            "Regression input must be a single string Tensor",
        ),
    ]
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            make()
