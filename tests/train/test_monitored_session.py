"""Monitored sessions: what happens in which order, how they end, and what they survive."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.train.sessions.progress import ProgressHook


class Diary(tf.train.SessionRunHook):
    """Writes down when it is called."""

    def __init__(self, name: str = "", pages: list[str] | None = None) -> None:
        self.name = name
        self.pages: list[str] = [] if pages is None else pages

    def begin(self) -> None:
        assert not tf.get_default_graph().finalized
        self.pages.append(self.name + "begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        assert session.graph.finalized and not coord.should_stop()
        self.pages.append(self.name + "after_create_session")

    def before_run(self, run_context: Any) -> None:
        self.pages.append(self.name + "before_run")

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.pages.append(self.name + "after_run")

    def end(self, session: Any) -> None:
        self.pages.append(self.name + "end")


@pytest.fixture(autouse=True)
def no_writers_left() -> Any:
    yield
    tf.summary.FileWriterCache.clear()


def counting() -> tf.Tensor:
    return tf.assign_add(tf.train.get_or_create_global_step(), 1)


def test_the_order_of_calls() -> None:
    step = counting()
    pages: list[str] = []
    with tf.train.MonitoredSession(hooks=[Diary("a ", pages), Diary("b ", pages)]) as sess:
        assert sess.run(step) == 1
    ordered = "begin after_create_session before_run after_run end".split()
    assert pages == [f"{name} {what}" for what in ordered for name in "ab"]
    assert not tf.get_default_graph().finalized


def test_no_end_after_an_error() -> None:
    step, diary = counting(), Diary()
    with pytest.raises(ZeroDivisionError):
        with tf.train.MonitoredSession(hooks=[diary]) as sess:
            sess.run(step)
            raise ZeroDivisionError
    assert diary.pages[-1] == "after_run"


@pytest.mark.parametrize("error", [tf.errors.OutOfRangeError(None, None, "end"), StopIteration()])
def test_the_end_of_the_input_is_the_end(error: Exception) -> None:
    counting()
    diary = Diary()
    with tf.train.MonitoredSession(hooks=[diary]):
        raise error
    assert diary.pages[-1] == "end"


def test_the_end_of_a_queue_is_the_end() -> None:
    queue = tf.train.string_input_producer(["a", "b"], num_epochs=1, shuffle=False)
    item, seen = queue.dequeue(), []
    with tf.train.MonitoredSession() as sess:
        while not sess.should_stop():
            seen.append(sess.run(item))
    assert seen == [b"a", b"b"]


def test_hooks_fetch_feed_and_stop() -> None:
    step = counting()
    x = tf.placeholder(tf.float32, [])
    double = x * 2.0
    seen = []

    class Doubling(tf.train.SessionRunHook):
        def before_run(self, run_context: Any) -> Any:
            assert run_context.original_args.fetches is step
            return tf.train.SessionRunArgs({"double": double}, feed_dict={x: 3.0})

        def after_run(self, run_context: Any, run_values: Any) -> None:
            seen.append(run_values.results["double"])
            run_context.request_stop()

    with tf.train.MonitoredSession(hooks=[Doubling()]) as sess:
        sess.run(step)
        assert seen == [6.0] and sess.should_stop()
        with pytest.raises(RuntimeError, match="Run called even after should_stop requested"):
            sess.run(step)


def test_nobody_feeds_what_another_feeds() -> None:
    x = tf.placeholder(tf.float32, [])
    hooks = [tf.train.FeedFnHook(lambda: {x: 1.0}) for _ in range(2)]
    with tf.train.MonitoredSession(hooks=hooks[:1]) as sess:
        with pytest.raises(RuntimeError, match="Same tensor is fed by a SessionRunHook and user"):
            sess.run(x, {x: 2.0})
    with pytest.raises(RuntimeError, match="Same tensor is fed by two hooks"):
        with tf.train.MonitoredSession(hooks=hooks) as sess:
            sess.run(x)


def test_starts_anew_when_a_peer_is_lost(tmp_path: Path) -> None:
    """The step is run again, on variables from the last checkpoint."""
    step = counting()
    diary = Diary()

    class Breaks(tf.train.SessionRunHook):
        broken = False

        def after_run(self, run_context: Any, run_values: Any) -> None:
            if not self.broken and run_context.session.run(tf.train.get_global_step()) == 4:
                self.broken = True
                raise tf.errors.UnavailableError(None, None, "gone")

    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), save_checkpoint_steps=2, hooks=[diary, Breaks()]
    ) as sess:
        seen = [sess.run(step) for _ in range(5)]
    # Step 4 was saved by a hook before the breaking one; the run that broke is repeated after it.
    assert seen == [1, 2, 3, 5, 6]
    assert diary.pages.count("after_create_session") == 2


def test_a_singular_session_gives_up() -> None:
    step = counting()

    class Breaks(tf.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            raise tf.errors.AbortedError(None, None, "gone")

    with pytest.raises(tf.errors.AbortedError):
        with tf.train.SingularMonitoredSession(hooks=[Breaks()]) as sess:
            assert sess.raw_session().run(step) == 1
            sess.run(step)


def test_an_error_in_a_thread_is_raised() -> None:
    step = counting()
    failed = threading.Event()

    class Fails(tf.train.SessionRunHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            def report() -> None:
                with coord.stop_on_exception():
                    raise ValueError("in a thread")
                failed.set()

            thread = threading.Thread(target=report)
            coord.register_thread(thread)
            thread.start()

    with pytest.raises(ValueError, match="in a thread"):
        with tf.train.MonitoredSession(hooks=[Fails()]) as sess:
            failed.wait(10)
            assert sess.should_stop()
            sess.run(step)


def test_step_functions() -> None:
    step, diary = counting(), Diary()
    value = tf.train.get_global_step() + 0

    def once(step_context: Any) -> Any:
        step_context.session.run(step)
        return step_context.run_with_hooks(step)

    def stop(step_context: Any) -> Any:
        step_context.request_stop()

    with tf.train.MonitoredSession(hooks=[diary]) as sess:
        assert sess.run_step_fn(once) == 2
        assert diary.pages.count("before_run") == 1
        with pytest.raises(ValueError, match="`step_fn` may either have one `step_context`"):
            sess.run_step_fn(lambda other: other)
        assert sess.run(value) == 2
        sess.run_step_fn(stop)
    assert sess.should_stop() and diary.pages[-1] == "end"


def test_training_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    def train(steps: int) -> list[int]:
        with tf.Graph().as_default():
            step = counting()
            tf.summary.scalar("step", step)
            seen = []
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=str(tmp_path),
                save_checkpoint_steps=2,
                save_summaries_steps=1,
                hooks=[tf.train.StopAtStepHook(num_steps=steps)],
            ) as sess:
                while not sess.should_stop():
                    seen.append(int(sess.run(step)))
            return seen

    assert train(3) == [1, 2, 3]
    assert train(4) == [4, 5, 6, 7]
    tf.summary.FileWriterCache.clear()
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-7")
    files = sorted(tmp_path.glob("events.*"))
    steps = [
        event.step
        for file in files
        for event in tf.train.summary_iterator(str(file))
        if any(value.tag == "step" for value in event.summary.value)
    ]
    assert steps == [1, 2, 3, 4, 5, 6, 7]
    assert (tmp_path / "graph.pbtxt").exists()


def test_a_scaffold_takes_from_collections() -> None:
    v = tf.Variable(1.0, name="v")
    mine = v.assign(7.0)
    tf.add_to_collection(tf.GraphKeys.INIT_OP, mine)
    called = []
    first = tf.train.Scaffold(init_fn=lambda scaffold, sess: called.append(scaffold))
    scaffold = tf.train.Scaffold(copy_from_scaffold=first)
    creator = tf.train.ChiefSessionCreator(scaffold)
    with tf.train.MonitoredSession(creator) as sess:
        assert sess.run(v) == 7.0
    assert called == [scaffold] and scaffold.init_op is mine
    assert tf.get_collection(tf.GraphKeys.SAVERS) == [scaffold.saver]
    tf.add_to_collection(tf.GraphKeys.INIT_OP, mine)
    with pytest.raises(RuntimeError, match='More than one item in the collection "init_op"'):
        tf.train.Scaffold().finalize()


def test_a_worker_does_not_initialize() -> None:
    tf.Variable(1.0, name="v")
    creator = tf.train.WorkerSessionCreator(max_wait_secs=0)
    with pytest.raises(tf.errors.DeadlineExceededError):
        creator.create_session()


def test_traces_are_for_those_who_ask() -> None:
    step = counting()
    options = []

    class Looks(tf.train.SessionRunHook):
        def after_run(self, run_context: Any, run_values: Any) -> None:
            options.append(len(run_values.run_metadata.step_stats.dev_stats))

    with tf.train.MonitoredSession(hooks=[Looks()]) as sess:
        sess.run(step)
        sess.run(step, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE))
    assert options[0] == 0 and options[1] > 0


def test_progress_is_one_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    step, terminal = counting(), Terminal()
    monkeypatch.setattr(ProgressHook, "EVERY_SECS", 0)
    monkeypatch.setattr("sys.stderr", terminal)
    with tf.train.MonitoredTrainingSession(save_checkpoint_secs=None) as sess:
        for _ in range(3):
            sess.run(step)
    assert "step 3 " in terminal.getvalue() and "\n" not in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")
    monkeypatch.undo()
    with tf.train.MonitoredTrainingSession() as sess:
        assert not any(isinstance(hook, ProgressHook) for hook in sess._hooks)


def test_numpy_values_come_as_they_are() -> None:
    counting()
    with tf.train.MonitoredSession() as sess:
        value = sess.run({"a": [tf.get_default_graph().get_tensor_by_name("global_step:0")]})
    assert value == {"a": [np.int64(0)]}
