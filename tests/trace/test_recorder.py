"""Recording a process: which events there are, what they are about, and that nothing stays."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime.recording import xla_profile
from weft.runtime.recording.control import CONTROL, packed, unpacked
from weft.runtime.recording.probes import PROBES, step_number
from weft.runtime.recording.recorder import RECORDER, Recorder, lines_of
from weft.runtime.rendezvous import Rendezvous


@pytest.fixture(autouse=True)
def off_at_the_end() -> Iterator[None]:
    yield
    CONTROL.stop()


def recorded(run: Callable[[], Any], **options: Any) -> dict[str, Any]:
    CONTROL.start(**options)
    run()
    return CONTROL.stop()


def kinds(recording: dict[str, Any]) -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Kind -> names and details."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for kind, name, _, _, _, place in recording["events"]:
        found.setdefault(kind, []).append((name, recording["details"][place] or {}))
    return found


def training() -> tuple[Any, Any, int]:
    """A step of training, its feed, and the line that makes the product."""
    x = tf.placeholder(tf.float32, [64, 64])
    w = tf.get_variable("w", [64, 64])
    line = 1 + sys._getframe().f_lineno
    product = tf.matmul(x, w, name="product")
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(product)))
    return train, {x: np.ones((64, 64), np.float32)}, line


def test_a_step_from_interpreted_to_compiled(sess: tf.Session) -> None:
    train, feed, line = training()
    sess.run(tf.global_variables_initializer())

    def run() -> None:
        for _ in range(4):
            sess.run(train, feed)

    recording = recorded(run)
    found = kinds(recording)
    assert [name for name, _ in found["step"]] == ["Session.run GradientDescent"] * 4
    assert {"plan", "interpreted", "compile", "program", "op"} <= found.keys()
    assert all("product" in detail["nodes"] for _, detail in found["program"])
    assert Path(recording["lines"]["product"][0]) == Path(__file__)
    assert recording["lines"]["product"][1] == line
    assert unpacked(packed(recording)) == {
        **recording, "lines": {name: list(line) for name, line in recording["lines"].items()}
    }  # fmt: skip


def test_operations_inside_of_programs_belong_to_nodes(sess: tf.Session) -> None:
    train, feed, _ = training()
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train, feed)
    operations = kinds(recorded(lambda: sess.run(train, feed)))["op"]
    nodes = {op.name for op in tf.get_default_graph().get_operations()}
    assert operations
    assert {detail["node"] for _, detail in operations} <= nodes
    assert any(name == "gradients/product_grad/MatMul_1" for name, _ in operations)


def test_a_node_that_weft_put_in_has_the_line_of_the_one_it_is_named_after() -> None:
    graph = tf.get_default_graph()
    with tf.name_scope("layer"):
        tf.constant(1.0, name="product")
    found = lines_of(["layer/product/fused", "layer/other", "layer/product"], [graph])
    assert set(found) == {"layer/product/fused", "layer/product"}
    assert found["layer/product/fused"] == found["layer/product"]


def test_operations_inside_of_a_loop_belong_to_its_nodes(sess: tf.Session) -> None:
    x = tf.placeholder(tf.float32, [200, 200])

    def body(i: Any, value: Any) -> Any:
        return i + 1, tf.tanh(tf.matmul(value, value, name="inner"), name="squashed")

    _, result = tf.while_loop(lambda i, _: i < 5, body, [0, x])
    feed = {x: np.ones((200, 200), np.float32)}
    for _ in range(3):
        sess.run(result, feed)
    operations = kinds(recorded(lambda: sess.run(result, feed)))["op"]
    names = [name.rpartition("/")[2] for name, _ in operations]
    assert names.count("inner") >= 5


def test_python_functions_and_queues(sess: tf.Session) -> None:
    def double(value: Any) -> Any:
        return value * 2

    queue = tf.FIFOQueue(4, [tf.float32], [[]])
    taken = tf.py_func(double, [queue.dequeue(name="taken")], tf.float32)
    put = queue.enqueue([1.0])

    def delayed() -> None:
        waiting = threading.Thread(target=lambda: sess.run(taken))
        waiting.start()
        threading.Event().wait(0.2)
        sess.run(put)
        waiting.join()

    found = kinds(recorded(delayed))
    assert ("waits in taken", "QueueDequeueV2") in [
        (name, detail["op"]) for name, detail in found["wait"]
    ]
    (name, detail), *_ = found["python"]
    assert name.endswith("double") and detail["at"][0] == __file__


def test_off_there_is_nothing_in_the_way(sess: tf.Session) -> None:
    def methods() -> list[Any]:
        owners = [(probe.found(), probe.method) for probe in PROBES]
        return [owner.__dict__[method] for owner, method in owners if owner is not None]

    before = methods()
    CONTROL.start()
    during = methods()
    CONTROL.stop()
    assert methods() == before
    assert not set(map(id, before)) & set(map(id, during))


def test_tasks_that_were_prepared_while_recording_stay_silent_after_it(sess: tf.Session) -> None:
    queue = tf.FIFOQueue(4, [tf.float32], [[]])
    put = queue.enqueue([tf.reduce_sum(tf.ones([3, 3]) * tf.random_uniform([]))])
    recorded(lambda: sess.run(put))
    count = len(RECORDER.events)
    sess.run(put)
    assert len(RECORDER.events) == count


@pytest.mark.parametrize("remote", [False, True])
def test_lines_of_nodes_that_other_processes_run(remote: bool) -> None:
    recorder = Recorder()
    tf.constant(1.0, name="elsewhere")
    recorder.note_graph(tf.get_default_graph(), remote)
    assert ("elsewhere" in recorder.recording()["lines"]) is remote


def test_only_the_latest_events_are_kept(sess: tf.Session) -> None:
    x = tf.constant(1.0) + tf.random_uniform([])
    found = recorded(lambda: [sess.run(x) for _ in range(20)], most=10, operations=False)
    assert len(found["events"]) == 10


def test_a_recording_that_nobody_stops_ends_by_itself() -> None:
    CONTROL.start(seconds=0.05, operations=False)
    timer = CONTROL._timer
    assert timer is not None
    timer.join()
    assert not RECORDER.is_on


# ---- windows of XLA's profile --------------------------------------------------------------------


def test_programs_of_many_short_operations_rest_long() -> None:
    rests = [xla_profile.rest_after(size) for size in (0, 10_000, 1_000_000, 4_000_000)]
    assert rests[:2] == [0.0, 0.0]  # long operations: nothing is left out
    assert 0.0 < rests[2] < rests[3] < 60.0


@pytest.mark.parametrize("whole", [False, True])
def test_a_long_recording_takes_windows(
    whole: bool, sess: tf.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, feed, _ = training()
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(train, feed)
    rests: list[int] = []
    monkeypatch.setattr(xla_profile, "_WINDOW", 0.02)
    monkeypatch.setattr(xla_profile, "rest_after", lambda size: rests.append(size) or 0.01)
    CONTROL.start(whole=whole)
    for _ in range(500 if whole else 100_000):
        sess.run(train, feed)
        if len(rests) == 3:
            break
    recording, profiles = CONTROL.stop_with_profiles()
    assert len(rests) == (0 if whole else 3)
    assert len(profiles) == 1 if whole else len(profiles) >= 3
    products = [event[2] for event in recording["events"] if event[:2] == ["op", "product"]]
    steps = [event for event in recording["events"] if event[0] == "step"]
    assert 0 < len(products) <= len(steps)
    if whole:
        assert len(products) == len(steps)
    elif profiles[2]:
        assert len(xla_profile.operations_of(profiles[2:3])) > 0


def test_the_latest_windows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    class Session:
        def stop(self) -> bytes:
            return b"x" * 40

    monkeypatch.setattr(xla_profile, "_MOST_BYTES", 100)
    profile = xla_profile.XlaProfile()
    for _ in range(5):
        profile._session = Session()
        profile._end()
    assert len(profile.stop()) == 2


def test_a_profile_of_the_users_is_left_alone(sess: tf.Session, tmp_path: Path) -> None:
    import jax

    train, feed, _ = training()
    sess.run(tf.global_variables_initializer())
    jax.profiler.start_trace(str(tmp_path))
    found = kinds(recorded(lambda: [sess.run(train, feed) for _ in range(4)]))
    jax.profiler.stop_trace()
    assert "step" in found and "op" not in found
    assert list(tmp_path.rglob("*.xplane.pb"))


def test_threads_that_use_jax_first_begin_one_profile(
    sess: tf.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    sess.run(tf.reduce_sum(tf.random_uniform([300, 300])))
    begun: list[int] = []
    profile = xla_profile.XlaProfile(whole=True)
    monkeypatch.setattr(profile, "_begin", lambda: (begun.append(1), time.sleep(0.05)))
    threads = [threading.Thread(target=profile.start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert begun == [1]


def test_a_line_is_that_of_the_latest_graph() -> None:
    recorder, graphs = Recorder(), [tf.Graph(), tf.Graph()]
    for graph in graphs:
        with graph.as_default():
            tf.constant(1.0, name="same")
    for noted in (graphs, graphs[::-1]):
        for graph in noted:
            recorder.note_graph(graph)
        assert recorder.graphs() == noted[::-1]


def test_no_two_steps_have_one_number() -> None:
    """Else the ends of arrows of different steps meet: rendezvous are made where others were."""

    class Runs:
        def __init__(self) -> None:
            self.rendezvous = Rendezvous()

    numbers = []
    for _ in range(50):
        step = Runs()
        numbers.append(step_number(step))
        assert step_number(step) == numbers[-1]
    assert len(set(numbers)) == 50
