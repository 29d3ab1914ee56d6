"""From recordings to one trace: clocks, rows, arrows, and the reasons of idle time."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.runtime.recording.control import packed
from weft.runtime.recording.environment import SUFFIX
from weft.runtime.xla.program_text import node_of, nodes_of_instructions
from weft.traces import files
from weft.traces.columns import to_columns
from weft.traces.idle import explained, gaps, joined
from weft.traces.merging import Row, merged

KEY = "7;/job:ps/replica:0/task:1/device:CPU:0;0;/job:worker/replica:0/task:0/device:CPU:0;edge_3_w"


def recording(process: str, events: list[list[Any]], details: list[Any], **more: Any) -> Any:
    found = {
        "process": process, "host": "here", "pid": len(process), "threads": {"5": "MainThread"},
        "span": [0.0, 1000.0], "events": events, "details": [None, *details], "lines": {},
    }  # fmt: skip
    return {**found, **more}


SEND = recording(
    "/job:ps/replica:0/task:1",
    [["send", "send to /job:worker/task:0 w:0", 5300.0, 10.0, 5, 1]],
    [{"node": "w", "tensor": "w:0", "flow": KEY}],
    shift=5000.0,
    span=[5000.0, 6000.0],
)
RECEIVE = recording(
    "/job:worker/replica:0/task:0",
    [
        ["worker", "part of train", 100.0, 500.0, 0, 0],
        ["program", "MatMul", 100.0, 50.0, 5, 0],
        ["receive", "waits for /job:ps/task:1 w", 150.0, 200.0, 0, 1],
        ["program", "Relu", 360.0, 200.0, 5, 0],
    ],
    [{"node": "w", "flow": KEY}],
    lines={"w": ["train.py", 3, "<module>", "w = tf.get_variable('w', [])"]},
)


def by_kind(trace: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [event for event in trace["traceEvents"] if event.get("cat") == kind]


def test_clocks_are_aligned_and_ends_of_transfers_linked() -> None:
    trace = merged([SEND, RECEIVE])
    (send,), (receive,) = by_kind(trace, "send"), by_kind(trace, "receive")
    assert send["ts"] == 300.0
    assert receive["name"] == "waits for /job:ps/task:1 w:0"
    first, last = by_kind(trace, "flow")
    assert (first["ph"], last["ph"]) == ("s", "f")
    assert (first["pid"], last["pid"]) == (send["pid"], receive["pid"])
    assert first["id"] == last["id"]
    assert 300.0 <= first["ts"] <= 310.0 <= last["ts"] <= 350.0


def test_lines_may_come_from_another_process() -> None:
    line = ["train.py", 9, "<module>", "train = optimizer.minimize(loss)"]
    update = recording("/job:ps", [["program", "Adam", 1.0, 2.0, 5, 1]], [{"node": "Adam"}])
    worker = {**RECEIVE, "lines": {**RECEIVE["lines"], "Adam": line, "unused": line}}
    assert merged([update, worker])["weft"]["lines"] == {**RECEIVE["lines"], "Adam": line}


def test_an_arrow_ends_where_a_long_wait_ends() -> None:
    waits = {**RECEIVE, "events": [["receive", "waits for /job:ps/task:1 w", 100.0, 9e6, 0, 1]]}
    late = {**SEND, "events": [["send", "send to /job:worker/task:0 w:0", 9e6 + 5090, 90.0, 5, 1]]}
    first, last = by_kind(merged([late, waits]), "flow")
    assert 9e6 + 90 <= first["ts"] <= last["ts"] <= 9e6 + 100  # though the send goes on until +180


def test_idle_time_has_the_reason_that_ended_last() -> None:
    trace = merged([SEND, RECEIVE])
    names = [(e["name"], e["ts"], e["dur"]) for e in by_kind(trace, "idle")]
    assert names[0] == ("waits for /job:ps/task:1 w:0", 150.0, 210.0)


def test_only_the_time_that_all_share() -> None:
    other = recording("late", [["node", "early", 10.0, 5.0, 5, 0]], [], span=[200.0, 800.0])
    trace = merged([RECEIVE, other], together=True)
    assert [e["name"] for e in by_kind(trace, "node")] == []
    assert [e["name"] for e in by_kind(trace, "program")] == ["Relu"]


@pytest.mark.parametrize(
    ("nests", "spans", "lanes"),
    [
        (True, [(0, 10), (1, 3), (4, 5), (11, 12)], [4]),
        (True, [(0, 10), (5, 15), (12, 14)], [2, 1]),
        (False, [(0, 10), (1, 3), (4, 5), (11, 12)], [2, 2]),
        (True, [], []),
    ],
)
def test_lanes(nests: bool, spans: list[tuple[int, int]], lanes: list[int]) -> None:
    row = Row("row", 0, nests)
    for start, end in spans:
        row.add({"ts": start, "dur": end - start})
    assert [len(lane) for lane in row.lanes] == lanes


def test_spans() -> None:
    assert joined([(5.0, 6.0), (0.0, 2.0), (1.0, 3.0)]) == [(0.0, 3.0), (5.0, 6.0)]
    busy = [(10.0, 100.0), (200.0, 300.0)]
    assert list(gaps([(0.0, 250.0), (290.0, 400.0)], busy)) == [(100.0, 200.0), (300.0, 400.0)]


def test_a_full_queue_is_the_last_reason() -> None:
    def event(kind: str, name: str, start: float, took: float, **args: Any) -> dict[str, Any]:
        return {"cat": kind, "name": name, "ts": start, "dur": took, "args": args}

    step = event("worker", "step", 0.0, 1000.0)
    full = event("wait", "waits in put", 0.0, 900.0, op="QueueEnqueueV2")
    taken = event("wait", "waits in taken", 0.0, 500.0, op="QueueDequeueV2")
    assert [e["name"] for e in explained([step, full, taken])] == ["waits in taken"]
    assert [e["name"] for e in explained([step, full])] == ["waits in put"]


# ---- for the page --------------------------------------------------------------------------------


def read_columns(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """As static/columns.js reads them."""
    (length,) = struct.unpack("<I", data[:4])
    header, at, columns = json.loads(data[4 : 4 + length]), 4 + length, {}
    for name, dtype, count in header["columns"]:
        assert at % 8 == 0
        columns[name] = np.frombuffer(data, dtype, count, at)
        at += -(-columns[name].nbytes // 8) * 8
    assert at == len(data)
    return header, columns


def test_columns() -> None:
    header, columns = read_columns(to_columns(merged([SEND, RECEIVE])))
    names = [header["names"][i] for i in columns["name"]]
    first, last = columns["arrow"]
    assert names[first].startswith("send to") and names[last].startswith("waits for")
    assert columns["start"].min() == 0.0
    assert [p["name"] for p in header["processes"]] == [
        "/job:ps/task:1 (pid 24, here)", "/job:worker/task:0 (pid 28, here)"
    ]  # fmt: skip
    assert sum(count for row in header["rows"] for _, count in row["bars"]) == len(names)
    for row in header["rows"]:
        for begin, count in row["bars"]:  # what is drawn without looking back
            starts = columns["start"][begin : begin + count]
            ends = starts + columns["duration"][begin : begin + count]
            assert (starts[1:] >= ends[:-1]).all()
    assert sorted(columns["order"]) == list(range(len(names)))
    assert header["lines"]["w"][1] == 3
    assert not any("flow" in detail for detail in header["details"])


def test_columns_of_nothing_and_of_others() -> None:
    header, columns = read_columns(to_columns({"traceEvents": []}))
    assert header["rows"] == [] and len(columns["start"]) == 0
    foreign = [{"ph": "X", "name": "a", "pid": "p", "tid": "t", "ts": 1}, {"ph": "B", "name": "b"}]
    header, columns = read_columns(to_columns({"traceEvents": foreign}))
    assert header["names"] == ["a"] and columns["duration"].tolist() == [0.0]


# ---- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_files_open_again(name: str, tmp_path: Path) -> None:
    trace = merged([SEND, RECEIVE])
    files.write(trace, str(tmp_path / name))
    assert files.read(str(tmp_path / name)) == json.loads(json.dumps(trace))


def test_a_folder_of_recordings(tmp_path: Path) -> None:
    for i, each in enumerate((SEND, RECEIVE)):
        (tmp_path / f"{i}{SUFFIX}").write_bytes(packed(each))
    assert len(by_kind(files.read(str(tmp_path)), "flow")) == 2


@pytest.mark.parametrize("data", [b"", b"[1", b'{"a": 1}', b"\x1f\x8bxx", b"3"])
def test_what_is_no_trace_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="is no trace"):
        files.read(str(path))


# ---- the text of programs ------------------------------------------------------------------------

TEXT = """\
HloModule jit_weft_1

%fused_computation (param_0: f32[4]) -> f32[4] {
  %param_0 = f32[4]{0} parameter(0)
  ROOT %tanh.1 = f32[4]{0} tanh(%param_0), metadata={op_name="jit(weft_1)/net/Tanh/tanh"}
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %copy = f32[4]{0} copy(%x)
  %fusion = f32[4]{0} fusion(%copy), kind=kLoop, calls=%fused_computation
  ROOT %add = f32[4]{0} add(%fusion, %fusion), metadata={op_name="jit(weft_1)/net/add/add"}
}
"""


def test_every_instruction_has_a_node() -> None:
    found = nodes_of_instructions(TEXT, {"net/Tanh", "net/add", "net"})
    assert found == {
        "param_0": "net/Tanh", "tanh.1": "net/Tanh", "x": "net/Tanh", "copy": "net/Tanh",
        "fusion": "net/Tanh", "add": "net/add",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("scope", "node"),
    [
        ("jit(f)/a/MatMul/dot_general", "a/MatMul"),
        ("jit(f)/loop/while/body/inner/mul/mul", "inner/mul"),
        ("jit(f)/loop/while/cond/lt", "loop"),
        ("jit(f)/other", ""),
        ("", ""),
    ],
)
def test_scopes(scope: str, node: str) -> None:
    assert node_of(scope, {"a/MatMul", "a", "loop", "inner/mul"}) == node
