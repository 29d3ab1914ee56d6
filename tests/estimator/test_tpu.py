"""TPUEstimator without TPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft as tf
from tests.estimator.models import X, Y, linear_fn, receiver

tpu = tf.contrib.tpu


def input_fn(params: Any) -> Any:
    size = params["batch_size"]
    return {"x": tf.constant(X[:size])}, tf.constant(Y[:size])


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    assert params["use_tpu"] is False
    spec = linear_fn(features, labels, mode, {})
    if mode == "infer":
        return tpu.TPUEstimatorSpec(mode, predictions=spec.predictions)
    metrics = (lambda values: {"mean": tf.metrics.mean(values)}, [labels])
    return tpu.TPUEstimatorSpec(mode, loss=spec.loss, train_op=spec.train_op, eval_metrics=metrics)


def estimator(folder: Path, **more: Any) -> Any:
    options = {"use_tpu": False, "train_batch_size": 4, "eval_batch_size": 2, **more}
    config = tpu.RunConfig(
        model_dir=str(folder), tpu_config=tpu.TPUConfig(iterations_per_loop=2),
        log_step_count_steps=4,
    )  # fmt: skip
    return tpu.TPUEstimator(model_fn, config=config, **options)


def test_it_trains_evaluates_and_exports(tmp_path: Path, log: Any) -> None:
    made = estimator(tmp_path / "model")
    made.train(input_fn, max_steps=5)
    results = made.evaluate(input_fn, steps=2)
    assert sorted(results) == ["global_step", "loss", "mean"]
    assert results["mean"] == pytest.approx(Y[:2].mean())
    assert made.export_savedmodel(str(tmp_path / "out"), receiver)
    lines = log()
    assert "Running train on CPU" in lines and "Running eval on CPU" in lines
    assert any(line.startswith("examples/sec: ") for line in lines)


def test_with_tpus_it_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="Cannot find any TPU cores in the system"):
        estimator(tmp_path, use_tpu=True).train(input_fn, steps=1)
    with pytest.raises(ValueError, match="`train_batch_size` cannot be `None`"):
        estimator(tmp_path, use_tpu=True, train_batch_size=None)
    with pytest.raises(ValueError, match="does not include params argument"):
        estimator(tmp_path).train(lambda: None, steps=1)
    with pytest.raises(ValueError, match="`config` must be provided with type"):
        tpu.TPUEstimator(model_fn, config=tf.estimator.RunConfig())


def test_configurations() -> None:
    config = tpu.RunConfig(master="here")
    assert (config.master, config.evaluation_master) == ("here", "here")
    assert config.replace(tpu_config=tpu.TPUConfig(num_shards=3)).tpu_config.num_shards == 3
    where = tpu.InputPipelineConfig
    assert tpu.TPUConfig().per_host_input_for_training == where.PER_HOST_V1
    assert tpu.TPUConfig(per_host_input_for_training=False)[3] == where.PER_SHARD_V1
    with pytest.raises(ValueError, match="TPUConfig num_shards must be positive, got 0"):
        tpu.TPUConfig(num_shards=0)
    with pytest.raises(ValueError, match="Invalid TPUConfig `iterations_per_loop` value"):
        tpu.TPUConfig(iterations_per_loop="3x")
    with pytest.raises(ValueError, match="num_cores_per_replica must be 1, 2, 4"):
        tpu.TPUConfig(num_cores_per_replica=3)


def test_calls_of_the_host_are_checked() -> None:
    loss = tf.constant(1.0)
    with pytest.raises(RuntimeError, match="length of tensors 1 does not match method args"):
        tpu.TPUEstimatorSpec("eval", loss=loss, eval_metrics=(lambda a, b: {}, [loss]))
    with pytest.raises(TypeError, match=r"eval_metrics\[0\] should be callable"):
        tpu.TPUEstimatorSpec("eval", loss=loss, eval_metrics=(1, [loss]))


def test_one_shard_changes_no_gradient() -> None:
    x = tf.Variable(2.0)
    optimizer = tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.5))
    train = optimizer.minimize(x * x)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        assert sess.run(x) == 0.0


def test_variables_in_the_scope_of_bfloat16_are_kept_as_float32() -> None:
    with tf.tpu.bfloat16_scope():
        half, full = tf.get_variable("half", [2], tf.bfloat16), tf.get_variable("full", [2])
    assert half.dtype == tf.bfloat16 and half.op.type == "Cast"
    assert full is tf.global_variables()[1] and full.op.name == "full"
    assert tf.global_variables()[0].dtype.base_dtype == tf.float32
