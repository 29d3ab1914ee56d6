"""The hooks of tf.train: when they act, and what they leave."""

from __future__ import annotations

import logging
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.lib.platform import tf_logging


@pytest.fixture(autouse=True)
def no_writers_left() -> Any:
    yield
    tf.summary.FileWriterCache.clear()


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What was logged so far; what is logged a few times only has not been."""
    monkeypatch.setattr(tf_logging, "_calls", Counter())
    caplog.set_level(logging.INFO, logger="tensorflow")
    return lambda: [record.getMessage() for record in caplog.records]


def counting() -> tf.Tensor:
    return tf.assign_add(tf.train.get_or_create_global_step(), 1)


def train(hooks: list[Any], fetch: Any, runs: int) -> list[Any]:
    """What `fetch` gives until a hook stops, at most `runs` times."""
    seen = []
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        while not sess.should_stop() and len(seen) < runs:
            seen.append(sess.run(fetch))
    return seen


def events(folder: Path) -> list[Any]:
    tf.summary.FileWriterCache.clear()
    return [e for f in sorted(folder.glob("events.*")) for e in tf.train.summary_iterator(str(f))]


# ---- timer ---------------------------------------------------------------------------------------


def test_a_timer_by_steps() -> None:
    timer = tf.train.SecondOrStepTimer(every_steps=3)
    assert timer.should_trigger_for_step(1)
    assert timer.update_last_triggered_step(1) == (None, None)
    assert [timer.should_trigger_for_step(step) for step in (1, 2, 3, 4, 5)] == [
        False, False, False, True, True,
    ]  # fmt: skip
    assert timer.update_last_triggered_step(4)[1] == 3
    timer.reset()
    assert timer.should_trigger_for_step(4) and timer.last_triggered_step() is None


def test_a_timer_by_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    timer = tf.train.SecondOrStepTimer(every_secs=2.0)
    timer.update_last_triggered_step(1)
    now[0] += 1
    assert not timer.should_trigger_for_step(2)
    now[0] += 1
    assert timer.should_trigger_for_step(2) and not timer.should_trigger_for_step(1)
    assert timer.update_last_triggered_step(2) == (2.0, 1)


def test_a_timer_has_one_unit() -> None:
    with pytest.raises(ValueError, match="Either every_secs or every_steps"):
        tf.train.SecondOrStepTimer()
    with pytest.raises(ValueError, match="Can not provide both"):
        tf.train.SecondOrStepTimer(1, 2)


# ---- stopping ------------------------------------------------------------------------------------


def test_stop_at_step() -> None:
    step = counting()
    assert train([tf.train.StopAtStepHook(num_steps=3)], step, 9) == [1, 2, 3]
    assert train([tf.train.StopAtStepHook(last_step=2)], step, 9) == [1, 2]
    for arguments in ({}, {"num_steps": 1, "last_step": 1}):
        with pytest.raises(ValueError, match="of num_steps or last_step"):
            tf.train.StopAtStepHook(**arguments)


def test_hooks_need_a_global_step() -> None:
    tf.constant(1)
    with pytest.raises(RuntimeError, match="Global step should be created to use StopAtStepHook"):
        tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(num_steps=1)])


def test_nan(lines: Any) -> None:
    step = counting()
    loss = tf.where(step > 2, float("nan"), 1.0)
    assert len(train([tf.train.NanTensorHook(loss, fail_on_nan_loss=False)], step, 9)) == 3
    assert "Model diverged with loss = NaN." in lines()
    with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training"):
        train([tf.train.NanTensorHook(loss)], step, 9)


# ---- logging -------------------------------------------------------------------------------------


def test_logging_every_n(lines: Any) -> None:
    x = tf.identity(counting(), name="x")
    train([tf.train.LoggingTensorHook(["x"], every_n_iter=2)], x, 5)
    told = [line for line in lines() if line.startswith("x = ")]
    assert [line.split()[2] for line in told] == ["1", "3", "5"]
    assert "sec)" not in told[0] and told[1].endswith(" sec)")


def test_logging_at_the_end_with_labels(lines: Any) -> None:
    x = tf.constant([0.5, 2.0])
    train([tf.train.LoggingTensorHook({"b": x, "a": x[0]}, at_end=True)], x, 3)
    assert [line for line in lines() if "=" in line] == ["a = 0.5, b = [0.5 2. ]"]


def test_logging_with_a_formatter(lines: Any) -> None:
    x = tf.constant(1)
    hook = tf.train.LoggingTensorHook({"x": x}, every_n_iter=10, formatter=lambda v: f"<{v['x']}>")
    train([hook], x, 3)
    assert "<1>" in lines()


def test_what_can_be_logged() -> None:
    pair = tf.split(tf.constant([1, 2]), 2, name="pair")
    with pytest.raises(ValueError, match="at_end and/or exactly one of every_n_iter"):
        tf.train.LoggingTensorHook(["x"])
    with pytest.raises(ValueError, match="invalid every_n_iter=0"):
        tf.train.LoggingTensorHook(["x"], every_n_iter=0)
    with pytest.raises(ValueError, match="Name pair is ambiguous"):
        tf.train.LoggingTensorHook(["pair"], every_n_iter=1).begin()
    with tf.Graph().as_default(), pytest.raises(ValueError, match="equal to current graph"):
        tf.train.LoggingTensorHook([pair[0]], every_n_iter=1).begin()


def test_steps_per_second(tmp_path: Path, lines: Any) -> None:
    hook = tf.train.StepCounterHook(every_n_steps=3, output_dir=str(tmp_path))
    train([hook], counting(), 8)
    assert len([line for line in lines() if line.startswith("global_step/sec: ")]) == 2
    values = [(e.step, v) for e in events(tmp_path) for v in e.summary.value]
    assert [(step, value.tag) for step, value in values] == [
        (4, "global_step/sec"),
        (7, "global_step/sec"),
    ]
    assert all(value.simple_value > 0 for _, value in values)


def test_a_step_that_does_not_count_is_told(lines: Any) -> None:
    tf.train.get_or_create_global_step()
    train([tf.train.StepCounterHook()], tf.constant(1), 3)
    assert any(
        "global step (tf.train.get_global_step) has not been increased" in line for line in lines()
    )


# ---- saving --------------------------------------------------------------------------------------


class Listener(tf.train.CheckpointSaverListener):
    def __init__(self, stop_at: int = 1000) -> None:
        self.calls: list[Any] = []
        self.stop_at = stop_at

    def begin(self) -> None:
        self.calls.append("begin")

    def before_save(self, session: Any, global_step_value: int) -> None:
        self.calls.append(("before", int(global_step_value)))

    def after_save(self, session: Any, global_step_value: int) -> bool:
        self.calls.append(("after", int(global_step_value)))
        return global_step_value >= self.stop_at

    def end(self, session: Any, global_step_value: int) -> None:
        self.calls.append(("end", int(global_step_value)))


def test_checkpoints_at_the_start_every_n_and_at_the_end(tmp_path: Path, lines: Any) -> None:
    listener = Listener()
    step = counting()
    hook = tf.train.CheckpointSaverHook(
        str(tmp_path), save_steps=2, scaffold=(scaffold := tf.train.Scaffold()),
        listeners=[listener],
    )  # fmt: skip
    creator = tf.train.ChiefSessionCreator(scaffold)
    with tf.train.MonitoredSession(creator, [hook]) as sess:
        for _ in range(5):
            sess.run(step)
    saves = [("before", n) for n in (0, 2, 4, 5)]
    assert listener.calls[0] == "begin" and listener.calls[-1] == ("end", 5)
    assert [call for call in listener.calls if call[0] == "before"] == saves
    assert f"Saving checkpoints for 4 into {tmp_path}/model.ckpt." in lines()
    logs = [(e.step, e.session_log) for e in events(tmp_path) if e.HasField("session_log")]
    assert [at for at, _ in logs] == [0, 2, 4, 5]
    assert logs[0][1].checkpoint_path == str(tmp_path / "model.ckpt")
    assert (tmp_path / "graph.pbtxt").exists()
    reader = tf.train.load_checkpoint(str(tmp_path))
    assert reader.get_tensor("global_step") == 5


def test_a_listener_may_stop(tmp_path: Path) -> None:
    step = counting()
    tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1, listeners=[Listener(3)])
    assert train([hook], step, 9) == [1, 2, 3]


def test_a_saver_must_be_known(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="You cannot provide both saver and scaffold"):
        tf.train.CheckpointSaverHook(
            str(tmp_path), save_steps=1, saver=object(), scaffold=tf.train.Scaffold()
        )
    hook = tf.train.CheckpointSaverHook(str(tmp_path), save_steps=1)
    with pytest.raises(RuntimeError, match="No items in collection savers"):
        hook._get_saver()


def test_summaries_every_n(tmp_path: Path) -> None:
    step = counting()
    summary = tf.summary.scalar("step", step)
    hook = tf.train.SummarySaverHook(save_steps=3, output_dir=str(tmp_path), summary_op=summary)
    train([hook], step, 7)
    found = events(tmp_path)
    assert [e.session_log.status for e in found if e.HasField("session_log")] == [
        tf.SessionLog.START
    ]
    assert [e.step for e in found if e.summary.value] == [1, 4, 7]
    with pytest.raises(ValueError, match="Exactly one of scaffold or summary_op"):
        tf.train.SummarySaverHook(save_steps=1)


def test_timelines(tmp_path: Path) -> None:
    train([tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))], counting(), 5)
    assert sorted(f.name for f in tmp_path.glob("*.json")) == ["timeline-2.json", "timeline-4.json"]
    assert '"traceEvents"' in (tmp_path / "timeline-2.json").read_text()
    tags = [
        e.tagged_run_metadata.tag for e in events(tmp_path) if e.HasField("tagged_run_metadata")
    ]
    assert tags == ["step_2", "step_4"]


# ---- feeding, waiting, ending --------------------------------------------------------------------


def test_feeds_and_final_ops() -> None:
    x = tf.placeholder(tf.float32, [])
    numbers = iter([1.0, 2.0, 3.0])
    final = tf.train.FinalOpsHook(x + 1.0, {x: 10.0})
    assert train([tf.train.FeedFnHook(lambda: {x: next(numbers)}), final], x * 2.0, 3) == [2, 4, 6]
    assert final.final_ops_values == 11.0


def test_final_ops_must_not_read_input(lines: Any) -> None:
    queue = tf.FIFOQueue(1, tf.int32)
    close = queue.close()
    hook = tf.train.FinalOpsHook(queue.dequeue())
    with pytest.raises(tf.errors.OutOfRangeError):
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            sess.run(close)
    assert any("raised by the code in FinalOpsHook" in line for line in lines())


def test_waiting_for_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    step = counting()
    naps = []
    hook = tf.train.GlobalStepWaiterHook(3)
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        raw = sess._tf_sess()
        monkeypatch.setattr(time, "sleep", lambda seconds: naps.append(raw.run(step)))
        assert sess.run(step) == 4
        assert sess.run(step) == 5
    assert naps == [1, 2, 3]
