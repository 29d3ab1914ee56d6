"""train_and_evaluate in one process, its exporters, and hooks that stop a training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft as tf
from tests.estimator.models import inputs, linear, receiver
from tests.estimator.programs import scalar_tags
from weft.lib.estimator.continuous import ContinuousEvalListener, EvalResult, EvalStatus
from weft.lib.estimator.early_stopping import read_eval_metrics
from weft.lib.estimator.training import TrainingExecutor

TrainSpec, EvalSpec = tf.estimator.TrainSpec, tf.estimator.EvalSpec


def eval_spec(**more: Any) -> Any:
    return EvalSpec(inputs(1), steps=None, throttle_secs=0, **more)


def test_every_checkpoint_is_evaluated(tmp_path: Path, log: Any) -> None:
    estimator = linear(tmp_path, save_checkpoints_steps=4)
    metrics, exports = tf.estimator.train_and_evaluate(
        estimator, TrainSpec(inputs(), max_steps=10), eval_spec()
    )
    assert metrics["global_step"] == 10 and exports == []
    assert list(read_eval_metrics(estimator.eval_dir())) == [4, 8, 10]
    assert "Running training and evaluation locally (non-distributed)." in log()
    # All was done before: nothing to train, nothing to evaluate.
    again = tf.estimator.train_and_evaluate(
        estimator, TrainSpec(inputs(), max_steps=10), eval_spec()
    )
    assert again == (None, None)


def test_evaluations_are_throttled(tmp_path: Path, log: Any) -> None:
    estimator = linear(tmp_path, save_checkpoints_steps=2)
    spec = EvalSpec(inputs(1), steps=1, throttle_secs=1000)
    tf.estimator.train_and_evaluate(estimator, TrainSpec(inputs(), max_steps=7), spec)
    assert list(read_eval_metrics(estimator.eval_dir())) == [2, 7]
    skipped = "Skip the current checkpoint eval due to throttle secs (1000 secs)."
    assert log().count(skipped) == 3


def test_exporters(tmp_path: Path) -> None:
    exporters = [
        tf.estimator.LatestExporter("latest", receiver, exports_to_keep=1),
        tf.estimator.FinalExporter("final", receiver),
        tf.estimator.BestExporter("best", receiver, event_file_pattern=None),
    ]
    estimator = linear(tmp_path, save_checkpoints_steps=3)
    _, exports = tf.estimator.train_and_evaluate(
        estimator, TrainSpec(inputs(), max_steps=6), eval_spec(exporters=exporters)
    )
    assert all(isinstance(each, bytes) for each in exports)
    for name, count in (("latest", 1), ("final", 1), ("best", 2)):
        found = [p for p in (tmp_path / "export" / name).iterdir() if p.name.isdigit()]
        assert len(found) == count, name
        assert (found[0] / "saved_model.pb").exists()


def test_only_the_best_is_exported(tmp_path: Path) -> None:
    exporter = tf.estimator.BestExporter("best", receiver, event_file_pattern=None)
    estimator = linear(tmp_path)
    estimator.train(inputs(), steps=1)
    path = estimator.latest_checkpoint()
    results = [
        exporter.export(estimator, str(tmp_path / "out"), path, {"loss": loss}, False)
        for loss in (3.0, 4.0, 2.0)
    ]
    assert [result is None for result in results] == [False, True, False]
    with pytest.raises(ValueError, match="must include current_eval_result argument"):
        tf.estimator.BestExporter(compare_fn=lambda best_eval_result: True)
    with pytest.raises(ValueError, match="`exports_to_keep`, if provided, must be a positive"):
        tf.estimator.BestExporter(exports_to_keep=0)
    with pytest.raises(ValueError, match="best_eval_result cannot be empty"):
        exporter._compare_fn({}, {"loss": 1})


def test_best_results_of_earlier_runs_count(tmp_path: Path) -> None:
    estimator = linear(tmp_path)
    estimator.train(inputs(), steps=2)
    loss = estimator.evaluate(inputs(1))["loss"]
    exporter = tf.estimator.BestExporter("best", receiver)
    path = estimator.latest_checkpoint()
    worse = exporter.export(estimator, str(tmp_path / "out"), path, {"loss": loss + 1}, False)
    better = exporter.export(estimator, str(tmp_path / "out"), path, {"loss": loss - 1}, False)
    assert worse is None and better is not None


def test_a_listener_can_end_it(tmp_path: Path) -> None:
    class Stop(ContinuousEvalListener):
        def after_eval(self, eval_result: EvalResult) -> bool:
            return eval_result.metrics["global_step"] < 4

    estimator = linear(tmp_path, save_checkpoints_steps=2)
    executor = TrainingExecutor(
        estimator, TrainSpec(inputs(), max_steps=50), eval_spec(), continuous_eval_listener=Stop()
    )
    metrics, _ = executor.run()
    assert metrics["global_step"] == 4


def test_specs_are_checked() -> None:
    cases: list[tuple[Any, type, str]] = [
        (lambda: TrainSpec(3), TypeError, "`input_fn` must be callable, given: 3"),
        (lambda: TrainSpec(inputs(), 0), ValueError, "Must specify max_steps > 0, given: 0"),
        (lambda: TrainSpec(inputs(), hooks=[1]), TypeError, "All hooks must be `SessionRunHook`"),
        (lambda: EvalSpec(inputs(), steps=0), ValueError, "Must specify steps > 0, given: 0"),
        (lambda: EvalSpec(inputs(), name=1), TypeError, "`name` must be string, given: 1"),
        (lambda: EvalSpec(inputs(), exporters=[1]), TypeError, "`exporters` must be an Exporter"),
        (
            lambda: EvalSpec(inputs(), exporters=[tf.estimator.FinalExporter("a", receiver)] * 2),
            ValueError,
            "`exporters` must have unique names.",
        ),
        (
            lambda: EvalSpec(inputs(), exporters=tf.estimator.FinalExporter("", receiver)),
            ValueError,
            "An Exporter cannot have a name that is `None` or empty",
        ),
        (
            lambda: EvalSpec(inputs(), start_delay_secs=-1),
            ValueError,
            "Must specify start_delay_secs >= 0, given: -1",
        ),
        (
            lambda: tf.estimator.train_and_evaluate(None, TrainSpec(inputs()), None),
            TypeError,
            "`eval_spec` must have type `tf.estimator.EvalSpec`.",
        ),
        (
            lambda: tf.estimator.train_and_evaluate(None, None, EvalSpec(inputs())),
            TypeError,
            "`estimator` must have type `tf.estimator.Estimator`.",
        ),
        (lambda: EvalResult(EvalStatus.EVALUATED), ValueError, "should never return empty metrics"),
    ]
    for make, kind, message in cases:
        with pytest.raises(kind, match=message):
            make()


# ---- hooks ---------------------------------------------------------------------------------------


def test_stopping_when_nothing_gets_better(tmp_path: Path, log: Any) -> None:
    estimator = linear(tmp_path, save_checkpoints_steps=2)
    hook = tf.estimator.experimental.stop_if_no_decrease_hook(
        estimator, "global_step_less", 4, run_every_secs=None, run_every_steps=1
    )
    writer = tf.summary.FileWriter(estimator.eval_dir())
    for step in (2, 4, 6):
        value = tf.Summary.Value(tag="global_step_less", simple_value=1.0)
        writer.add_summary(tf.Summary(value=[value]), step)
    writer.close()
    estimator.train(inputs(), hooks=[hook], steps=20)
    assert estimator.get_variable_value("global_step") < 4
    assert "signal_early_stopping/STOP" in estimator.get_variable_names()
    assert any(line.startswith('No decrease in metric "global_step_less"') for line in log())


@pytest.mark.parametrize(
    ("name", "arguments", "stops"),
    [
        ("stop_if_higher_hook", {"threshold": 0.5}, True),
        ("stop_if_higher_hook", {"threshold": 1.5}, False),
        ("stop_if_lower_hook", {"threshold": 1.5}, True),
        ("stop_if_lower_hook", {"threshold": 1.5, "min_steps": 10}, False),
        ("stop_if_no_increase_hook", {"max_steps_without_increase": 4}, True),
        ("stop_if_no_increase_hook", {"max_steps_without_increase": 5}, False),
    ],
)
def test_when_to_stop(tmp_path: Path, name: str, arguments: Any, stops: bool) -> None:
    writer = tf.summary.FileWriter(str(tmp_path / "eval"))
    for step in (2, 6):
        value = tf.Summary.Value(tag="m", simple_value=1.0)
        writer.add_summary(tf.Summary(value=[value]), step)
    writer.close()
    make = getattr(tf.estimator.experimental, name)
    assert make(linear(tmp_path), "m", **arguments)._should_stop_fn() is stops


def test_evaluation_in_memory(tmp_path: Path) -> None:
    estimator = linear(tmp_path)
    hook = tf.estimator.experimental.InMemoryEvaluatorHook(
        estimator, inputs(), steps=2, name="memory", every_n_iter=4
    )
    estimator.train(inputs(), hooks=[hook], steps=8)
    found = read_eval_metrics(estimator.eval_dir("memory"))
    assert list(found) == [0, 4, 8]
    assert found[8]["loss"] == estimator.evaluate(inputs(), steps=2)["loss"] < found[0]["loss"]
    assert scalar_tags(tf, estimator.eval_dir("memory")) == ["loss", "mae"]
    with pytest.raises(ValueError, match=r"invalid every_n_iter=0\."):
        tf.estimator.experimental.InMemoryEvaluatorHook(estimator, inputs(1), every_n_iter=0)


def test_stopping_at_a_checkpoint(tmp_path: Path) -> None:
    make = tf.estimator.experimental.make_stop_at_checkpoint_step_hook
    estimator = linear(tmp_path)
    estimator.train(inputs(), hooks=[make(estimator, 3)])
    assert estimator.get_variable_value("global_step") == 3


def test_more_metrics(tmp_path: Path) -> None:
    def metric_fn(labels: Any, predictions: Any, features: Any) -> Any:
        return {"labels": tf.metrics.mean(labels), "x": tf.metrics.mean(features["x"])}

    estimator = tf.estimator.add_metrics(linear(tmp_path), metric_fn)
    assert sorted(estimator.evaluate(inputs(1))) == ["global_step", "labels", "loss", "mae", "x"]
    with pytest.raises(ValueError, match="has following not expected args: \\['other'\\]"):
        tf.estimator.add_metrics(estimator, lambda other: {})
