"""What `weft trace --output` writes holds to Chrome's format, so that Perfetto opens it."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.trace.chrome import complaints
from tests.trace.test_cluster import steps as steps
from tests.trace.test_merging import RECEIVE, SEND
from weft.traces import files
from weft.traces.cluster import TracedCluster
from weft.traces.here import record_here
from weft.traces.merging import merged

pytestmark = pytest.mark.timeout(240)


def recorded(step: Any, record: Any) -> Any:
    """What `record` gives while steps run."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            step()

    working = threading.Thread(target=work)
    working.start()
    try:
        return record()
    finally:
        over.set()
        working.join()


def test_two_recordings() -> None:
    assert complaints(merged([SEND, RECEIVE])) == []
    assert complaints(merged([])) == []


def test_a_session_with_all_kinds_of_events(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [32, 32])
    queue = tf.FIFOQueue(4, [tf.float32], [[32, 32]])
    put = queue.enqueue([x])
    with tf.device("/cpu:1"):
        doubled = tf.py_func(lambda value: value * 2, [queue.dequeue()], tf.float32)
        doubled.set_shape([32, 32])
    with tf.device("/cpu:0"):
        result = tf.reduce_sum(tf.matmul(doubled, tf.get_variable("w", [32, 32])))
    feed = {x: np.ones((32, 32), np.float32)}
    began = time.time() * 1e6
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        sess.run(tf.global_variables_initializer())

        def step() -> None:
            sess.run(put, feed)
            sess.run(result)

        trace = recorded(step, lambda: record_here(steps=20, seconds=60.0))
    files.write(trace, str(tmp_path / "trace.json.gz"))
    trace = files.read(str(tmp_path / "trace.json.gz"))
    assert complaints(trace) == []
    kinds = {event.get("cat") for event in trace["traceEvents"]}
    assert {"step", "python", "send", "receive", "flow"} <= kinds
    times = [event["ts"] for event in trace["traceEvents"] if event["ph"] == "X"]
    assert began <= min(times) <= max(times) <= time.time() * 1e6  # microseconds since 1970


def test_a_cluster(steps: Any) -> None:
    target, step = steps
    cluster = TracedCluster(target)
    try:
        trace = recorded(step, lambda: cluster.record(steps=10, seconds=60.0))
    finally:
        cluster.close()
    assert complaints(trace) == []
    assert any(event["ph"] == "s" for event in trace["traceEvents"])


BAR = {"ph": "X", "cat": "node", "name": "a", "pid": 0, "tid": 0, "ts": 10.0, "dur": 5.0}
NAMES = [
    {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "p"}},
    {"ph": "M", "name": "thread_name", "pid": 0, "tid": 0, "args": {"name": "t"}},
]
FLOW = {"ph": "s", "cat": "flow", "name": "w:0", "pid": 0, "tid": 0, "ts": 12.0, "id": 1}
LAST = {**FLOW, "ph": "f", "bp": "e", "ts": 13.0}


@pytest.mark.parametrize(
    ("events", "wrong"),
    [
        ([BAR, *NAMES, FLOW, LAST], ""),
        ([BAR], "no process_name"),
        ([BAR, NAMES[0]], "no thread_name"),
        ([{**BAR, "ts": -1.0}, *NAMES], "ts is no time"),
        ([{**BAR, "dur": "5"}, *NAMES], "dur is no time"),
        ([{**BAR, "tid": "main"}, *NAMES], "tid is no number"),
        ([{**BAR, "name": ""}, *NAMES], "no name"),
        ([{**BAR, "ph": "Z"}, *NAMES], "unknown phase"),
        ([BAR, {**BAR, "ts": 12.0}, *NAMES], "crosses another"),
        ([BAR, *NAMES, FLOW], "no pair"),
        ([BAR, *NAMES, {**FLOW, "ts": 14.0}, LAST], "back in time"),
        ([BAR, *NAMES, FLOW, {**LAST, "ts": 99.0}], "an end in no event"),
        ([BAR, *NAMES, FLOW, {k: v for k, v in LAST.items() if k != "bp"}], "not the fields"),
        ([BAR, NAMES[0], {**NAMES[1], "args": {"name": 3}}], "no such metadata"),
    ],
)
def test_the_rules_find_what_is_wrong(events: list[Any], wrong: str) -> None:
    found = complaints({"traceEvents": events, "displayTimeUnit": "ms"})
    assert (wrong in found[0]) if wrong else not found
