"""What is seen of a training run from outside: what its tasks say, and its checkpoints."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import weft as tf
from weft.cli.launching.processes import Output

STEP = re.compile(r"step (\d+)$")


@dataclass
class Seen:
    """What a task has said: when it was last heard, and how long it was silent or made no step."""

    heard: float
    moved: float
    silent: float = 0.0
    stood: float = 0.0
    steps: int = 0
    done: bool = False


class Log(Output):
    """Takes the lines of all tasks, keeps them in a file, and notes who says what when."""

    def __init__(self, tasks: Any, file: Path) -> None:
        super().__init__([f"{job}/{i}" for job, i in tasks])
        self._file = file.open("w")
        self.start = time.monotonic()
        self.seen: dict[str, Seen] = {}
        self.highest = self.lost = 0
        self._last: dict[str, int] = {}

    def note(self, text: str) -> None:
        """A line of our own."""
        self._write(None, "*", text.encode())

    def _write(self, sink: Any, name: str, line: bytes) -> None:
        text = line.decode(errors="replace").rstrip()
        with self._lock:
            now = time.monotonic()
            self._file.write(f"{now - self.start:8.2f} {name} | {text}\n")
            self._file.flush()
            if name.startswith("worker"):
                self._note(name, text, now)

    def _note(self, name: str, text: str, now: float) -> None:
        seen = self.seen.setdefault(name, Seen(now, now))
        seen.silent, seen.heard = max(seen.silent, now - seen.heard), now
        seen.done |= text == "done"
        if found := STEP.match(text):
            seen.stood, seen.moved = max(seen.stood, now - seen.moved), now
            seen.steps += 1
            step = int(found[1])
            # Steps that come again, after a checkpoint was restored.
            self.lost += max(0, self._last.get(name, 0) - step)
            self._last[name] = step
            self.highest = max(self.highest, step)

    def close(self) -> None:
        super().close()
        self._file.close()


class Checkpoints:
    """Reads every checkpoint that the state file names, again and again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reads = 0
        self.latest = -1
        self.seen: set[str] = set()
        self.broken: list[str] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self.look()

    def look(self) -> None:
        state = tf.train.get_checkpoint_state(str(self.folder))
        for path in state.all_model_checkpoint_paths if state is not None else ():
            self._read(path)
        if state is not None:
            latest = int(state.model_checkpoint_path.rpartition("-")[2])
            if latest < self.latest:
                self.broken.append(f"{self.latest} was there, the latest is {latest}")
            self.latest = latest

    def _read(self, path: str) -> None:
        """A checkpoint may be replaced or removed while it is read, but then not twice."""
        for _ in range(5):
            try:
                read_checkpoint(path)
                self.reads += 1
                self.seen.add(path)
                return
            except Exception as error:
                found = error
                time.sleep(0.05)
            state = tf.train.get_checkpoint_state(str(self.folder))
            if path not in state.all_model_checkpoint_paths:
                return
        self.broken.append(f"{path}: {found!r}")

    def close(self) -> None:
        self._over.set()
        self._thread.join()
        self.look()


def read_checkpoint(path: str) -> dict[str, Any]:
    reader = tf.train.load_checkpoint(path)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
