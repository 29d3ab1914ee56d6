"""What is shown of an error: the user's frames and one of weft; what a program finds: all."""

from __future__ import annotations

import subprocess
import sys
import threading
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import weft as tf
from weft.core import flags, tracebacks

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).name


def wrong_shape() -> None:
    tf.reshape(tf.zeros([2, 3]), [4, 2])


def wrong_inside() -> None:
    """The user's code calls weft, which calls the user's code, which calls weft."""
    tf.map_fn(lambda row: tf.reshape(row, [7]), tf.zeros([2, 3]))


def wrong_at_once() -> None:
    raise ValueError("mine")


def wrong_later() -> None:
    try:
        wrong_shape()
    except ValueError as error:
        raise RuntimeError("no model") from error


def caught(function: Any) -> BaseException:
    with pytest.raises((ValueError, RuntimeError)) as info:
        function()
    return info.value


def files(error: BaseException) -> list[str]:
    """The files of the frames after this test's own call, weft's as `weft`."""
    frames = traceback.extract_tb(tracebacks.shortened(error.__traceback__))
    ours = str(ROOT / "weft")
    return ["weft" if f.filename.startswith(ours) else Path(f.filename).name for f in frames][1:]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (wrong_shape, [HERE, "weft"]),
        (wrong_inside, [HERE, HERE, "weft"]),
        (wrong_at_once, [HERE]),
        (wrong_later, [HERE]),
    ],
)
def test_frames(function: Any, expected: list[str]) -> None:
    error = caught(function)
    assert files(error) == expected
    if error.__cause__ is not None:
        cause = tracebacks.shortened(error.__cause__.__traceback__)
        assert len(traceback.extract_tb(cause)) == 3


def test_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    error = caught(wrong_later)
    assert error.__cause__ is not None
    before = error.__traceback__, error.__cause__.__traceback__
    tracebacks.shortening(traceback.print_exception)(type(error), error, error.__traceback__)
    shown = capsys.readouterr().err
    assert shown.count(str(ROOT / "weft")) == 1
    assert "tf.reshape(tf.zeros([2, 3]), [4, 2])" in shown
    assert (error.__traceback__, error.__cause__.__traceback__) == before


def test_reasons_inside_of_weft_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as info:
        session.run(tf.square(x))
    error = info.value
    cause = error.__cause__
    assert cause is not None
    tracebacks.shortening(traceback.print_exception)(type(error), error, error.__traceback__)
    shown = capsys.readouterr().err
    assert shown.count("Traceback (most recent call last)") == 1
    assert "You must feed a value for placeholder tensor 'x'" in shown
    assert error.__cause__ is cause and error.__suppress_context__
    with flags.TRACEBACK.override("full"):
        tracebacks.shortening(traceback.print_exception)(type(error), error, error.__traceback__)
    assert "direct cause" in capsys.readouterr().err


def test_what_has_started_a_program_has_no_part_in_it() -> None:
    frames = [("<frozen runpy>", 88, "run", ""), ("IPython/core/interactiveshell.py", 1, "r", "")]
    cell = [("/tmp/ipykernel_1/2.py", 1, "<module>", "x = tf.ones([])")]
    op = SimpleNamespace(name="x", traceback=frames + cell, _original_op=None)
    text = str(tf.errors.InternalError(None, op, "no"))
    assert "ipykernel" in text and "interactiveshell" not in text and "runpy" not in text
    op.traceback = frames  # nothing else is known
    assert "interactiveshell" in str(tf.errors.InternalError(None, op, "no"))


def test_a_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import weft as tf\ntf.reshape(tf.zeros([2, 3]), [4, 2])\n")
    counts = {}
    for switch in ("user", "full"):
        environment = {"PYTHONPATH": str(ROOT), "WEFT_TRACEBACK": switch}
        command = [sys.executable, str(program)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.stderr.splitlines()[-1].startswith("ValueError: Cannot reshape a tensor")
        counts[switch] = done.stderr.count('File "')
    assert counts["user"] == 2 < counts["full"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread(capsys: pytest.CaptureFixture[str]) -> None:
    error = caught(wrong_shape)
    args = (type(error), error, error.__traceback__, threading.current_thread())
    tracebacks._show_of_thread(threading.ExceptHookArgs(args))
    shown = capsys.readouterr().err
    assert shown.startswith("Exception in thread MainThread") and shown.count('File "') == 3


def test_where_no_frame_is_the_users(capsys: pytest.CaptureFixture[str]) -> None:
    trace = caught(wrong_shape).__traceback__
    assert trace is not None and trace.tb_next is not None
    inner = trace.tb_next.tb_next
    assert tracebacks.shortened(inner) is inner
    assert tracebacks.shortened(None) is None


class Shell:
    """As much of IPython as there is to it."""

    def __init__(self) -> None:
        self.custom_exceptions: tuple[Any, ...] = ()
        self.shown: list[Any] = []

    def set_custom_exc(self, kinds: Any, handler: Any) -> None:
        self.custom_exceptions, self.handler = kinds, handler

    def showtraceback(self, info: Any, tb_offset: Any = None) -> None:
        self.shown.append((info[0], len(traceback.extract_tb(info[2])), tb_offset))


def test_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys, "last_traceback", None, raising=False)
    tracebacks._install_in_ipython()
    error = caught(wrong_shape)
    shell.handler(shell, ValueError, error, error.__traceback__, tb_offset=1)
    assert shell.shown == [(ValueError, 3, 1)]
    assert sys.last_traceback is error.__traceback__
    first = shell.handler
    tracebacks._install_in_ipython()
    assert shell.handler is first  # what the user has set stays
