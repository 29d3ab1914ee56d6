"""What a program says of itself: while XLA compiles, by WEFT_DEBUG, and of jax nothing."""

from __future__ import annotations

import inspect
import io
import logging
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import cache, flags
from weft.runtime.xla import compile as compiling
from weft.runtime.xla import words

ROOT = Path(__file__).parents[2]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes until the words have been said."""
    said, say, compiled = threading.Event(), words._Words._say, compiling._compiled

    def say_and_tell(self: Any) -> None:
        say(self)
        said.set()

    def compile_slowly(*args: Any) -> Any:
        assert said.wait(60)
        said.clear()
        return compiled(*args)

    monkeypatch.setattr(words._Words, "_say", say_and_tell)
    monkeypatch.setattr(compiling, "_compiled", compile_slowly)
    monkeypatch.setattr(words, "PATIENCE", 0.01)


def compile_something() -> int:
    """Compiles a program of one node; returns the line that asks for it."""
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 300])
    y = tf.matmul(x, x, transpose_b=True)
    frame = inspect.currentframe()
    assert frame is not None
    line = 0
    with tf.Session() as session:
        for _ in range(2):
            line = frame.f_lineno + 1
            session.run(y, {x: np.ones([300, 300])})
    return line


def test_one_line(slow: None, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    line = compile_something()
    said = f"weft is compiling 1 node for test_words.py:{line}"
    assert [record.getMessage() for record in caplog.records] == [said]
    assert caplog.records[0].name == "weft"
    caplog.clear()
    with flags.CACHE.override(str(tmp_path)):
        compile_something()
        (times,) = (tmp_path / cache.TIMES).iterdir()
        times.write_text("85.2\n")
        compile_something()
    assert [record.getMessage() for record in caplog.records] == [
        f"{said}, kept for the next run",
        f"{said} (it took 85 s last time), kept for the next run",
    ]


def test_a_program_turns_it_off(slow: None, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="weft"):
        compile_something()
    assert not caplog.records


def test_what_is_quick_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    compile_something()
    assert not caplog.records


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal(
    slow: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(words.LOG, "propagate", False)  # pytest has handlers
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    line = compile_something()
    shown = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", terminal.getvalue())
    assert f"0:00:00 weft is compiling 1 node for test_words.py:{line}\n" in shown
    assert not caplog.records


def test_where_no_line_runs_it_the_line_that_made_it_is_named() -> None:
    x = tf.identity(tf.constant(1.0))
    made = words._made_at([_Made(x.op)])  # type: ignore[list-item]
    assert made == f"test_words.py:{x.op.traceback[-1][1]}"
    assert words._made_at([]) is None


class _Made:
    def __init__(self, op: Any) -> None:
        self.op = op


PROGRAM = """
import logging, os
if os.environ.get("LOGS"):
    logging.basicConfig(level=logging.DEBUG)
import numpy as np, weft as tf
x = tf.placeholder(tf.float32, [None, 300])
y = tf.reduce_sum(tf.tanh(tf.matmul(x, x, transpose_b=True)) + 1.0)
for _ in range(8):  # enough to compile that the program is worth keeping
    y = tf.reduce_sum(tf.tanh(tf.matmul(x, x * y)) + tf.exp(y))
with tf.Session() as session:
    for _ in range(3):
        session.run(y, {x: np.ones([300, 300])})
if os.environ.get("FORKS") and os.fork() == 0:
    os._exit(0)
"""


def complaints(tmp_path: Path, **environment: str) -> list[str]:
    """The lines a program writes to its standard error."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("WEFT_", "TF_CPP", "JAX_"))}
    given = kept | {"WEFT_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT)} | environment
    own = "ignore:This process:DeprecationWarning"  # Python's word on threads that a fork leaves
    command = [sys.executable, "-W", "always", "-W", own, "-c", PROGRAM]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=True)
    return done.stderr.splitlines()


def test_nothing_of_jax_is_heard(tmp_path: Path) -> None:
    assert complaints(tmp_path, LOGS="1", FORKS="1") == []


def has(lines: list[str], text: str) -> bool:
    return any(text in line for line in lines)


def test_programs_on_disk(tmp_path: Path) -> None:
    first, second = (complaints(tmp_path, WEFT_DEBUG="3", LOGS="1") for _ in range(2))
    assert has(first, "weft: cache miss") and not has(first, "weft: cache hit")
    assert has(second, "weft: cache hit") and not has(second, "weft: cache miss")
    assert has(first, "DEBUG:jax")


SAID = {  # level of WEFT_DEBUG -> what is said from there on
    1: ["weft: device /job:localhost", "weft: MatMul: (MatMul): /job:localhost"],
    2: ["weft: 10_pruned: 2 nodes", "weft: 20_optimized", "weft: plan of"],
    3: ["weft: compile region of 1 nodes"],
    4: ["weft: MatMul = MatMul -> (300, 300): "],
}


@pytest.mark.parametrize("level", [0, 1, 2, 3, 4])
def test_levels_of_debugging(level: int, capsys: pytest.CaptureFixture[str]) -> None:
    with flags.DEBUG.override(level):
        compile_something()
    lines = capsys.readouterr().err.splitlines()
    for first, texts in SAID.items():
        # Nodes that are run one by one are not compiled.
        expected = level >= first and not (first == 3 and level == 4)
        assert [has(lines, text) for text in texts] == [expected] * len(texts), (first, lines)
