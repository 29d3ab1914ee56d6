"""Looking at the tensors of a step from the terminal, after each `run`."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.client.session import BaseSession
from weft.graph.tensor import Tensor
from weft.lib.train.debug import dump
from weft.lib.train.debug.watching import (
    WatchOptions,
    WrapperSession,
    read_before,
    watched,
    with_values_before,
)
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook

Filter = Callable[[Any, Any], bool]
_HELP = """Commands:
  lt [PATTERN]     list the tensors, those whose name matches
  lt -f FILTER     list the tensors for which a filter holds
  pt NAME          print the value of a tensor
  ni NAME          the type, inputs and outputs of a node
  run              go on, and stop after the next run
  run -t N         go on for N runs
  run -f FILTER    go on until a filter holds for a tensor
  run -n           go on without stopping
  exit             end the program"""


class Prompt:
    """The prompt after a run. It goes on at once while it was told to.

    `read` and `write` are the terminal's, unless a test gives others.
    """

    def __init__(
        self, read: Callable[[], str] | None = None, write: Callable[[str], None] | None = None
    ) -> None:
        self._read = read or (lambda: input("tfdbg> "))
        self._write = write or (lambda text: print(text, file=sys.stdout))  # noqa: T201
        self.filters: dict[str, Filter] = {"has_inf_or_nan": dump.has_inf_or_nan}
        self._silent_runs: float = 0
        self._until: str | None = None

    def after_run(self, tensors: list[Tensor], values: list[Any]) -> None:
        """Shows what the user asks for, until told to go on."""
        if self._until is not None:
            found = [t.name for t, v in zip(tensors, values, strict=True) if self._holds(t, v)]
            if not found:
                return
            self._write(f"{len(found)} tensors pass the filter {self._until}: {', '.join(found)}")
            self._until = None
        if self._silent_runs > 0:
            self._silent_runs -= 1
            return
        self._write(f"run-end: {len(tensors)} tensors. Type help for the commands.")
        while not self._done(dict(zip(tensors, values, strict=True))):
            pass

    def _holds(self, tensor: Tensor, value: Any) -> bool:
        return self.filters[str(self._until)](tensor, value)

    def _done(self, step: dict[Tensor, Any]) -> bool:
        try:
            words = self._read().split()
        except EOFError:
            words = ["run", "-n"]
        name, *rest = words or [""]
        if name in ("exit", "quit", "q"):
            raise SystemExit(1)
        try:
            return self._did(name, rest, step)
        except (ValueError, re.error) as error:  # a slip of the user's is no end of the program
            self._write(f"{' '.join(words)}: {error}")
            return False

    def _did(self, name: str, rest: list[str], step: dict[Tensor, Any]) -> bool:
        """Obeys a command; whether the program is to go on."""
        if name in ("run", "r"):
            return self._go_on(rest)
        table = {"lt": self._list, "pt": self._print, "ni": self._node}
        if name in table:
            table[name](step, rest)
        elif name:
            self._write(_HELP)
        return False

    def _filter(self, words: list[str]) -> str:
        """The name after `-f`, which is that of a filter."""
        name = words[1] if words[1:] else ""
        if name not in self.filters:
            raise ValueError(f"No filter {name}; there are: {', '.join(self.filters)}")
        return name

    def _go_on(self, words: list[str]) -> bool:
        if words[:1] == ["-n"]:
            self._silent_runs = float("inf")
        elif words[:1] == ["-t"] and words[1:]:
            self._silent_runs = int(words[1]) - 1
        elif words[:1] == ["-f"]:
            self._until = self._filter(words)
        return True

    def _list(self, step: dict[Tensor, Any], words: list[str]) -> None:
        chosen = self.filters[self._filter(words)] if words[:1] == ["-f"] else None
        for tensor, value in step.items():
            if chosen is not None:
                if not chosen(tensor, value):
                    continue
            elif words and not re.search(words[0], tensor.name):
                continue
            array = np.asarray(value)
            self._write(f"{array.nbytes:>12} B  {tensor.op.type:<20} {tensor.name}")

    def _print(self, step: dict[Tensor, Any], words: list[str]) -> None:
        asked = words[0] if words else ""
        for tensor, value in step.items():
            if tensor.name in (asked, asked + ":0"):
                array = np.asarray(value)
                self._write(f"{tensor.name}  dtype: {array.dtype}  shape: {array.shape}\n{value}")
                return
        self._write(f"No tensor {' '.join(words)} in this run")

    def _node(self, step: dict[Tensor, Any], words: list[str]) -> None:
        for tensor in step:
            if tensor.op.name == (words[0] if words else ""):
                op = tensor.op
                self._write(
                    f"{op.name}\n  op: {op.type}\n  inputs: {[t.name for t in op.inputs]}\n"
                    f"  outputs: {[t.name for t in op.outputs]}"
                )
                return
        self._write(f"No node {' '.join(words)} in this run")


class LocalCLIDebugWrapperSession(WrapperSession):
    """A session that stops after `run`, for the user to look at its tensors."""

    def __init__(
        self, sess: BaseSession, dump_root: str | None = None, log_usage: bool = True,
        ui_type: str = "curses", thread_name_filter: str | None = None,
        config_file_path: str | None = None, prompt: Prompt | None = None,
    ) -> None:  # fmt: skip
        super().__init__(sess)
        self._prompt = prompt or Prompt()
        self._dump_root = dump_root

    def add_tensor_filter(self, filter_name: str, tensor_filter: Filter) -> None:
        """A filter that `run -f` and `lt -f` know by name."""
        self._prompt.filters[filter_name] = tensor_filter

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """As the session's; then the prompt."""
        found, tensors, values = self._watched_run(
            fetches, feed_dict, options, run_metadata, WatchOptions()
        )
        _dump(self._dump_root, tensors, values)
        self._prompt.after_run(tensors, values)
        return found


def _dump(root: str | None, tensors: list[Tensor], values: list[Any]) -> None:
    """Writes the values to a new folder, if a root for them was given."""
    if root is not None:
        os.makedirs(root, exist_ok=True)
        dump.write(tempfile.mkdtemp(dir=root, prefix="run_"), tensors, values)


class LocalCLIDebugHook(SessionRunHook):
    """As `LocalCLIDebugWrapperSession`, for monitored sessions and Estimators."""

    def __init__(
        self, ui_type: str = "curses", dump_root: str | None = None,
        thread_name_filter: str | None = None, prompt: Prompt | None = None,
    ) -> None:  # fmt: skip
        self._prompt, self._dump_root = prompt or Prompt(), dump_root
        self._tensors: list[Tensor] = []
        self._before: dict[Tensor, Any] = {}

    def add_tensor_filter(self, filter_name: str, tensor_filter: Filter) -> None:
        """A filter that `run -f` and `lt -f` know by name."""
        self._prompt.filters[filter_name] = tensor_filter

    def before_run(self, run_context: Any) -> SessionRunArgs:
        args = run_context.original_args
        graph = run_context.session.graph
        self._tensors = watched(graph, args.fetches, args.feed_dict, WatchOptions())
        self._before = read_before(run_context.session, self._tensors)
        return SessionRunArgs({"watched": self._tensors})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        values = with_values_before(self._tensors, run_values.results["watched"], self._before)
        _dump(self._dump_root, self._tensors, values)
        self._prompt.after_run(self._tensors, values)
