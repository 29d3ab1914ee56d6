"""Training, going on, evaluating, predicting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.estimator.models import X, Y, inputs, linear, linear_fn, questions
from tests.estimator.programs import scalar_tags
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys


def test_train_evaluate_predict(tmp_path: Path) -> None:
    estimator = linear(tmp_path)
    assert estimator.train(inputs(), steps=300) is estimator
    assert estimator.get_variable_names() == ["global_step", "line/bias", "line/kernel"]
    results = estimator.evaluate(inputs(1))
    assert sorted(results) == ["global_step", "loss", "mae"]
    assert results["global_step"] == 300 and isinstance(results["global_step"], np.int64)
    assert results["mae"] < 0.1 and isinstance(results["loss"], np.float32)
    found = list(estimator.predict(questions()))
    assert len(found) == 10 and sorted(found[0]) == ["twice", "y"]
    np.testing.assert_allclose([row["y"] for row in found], Y, atol=0.2)


def test_training_goes_on_from_the_checkpoint(tmp_path: Path) -> None:
    linear(tmp_path).train(inputs(), steps=3)
    assert sorted(p.name for p in tmp_path.glob("model.ckpt-*.index")) == [
        "model.ckpt-0.index",
        "model.ckpt-3.index",
    ]
    again = linear(tmp_path)
    again.train(inputs(), steps=4)
    assert again.get_variable_value("global_step") == 7
    once = linear(tmp_path / "other")
    once.train(inputs(), steps=7)
    for name in once.get_variable_names():
        # Input begins anew with each call, which 3 steps of 5 rows out of 10 make visible.
        assert once.get_variable_value(name).shape == again.get_variable_value(name).shape


def test_max_steps_counts_what_was_trained_before(tmp_path: Path, log: Any) -> None:
    estimator = linear(tmp_path)
    estimator.train(inputs(), max_steps=5)
    estimator.train(inputs(), max_steps=5)
    assert "Skipping training since max_steps has already saved." in log()
    estimator.train(inputs(), max_steps=6)
    assert estimator.get_variable_value("global_step") == 6


def test_the_log_tells_what_happens(tmp_path: Path, log: Any) -> None:
    estimator = linear(tmp_path, log_step_count_steps=2)
    estimator.train(inputs(), max_steps=3)
    estimator.evaluate(inputs(), steps=2, name="some")
    lines = log()
    path = tmp_path / "model.ckpt"
    in_order = [
        "Calling model_fn.",
        "Done calling model_fn.",
        "Create CheckpointSaverHook.",
        "Graph was finalized.",
        "Running local_init_op.",
        "Done running local_init_op.",
        f"Saving checkpoints for 0 into {path}.",
        f"Saving checkpoints for 3 into {path}.",
        f"Loss for final step: {estimator_loss(lines)}.",
        "Calling model_fn.",
        f"Restoring parameters from {path}-3",
        "Evaluation [1/2]",
        "Evaluation [2/2]",
        f"Saving 'checkpoint_path' summary for global step 3: {path}-3",
    ]
    position = -1
    for line in in_order:
        position = lines.index(line, position + 1)
    losses = [line for line in lines if line.startswith("loss = ")]
    assert len(losses) == 2
    # A float of 32 bits shows no more digits than it has.
    assert len(losses[0].split()[2].rstrip(",")) <= 11


def estimator_loss(lines: list[str]) -> str:
    (line,) = [line for line in lines if line.startswith("Loss for final step")]
    return line.removeprefix("Loss for final step: ").removesuffix(".")


def test_events(tmp_path: Path) -> None:
    estimator = linear(tmp_path, save_summary_steps=1, log_step_count_steps=2)
    estimator.train(inputs(), steps=5)
    estimator.evaluate(inputs(1))
    estimator.evaluate(inputs(1), name="b")
    queue = "enqueue_input/queue/enqueue_input/fifo_queuefraction_over_0_of_1000_full"
    assert scalar_tags(tf, str(tmp_path)) == [queue, "loss"]
    assert scalar_tags(tf, str(tmp_path / "eval")) == ["checkpoint_path", "loss", "mae"]
    assert scalar_tags(tf, str(tmp_path / "eval_b")) == ["checkpoint_path", "loss", "mae"]
    assert estimator.eval_dir("b") == str(tmp_path / "eval_b")


def test_hooks_of_everyone_are_called(tmp_path: Path) -> None:
    class Count(tf.train.SessionRunHook):
        steps = 0

        def after_run(self, run_context: Any, run_values: Any) -> None:
            self.steps += 1

    train, chief, mine, evaluation, prediction = (Count() for _ in range(5))

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        spec = linear_fn(features, labels, mode, {})
        return spec._replace(
            training_hooks=[train],
            training_chief_hooks=[chief],
            evaluation_hooks=[evaluation],
            prediction_hooks=[prediction],
        )

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(inputs(), hooks=[mine], steps=3)
    estimator.evaluate(inputs(), steps=2)
    list(estimator.predict(questions()))
    assert [each.steps for each in (train, chief, mine, evaluation, prediction)] == [3, 3, 3, 2, 3]


def test_hooks_of_evaluation_come_after_those_of_the_program(tmp_path: Path) -> None:
    begun = []

    class Begun(tf.train.SessionRunHook):
        def __init__(self, name: str) -> None:
            self.name = name

        def begin(self) -> None:
            begun.append(self.name)

    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        spec = linear_fn(features, labels, mode, {})
        return spec._replace(evaluation_hooks=[Begun("model")])

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(inputs(), steps=1)
    estimator.evaluate(inputs(), steps=1, hooks=[Begun("program")])
    assert begun == ["program", "model"]


def test_saving_listeners(tmp_path: Path) -> None:
    class Listen(tf.train.CheckpointSaverListener):
        saved: list[int]

        def begin(self) -> None:
            self.saved = []

        def after_save(self, session: Any, global_step_value: int) -> None:
            self.saved.append(int(global_step_value))

    listener = Listen()
    linear(tmp_path, save_checkpoints_steps=2).train(inputs(), steps=5, saving_listeners=[listener])
    assert listener.saved == [0, 2, 4, 5]
    never = linear(tmp_path / "b", save_checkpoints_steps=None, save_checkpoints_secs=None)
    with pytest.raises(ValueError, match="There should be a CheckpointSaverHook"):
        never.train(inputs(), steps=1, saving_listeners=[listener])


def test_input_functions_get_what_they_ask_for(tmp_path: Path) -> None:
    seen: list[Any] = []

    def input_fn(params: Any, mode: str, config: Any) -> Any:
        seen.append((params["rate"], mode, type(config).__name__))
        return {"x": tf.constant(X)}, tf.constant(Y)

    config = tf.estimator.RunConfig(model_dir=str(tmp_path))
    estimator = tf.estimator.Estimator(linear_fn, config=config, params={"rate": 0.3})
    estimator.train(input_fn, steps=1)
    estimator.evaluate(input_fn, steps=1)
    assert seen == [(0.3, "train", "RunConfig"), (0.3, "eval", "RunConfig")]


def test_predictions_by_key_and_by_batch(tmp_path: Path) -> None:
    estimator = linear(tmp_path)
    rows = list(estimator.predict(questions(), predict_keys=["twice"]))
    assert all(list(row) == ["twice"] for row in rows)
    batches = list(estimator.predict(questions(), yield_single_examples=False))
    assert [batch["y"].shape for batch in batches] == [(4,), (4,), (2,)]
    with pytest.raises(ValueError, match="Expected to run at least one output from"):
        next(estimator.predict(questions(), predict_keys=["no"]))


def test_prediction_without_end_is_warned_of(tmp_path: Path, log: Any) -> None:
    found = linear(tmp_path).predict(lambda: {"x": tf.constant(X)})
    assert next(found)["y"] == 0
    found.close()
    assert any("That means predict yields forever" in line for line in log())
    assert any("running initialization to predict." in line for line in log())


def test_a_loss_that_is_not_a_number_ends_the_training(tmp_path: Path) -> None:
    config = tf.estimator.RunConfig(model_dir=str(tmp_path))
    estimator = tf.estimator.Estimator(linear_fn, config=config, params={"rate": 1e30})
    with pytest.raises(tf.estimator.NanLossDuringTrainingError):
        estimator.train(inputs(), steps=20)


def test_warm_start(tmp_path: Path, log: Any) -> None:
    first = linear(tmp_path / "a")
    first.train(inputs(), steps=5)
    second = tf.estimator.Estimator(
        linear_fn, str(tmp_path / "b"), params={"rate": 0.0}, warm_start_from=str(tmp_path / "a")
    )
    assert second.evaluate(inputs(1))["loss"] == first.evaluate(inputs(1))["loss"]
    second.train(inputs(), steps=1)
    kernel = second.get_variable_value("line/kernel")
    np.testing.assert_array_equal(kernel, first.get_variable_value("line/kernel"))
    assert "Warm-started 2 variables." in log()
    settings = tf.estimator.WarmStartSettings(str(tmp_path / "a"), vars_to_warm_start=".*bias")
    third = tf.estimator.Estimator(
        linear_fn, str(tmp_path / "c"), params={"rate": 0.0}, warm_start_from=settings
    )
    third.train(inputs(), steps=1)
    assert third.get_variable_value("line/bias") == first.get_variable_value("line/bias")
    assert not third.get_variable_value("line/kernel").any()


def test_a_model_may_bring_its_own_local_initialization(tmp_path: Path) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        local = tf.get_local_variable("local", initializer=3.0)
        spec = linear_fn(features, labels, mode, {})
        scaffold = tf.train.Scaffold(local_init_op=tf.group(local.initializer))
        metrics = {"local": (local + 0.0, tf.no_op())}
        return spec._replace(scaffold=scaffold, eval_metric_ops=metrics)

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    assert estimator.evaluate(inputs(1))["local"] == 3.0


# ---- mistakes ------------------------------------------------------------------------------------


def test_arguments_are_checked(tmp_path: Path) -> None:
    estimator = linear(tmp_path)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"steps": 1, "max_steps": 1}, "Can not provide both steps and max_steps."),
        ({"steps": 0}, "Must specify steps > 0, given: 0"),
        ({"max_steps": -1}, "Must specify max_steps > 0, given: -1"),
    ]
    for arguments, message in cases:
        with pytest.raises(ValueError, match=message):
            estimator.train(inputs(), **arguments)
    with pytest.raises(TypeError, match="Hooks must be a SessionRunHook, given: 3"):
        estimator.train(inputs(), hooks=[3])
    with pytest.raises(TypeError, match="saving_listeners must be a list of"):
        estimator.train(inputs(), steps=1, saving_listeners=[3])
    with pytest.raises(ValueError, match="Could not find trained model in model_dir"):
        estimator.get_variable_names()
    with pytest.raises(ValueError, match="len 2 tuple"):
        estimator.train(lambda: (1, 2, 3), steps=1)


def test_model_functions_are_checked(tmp_path: Path) -> None:
    make = tf.estimator.Estimator
    with pytest.raises(ValueError, match="model_fn must be provided"):
        make(None)
    with pytest.raises(ValueError, match="must include features argument"):
        make(lambda labels: None)
    with pytest.raises(ValueError, match="does not include params argument"):
        make(lambda features: None, params={"a": 1})
    with pytest.raises(ValueError, match="has following not expected args: \\['extra'\\]"):
        make(lambda features, extra: None)
    with pytest.raises(ValueError, match="model_fn should return an EstimatorSpec"):
        make(lambda features, labels: None, str(tmp_path)).train(inputs(), steps=1)
    with pytest.raises(ValueError, match="does not take labels"):
        make(lambda features: None, str(tmp_path)).train(inputs(), steps=1)
    with pytest.raises(ValueError, match="config must be an instance of `RunConfig`"):
        make(linear_fn, config=3, params={})
    config = tf.estimator.RunConfig(model_dir="a")
    with pytest.raises(ValueError, match="`model_dir` are set both in constructor"):
        make(linear_fn, "b", config, {})


def test_subclasses_do_not_override() -> None:
    class Mine(tf.estimator.Estimator):
        def train(self) -> None:  # type: ignore[override]
            pass

    with pytest.raises(ValueError, match="cannot override members of Estimator"):
        Mine(linear_fn)


def test_libraries_may_override() -> None:
    """AdaNet puts a function in the place of the check."""

    class Mine(tf.estimator.Estimator):
        _assert_members_are_not_overridden = staticmethod(lambda _: None)

        def train(self) -> str:  # type: ignore[override]
            return "trained"

    assert Mine(linear_fn, params={}).train() == "trained"


@pytest.mark.parametrize("name", ["loss", "global_step"])
def test_names_of_metrics_that_are_taken(tmp_path: Path, name: str) -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
        spec = linear_fn(features, labels, mode, {})
        return spec._replace(eval_metric_ops={name: spec.eval_metric_ops["mae"]})

    with pytest.raises(ValueError, match="already defines a default metric with the same name"):
        tf.estimator.Estimator(model_fn, str(tmp_path)).evaluate(inputs(1))


def test_specs_are_checked() -> None:
    loss, step = tf.constant(1.0), tf.no_op()
    cases: list[tuple[type, str, dict[str, Any]]] = [
        (ValueError, "Missing train_op.", {"mode": ModeKeys.TRAIN, "loss": loss}),
        (ValueError, "Missing loss.", {"mode": ModeKeys.EVAL}),
        (ValueError, "Missing predictions.", {"mode": ModeKeys.PREDICT}),
        (
            ValueError,
            "Loss must be scalar, given: ",
            {"mode": ModeKeys.EVAL, "loss": tf.constant([1.0, 2.0])},
        ),
        (TypeError, "loss must be Tensor, given: 1.0", {"mode": ModeKeys.EVAL, "loss": 1.0}),
        (
            TypeError,
            "train_op must be Operation or Tensor, given: 7",
            {"mode": ModeKeys.TRAIN, "loss": loss, "train_op": 7},
        ),
        (
            TypeError,
            r"predictions\[a\] must be Tensor, given: 1",
            {"mode": ModeKeys.PREDICT, "predictions": {"a": 1}},
        ),
        (
            TypeError,
            "eval_metric_ops must be a dict",
            {"mode": ModeKeys.EVAL, "loss": loss, "eval_metric_ops": 3},
        ),
        (
            TypeError,
            "must be \\(metric_value, update_op\\) tuples, given: 3 for key: a",
            {"mode": ModeKeys.EVAL, "loss": loss, "eval_metric_ops": {"a": 3}},
        ),
        (
            TypeError,
            "All hooks must be SessionRunHook instances, given: 5",
            {"mode": ModeKeys.EVAL, "loss": loss, "training_hooks": [5]},
        ),
        (
            TypeError,
            "scaffold must be tf.train.Scaffold",
            {"mode": ModeKeys.EVAL, "loss": loss, "scaffold": 5},
        ),
        (
            TypeError,
            "export_outputs must be dict",
            {"mode": ModeKeys.PREDICT, "predictions": loss, "export_outputs": 5},
        ),
        (
            ValueError,
            "none of them is specified as the default",
            {
                "mode": ModeKeys.PREDICT,
                "predictions": loss,
                "export_outputs": {
                    name: tf.estimator.export.PredictOutput(loss) for name in ("a", "b")
                },
            },
        ),
    ]
    for kind, message, arguments in cases:
        with pytest.raises(kind, match=message):
            EstimatorSpec(**arguments)
    spec = EstimatorSpec(ModeKeys.TRAIN, loss=tf.constant([1.0]), train_op=step)
    assert spec.loss.shape.as_list() == [] and spec.predictions == {}
    with pytest.raises(ValueError, match="mode of EstimatorSpec cannot be changed"):
        spec._replace(mode=ModeKeys.EVAL)
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match='train_op with "NoOp" must be from the default graph'):
            EstimatorSpec(ModeKeys.TRAIN, loss=tf.constant(1.0), train_op=step)


def test_datasets_as_input(tmp_path: Path) -> None:
    def input_fn() -> Any:
        return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(2).batch(5)

    estimator = linear(tmp_path)
    estimator.train(input_fn)
    assert estimator.get_variable_value("global_step") == 4
    assert "mae" in estimator.evaluate(input_fn)
    rows = list(estimator.predict(lambda: tf.data.Dataset.from_tensor_slices({"x": X}).batch(4)))
    assert len(rows) == 10
