"""Processes of one program whose output appears together, each line with a name before it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

_COLOURS = (36, 33, 32, 35, 34, 31, 96, 93, 92, 95, 94, 91)
_PR_SET_PDEATHSIG = 1  # of Linux's prctl


def exit_code(code: int) -> int:
    """What a shell says of a process that ended with `code`: 128 and more for a signal."""
    return 128 - code if code < 0 else code


class Output:
    """Where lines go. In colour on a terminal, unless NO_COLOR is set."""

    def __init__(self, names: Sequence[str]) -> None:
        self._width = max(map(len, names), default=0)
        self._colours = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(names)}
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._pause = threading.Event()

    def say(self, name: str, text: str) -> None:
        """A line of our own about `name`."""
        self._write(sys.stderr, name, f"* {text}\n".encode())

    def follow(self, name: str, source: IO[bytes], sink: Any) -> None:
        """Copies lines from `source` until it ends."""

        def copy() -> None:
            with source:
                for line in source:
                    self._write(sink, name, line)

        self.hear(copy)

    def hear(self, call: Callable[[], None]) -> None:
        """Calls what brings lines, in a thread of its own."""
        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        self._threads.append(thread)

    def pass_on(self, name: str, line: bytes, is_error: bool) -> None:
        """A line that `name` has said elsewhere."""
        self._write(sys.stderr if is_error else sys.stdout, name, line)

    def _write(self, sink: Any, name: str, line: bytes) -> None:
        label = f"{name:{self._width}} |"
        if sink.isatty() and "NO_COLOR" not in os.environ:
            colour = self._colours.setdefault(name, _COLOURS[len(self._colours) % len(_COLOURS)])
            label = f"\x1b[{colour}m{label}\x1b[0m"
        text = line.decode(errors="replace").rstrip("\r\n")
        with self._lock:
            sink.write(f"{label} {text}\n")
            sink.flush()

    def wait(self, seconds: float) -> None:
        """Waits; a signal that Python handles does not make it any longer."""
        self._pause.wait(seconds)

    def close(self) -> None:
        """Waits for the last lines of processes that have ended."""
        for thread in self._threads:
            thread.join(1.0)


class Process:
    """A process under a name. It, and what it starts, dies with us."""

    has_moved = False

    def __init__(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], output: Output,
        folder: str | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        # A session of its own: Ctrl-C in the terminal reaches us alone, and we decide who gets it.
        self._process = subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=folder, start_new_session=True,
            preexec_fn=die_with_parent(),
        )  # fmt: skip
        assert self._process.stdout is not None and self._process.stderr is not None
        output.follow(name, self._process.stdout, sys.stdout)
        output.follow(name, self._process.stderr, sys.stderr)

    def poll(self) -> int | None:
        """The exit code, once it has ended."""
        return self._process.poll()

    def send(self, number: signal.Signals) -> None:
        """A signal to it and to all it has started."""
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return


def die_with_parent() -> Any:
    """What a new process calls so that it does not outlive us, however we end; on Linux only."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
