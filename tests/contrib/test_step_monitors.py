"""Monitors of tf.contrib.learn that are told of steps, alone and by their hook."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.learn import step_monitors

monitors = tf.contrib.learn.monitors


class Writer:
    """Keeps the tags of what is written."""

    def __init__(self) -> None:
        self.written: list[tuple[Any, str]] = []

    def add_summary(self, summary: Any, step: Any) -> None:
        made = tf.Summary.FromString(summary) if isinstance(summary, bytes) else summary
        self.written += [(int(step), value.tag) for value in made.value]

    def flush(self) -> None:
        self.written.append((None, "flush"))


class Told(monitors.EveryN):  # type: ignore[name-defined,misc]
    """Asks for a tensor, and stops at step 14."""

    def __init__(self, *settings: int) -> None:
        super().__init__(*settings)
        self.told: list[tuple[str, int]] = []

    def every_n_step_begin(self, step: int) -> list[str]:
        self.told.append(("begin", step))
        return ["loss:0"]

    def every_n_step_end(self, step: int, outputs: Any) -> bool:
        self.told.append(("end", step))
        return bool(step >= 14)

    def every_n_post_step(self, step: int, session: Any) -> None:
        self.told.append(("post", step))


def test_every_n_is_active_at_first_and_then_every_so_often() -> None:
    told = Told(3, 2)
    told.begin(20)
    stops = []
    for step in range(1, 16):
        wanted = told.step_begin(step)
        stops.append(told.step_end(step, dict.fromkeys(wanted, 1.0)))
        told.post_step(step, None)
    told.end()
    assert [step for what, step in told.told if what == "begin"] == [1, 2, 5, 8, 11, 14]
    assert [step for what, step in told.told if what == "post"] == [1, 2, 5, 8, 11, 14, 15]
    assert [k + 1 for k, stop in enumerate(stops) if stop] == [14]


def test_monitors_are_called_in_order() -> None:
    made = monitors.BaseMonitor()
    for call, message in (
        (lambda: made.step_end(3, {}), r"step_end expected"),
        (lambda: made.end(), "end called without begin."),
        (lambda: (made.begin(5), made.begin(5)), "begin called twice without end."),
        (lambda: made.step_begin(9), "Invalid step 9."),
        (lambda: (made.epoch_begin(0), made.epoch_begin(0)), "epoch_begin called twice without"),
        (lambda: made.epoch_end(1), "epoch_end expected"),
        (lambda: made.set_estimator(None), "Missing estimator."),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_stopping() -> None:
    made = monitors.StopAtStep(num_steps=3)
    made.begin(10)
    assert [(made.step_begin(k), made.step_end(k, {}))[1] for k in range(5, 9)] == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="One of num_steps or last_step must be specified"):
        monitors.StopAtStep()
    loss = monitors.NanLoss("loss:0", 1, fail_on_nan_loss=False)
    loss.begin()
    assert loss.step_begin(1) == ["loss:0"] and loss.step_end(1, {"loss:0": np.nan}) is True
    loss = monitors.NanLoss("loss:0", 1)
    loss.begin()
    loss.step_begin(1)
    with pytest.raises(monitors.NanLossDuringTrainingError):
        loss.step_end(1, {"loss:0": np.nan})


def test_the_hook_tells_monitors(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(
        step_monitors.logging, "info", lambda text, *given: logged.append(text % given)
    )
    v = tf.Variable([1.0, 2.0], name="v")
    step = tf.train.get_or_create_global_step()
    with tf.control_dependencies([tf.reduce_sum(v, name="loss")]):
        train = tf.group(v.assign_add([1.0, 1.0]), step.assign_add(1))
    summaries = tf.summary.scalar("l", tf.constant(1.0)).name
    writer, told, kept = Writer(), Told(2, 1), monitors.CaptureVariable("v:0", 2)
    hook = monitors.RunHookAdapterForMonitors([
        told, monitors.LoggingTrainable(every_n=2), kept, monitors.StepCounter(2, None, writer),
        monitors.SummarySaver(summaries, 2, summary_writer=writer), monitors.StopAtStep(6),
    ])  # fmt: skip
    with tf.train.MonitoredTrainingSession(hooks=[hook], log_step_count_steps=None) as session:
        while not session.should_stop():
            session.run(train)
    assert [step for what, step in told.told if what == "post"] == [1, 3, 5, 6]
    assert [int(step) for step in kept.values] == [1, 3, 5]
    rate = "global_step/sec"
    at_steps = [(1, "l"), (3, rate), (3, "l"), (5, rate), (5, "l"), (None, "flush")]
    assert writer.written == at_steps
    steps = [line.split("=")[0] for line in logged if line.startswith("Logging")]
    assert steps == [f"Logging Trainable: Step {step}: v:0 " for step in (1, 3, 5)]


def test_checkpoints_are_saved_first_now_and_then_and_last(tmp_path: Path) -> None:
    tf.train.get_or_create_global_step()
    made = monitors.CheckpointSaver(str(tmp_path), save_steps=3, saver=tf.train.Saver())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        made.begin(10)
        for step in range(1, 9):
            made.step_begin(step)
            made.post_step(step, session)
        made.end(session)
    saved = [name for name in sorted(os.listdir(tmp_path)) if name.endswith(".index")]
    assert saved == [f"model.ckpt-{step}.index" for step in (1, 4, 7, 8)]
    with pytest.raises(ValueError, match="Can not provide both save_steps and save_secs"):
        monitors.CheckpointSaver("x", 1, 2)


def test_dumps_of_graphs_are_compared() -> None:
    dumps = []
    tf.Variable([1.0], name="v")
    for value in (2.0, 3.0):
        made = monitors.GraphDump()
        made.begin(3)
        assert [tensor.name for tensor in made.step_begin(1)] == ["v:0"]
        made.step_end(1, {"a:0": np.float32([1, value]), "v:0": 2.0})
        dumps.append(made)
    matched, others = dumps[0].compare(dumps[1], 1)
    assert matched == ["v:0"] and others["a:0"].tolist() == [0, -1]


def test_an_estimator_takes_monitors_of_both_kinds(tmp_path: Path) -> None:
    def model(features: Any, labels: Any, mode: str) -> Any:
        w = tf.get_variable("w", initializer=1.0)
        loss = tf.reduce_mean(tf.square(features * w - labels))
        step = tf.train.get_global_step()
        return features, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)

    class Counter(monitors.BaseMonitor):  # type: ignore[name-defined,misc]
        steps = 0

        def step_end(self, step: int, output: Any) -> bool:
            self.steps += 1
            return bool(super().step_end(step, output))

    def given() -> Any:
        return tf.constant([1.0, 2.0]), tf.constant([2.0, 4.0])

    made = tf.contrib.learn.Estimator(model, str(tmp_path))
    counter = Counter()
    watcher = monitors.ValidationMonitor(input_fn=given, eval_steps=1, every_n_steps=2)
    made.fit(input_fn=given, steps=4, monitors=[counter, watcher, monitors.StopAtStep(3)])
    assert counter.steps == 3 and counter._estimator is made
    default = monitors.get_default_monitors(tf.constant(1.0), tf.constant(b""))
    assert [type(each).__name__ for each in default] == ["PrintTensor", "SummarySaver"]
    tf.summary.FileWriterCache.clear()
