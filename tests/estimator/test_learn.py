"""tf.contrib.learn: words as numbers, files, and Estimators that fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import flags

learn = tf.contrib.learn
X = np.linspace(-1, 1, 40, dtype=np.float32).reshape(20, 2)
Y = (X.sum(1) > 0).astype(np.int64)


def test_words(tmp_path: Path) -> None:
    texts = ["I'm an apple", "an orange and an apple", "CamelCase NASA"]
    processor = learn.preprocessing.VocabularyProcessor(4)
    rows = np.array(list(processor.fit_transform(texts)))
    assert rows.tolist() == [[1, 2, 3, 0], [2, 4, 5, 2], [6, 7, 8, 0]]
    assert next(processor.transform(["an unknown apple"])).tolist() == [2, 0, 3, 0]
    assert list(processor.reverse(rows[:1])) == ["I'm an apple <UNK>"]
    processor.save(str(tmp_path / "v"))
    again = learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "v"))
    assert len(again.vocabulary_) == 9
    lines = learn.preprocessing.VocabularyProcessor(4)
    rows = [row.tolist() for row in lines.fit_transform([b"a b\n", "b \u00e9".encode()])]
    assert rows == [[1, 2, 0, 0], [2, 3, 0, 0]]
    rare = learn.preprocessing.VocabularyProcessor(5, min_frequency=1)
    assert list(rare.fit_transform(texts))[1].tolist() == [1, 0, 0, 1, 2]


def test_bytes() -> None:
    processor = learn.preprocessing.ByteProcessor(4)
    rows = list(processor.transform(["ab", "längst"]))
    assert rows[0].tolist() == [97, 98, 0, 0] and len(rows[1]) == 4
    assert next(processor.reverse(rows)) == "ab"


def test_files_of_values(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("2,3,x,y\n1,2,3,0\n4,5,6,1\n")
    found = learn.datasets.base.load_csv_with_header(str(path), np.int64, np.float32)
    assert found.data.tolist() == [[1, 2, 3], [4, 5, 6]] and found.target.tolist() == [0, 1]
    path.write_text("7,1,2\n8,3,4\n")
    found = learn.datasets.base.load_csv_without_header(str(path), np.int64, np.float32, 0)
    assert found.data.tolist() == [[1, 2], [3, 4]] and found.target.tolist() == [7, 8]
    with pytest.raises(ValueError, match="Name of dataset is not found: other"):
        learn.datasets.load_dataset("other")


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    logits = tf.layers.dense(features, 2, name="l", kernel_initializer=tf.zeros_initializer())
    classes = tf.argmax(logits, 1)
    if mode == learn.ModeKeys.INFER:
        return learn.ModelFnOps(mode, {"classes": classes})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train = tf.train.GradientDescentOptimizer(params["rate"]).minimize(
        loss, tf.train.get_global_step()
    )
    return learn.ModelFnOps(mode, {"classes": classes}, loss, train)


def test_fit_evaluate_predict(tmp_path: Path) -> None:
    estimator = learn.Estimator(model_fn, str(tmp_path), params={"rate": 0.5})
    estimator.fit(X, Y, steps=60, batch_size=10)
    metric = learn.MetricSpec(tf.metrics.accuracy, prediction_key="classes")
    results = estimator.evaluate(X, Y, metrics={"right": metric})
    assert sorted(results) == ["global_step", "loss", "right"] and results["right"] > 0.9
    found = estimator.predict(X[:3], as_iterable=False)
    assert found["classes"].tolist() == [0, 0, 0]
    assert learn.SKCompat(estimator).predict(X[:3])["classes"].shape == (3,)
    with pytest.raises(ValueError, match="Either x or input_fn must be provided"):
        estimator.fit(steps=1)


def test_classifiers(tmp_path: Path) -> None:
    columns = learn.infer_real_valued_columns_from_input(X)
    estimator = learn.LinearClassifier(columns, str(tmp_path), n_classes=2)
    with flags.XLA.override(False):
        estimator.fit(X, Y, steps=40)
        assert estimator.evaluate(X, Y)["accuracy"] > 0.9
    assert list(estimator.predict_classes(X[:2])) == [0, 0]
    assert estimator.predict_proba(X[:2], as_iterable=False).shape == (2, 2)


def test_experiments(tmp_path: Path) -> None:
    def experiment_fn(run_config: Any, hparams: Any) -> Any:
        estimator = learn.Estimator(model_fn, config=run_config, params={"rate": hparams})
        inputs = tf.estimator.inputs.numpy_input_fn(X, Y, 10, None, shuffle=False)
        return learn.Experiment(
            estimator, inputs, inputs, train_steps=6, eval_steps=2, min_eval_frequency=3
        )

    config = learn.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=2)
    result, exports = learn.learn_runner.run(experiment_fn, run_config=config, hparams=0.1)
    assert result["global_step"] == 6 and exports == []
    with pytest.raises(ValueError, match="Schedule references non-existent task dance"):
        learn.learn_runner.run(experiment_fn, schedule="dance", run_config=config, hparams=0.1)
    with pytest.raises(TypeError, match="did not return an Experiment instance"):
        learn.learn_runner.run(lambda c, h: None, run_config=config)


def test_configurations() -> None:
    config = learn.RunConfig(num_cores=2, save_checkpoints_steps=5)
    assert isinstance(config, tf.estimator.RunConfig)
    assert (config.save_checkpoints_steps, config.save_checkpoints_secs) == (5, None)
    assert config.tf_config.inter_op_parallelism_threads == 2
    assert config.uid() == learn.RunConfig(num_cores=2, save_checkpoints_steps=5).uid()
