"""tf.contrib.predictor."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.saved_model.models import DATA, EXAMPLES, ROWS
from weft.lib.contrib import predictor

SIMPLE, WORDS = str(DATA / "simple"), str(DATA / "words")


def test_from_saved_model() -> None:
    predict = predictor.from_saved_model(SIMPLE)
    with predict.session:
        assert predict({"x": ROWS})["y"].tolist() == [[14.75], [9.25]]
        with pytest.raises(ValueError, match="Got unexpected keys in input_dict"):
            predict({"z": 1})
        assert "feed tensors {'x': <tf.Tensor 'x:0'" in repr(predict)


def test_by_names_key_or_signature() -> None:
    by_key = predictor.from_saved_model(WORDS, signature_def_key="classify")
    by_name = predictor.from_saved_model(
        WORDS, input_names={"e": "examples:0"}, output_names={"s": "score:0"}
    )
    with by_key.session, by_name.session:
        assert by_key({"inputs": EXAMPLES})["scores"].tolist() == [2.0, -2.0, 4.0]
        assert by_name({"e": EXAMPLES})["s"].tolist() == [2.0, -2.0, 4.0]


def test_arguments_that_contradict() -> None:
    with pytest.raises(ValueError, match="must both be specified or both be unspecified"):
        predictor.from_saved_model(SIMPLE, input_names={})
    with pytest.raises(ValueError, match="You must specify at most one of"):
        predictor.from_saved_model(SIMPLE, "k", input_names={}, output_names={})
    with pytest.raises(ValueError, match="Available signatures are"):
        predictor.from_saved_model(WORDS)
    with pytest.raises(ValueError, match="Could not find MetaGraphDef with tags no"):
        predictor._meta_graph_of(SIMPLE, "no")


def test_from_estimator(tmp_path: Path) -> None:
    """Anything that has what an Estimator has."""

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        assert (labels, mode, config) == (None, "infer", "config")
        y = features["x"] * tf.get_variable("v", initializer=2.0)
        signature = tf.saved_model.predict_signature_def
        output = SimpleNamespace(as_signature_def=lambda inputs: signature(inputs, {"y": y}))
        return SimpleNamespace(export_outputs={"serving_default": output})

    def receiver() -> Any:
        x = tf.placeholder(tf.float32, [None])
        return SimpleNamespace(features={"x": x}, receiver_tensors={"x": x})

    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=5.0)
        session.run(v.initializer)
        tf.train.Saver().save(session, str(tmp_path / "model"), global_step=1)
    estimator = SimpleNamespace(model_fn=model_fn, model_dir=str(tmp_path), config="config")
    with pytest.raises(KeyError, match="output_key must be one of"):
        predictor.from_estimator(estimator, receiver, output_key="no")
    predict = predictor.from_estimator(estimator, receiver)
    with predict.session:
        assert predict({"x": np.float32([1, 2])})["y"].tolist() == [5.0, 10.0]
