"""`weft profile`: what lines cost, by what processes recorded."""

from __future__ import annotations

import re
from pathlib import Path

from weft.cli.main import main
from weft.lib.profiler.costs import costs_of

DETAILS = [
    None, {"node": "a"}, {"node": "b", "nodes": ["b", "c"]}, {"node": "gradients/a_grad/x"},
    {"at": ["p.py", 9]}, {"node": "unknown"},
]  # fmt: skip
LINES = {"a": ["p.py", 1, "f", ""], "b": ["p.py", 2, "f", ""], "c": ["p.py", 3, "f", ""]}
# Kind, name, start and length in microseconds, thread, detail.
EVENTS = [
    ["step", "run", 0, 100, 7, 0],
    ["program", "a", 10, 40, 7, 1],
    ["node", "b", 60, 20, 7, 2],
    ["python", "f", 62, 6, 7, 4],
    ["op", "a", 12, 10, "XLA", 1],
    ["op", "gradient", 22, 20, "XLA", 3],
    ["op", "unknown", 70, 4, "XLA", 5],
    ["wait", "loose", 0, 1000, 0, 1],
]


def test_each_microsecond_is_counted_for_one_line() -> None:
    found = costs_of([{"details": DETAILS, "lines": LINES, "events": EVENTS}])
    lines = {line[1]: cost.micros for line, cost in found.lines.items()}
    # 20 us of `b` and `c`, of which 6 were Python's and 4 were spent waiting for XLA.
    assert lines == {1: 30, 2: 5, 3: 5, 9: 6}
    apart = {name: cost.micros for name, cost in found.apart.items()}
    assert apart == {
        "session.run itself": 40, "nodes of no line": 4, "calling compiled programs": 6
    }  # fmt: skip
    assert found.costliest(1)[0][0] == ("p.py", 1) and found.steps == 1


PROGRAM = """\
import numpy as np
import tensorflow as tf
x = tf.placeholder(tf.float32, [300, 300])
y = tf.matmul(x, x)
z = tf.reduce_sum(y)
with tf.Session() as session:
    for _ in range(4):
        session.run(z, {x: np.ones([300, 300])})
"""


def test_the_costliest_lines_of_a_program(tmp_path: Path, capfd) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    assert main(["profile", "--top", "2", str(path)]) == 0
    shown = capfd.readouterr().out
    assert re.search(r" ms +[\d.]+% +\d+ +\S*program.py:4 ", shown)
    assert "program.py:8" not in shown and re.search(r"s in 4 steps", shown)


def test_programs_without_steps_and_with_errors(tmp_path: Path, capfd) -> None:
    path = tmp_path / "program.py"
    path.write_text("raise SystemExit(3)")
    assert main(["profile", str(path)]) == 3
    assert "has run no step of a graph" in capfd.readouterr().out
