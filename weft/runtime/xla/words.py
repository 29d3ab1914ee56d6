"""Words for the user who waits while XLA compiles: one line, once that has taken a while.

It is a warning of the logger `weft`, so that a program can turn it off or send it elsewhere. On a
terminal, unless the program has set up logging, the line also counts the seconds.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from weft.core import cache, flags
from weft.core.user_frames import shown, user_line
from weft.passes.client_graph import Node
from weft.passes.control_flow.fold import subgraphs

PATIENCE = 3.0  # seconds
LOG = logging.getLogger("weft")


@contextlib.contextmanager
def announced(nodes: Sequence[Node], signature: object) -> Iterator[None]:
    """Says what is compiled for which line, if the block takes longer than `PATIENCE`.

    `signature` tells programs of the same nodes apart; its text must be the same in every process.
    """
    start = time.perf_counter()
    words = _Words(nodes, _key(nodes, signature), user_line(sys._getframe()))
    words.start()
    try:
        yield
    finally:
        words.end()
    took = time.perf_counter() - start
    if took >= PATIENCE:
        cache.keep_time(words.key, took)


class _Words(threading.Timer):
    """The line about one program, said by a thread of its own when it is time."""

    def __init__(self, nodes: Sequence[Node], key: str, line: str | None) -> None:
        super().__init__(PATIENCE, self._say)
        self.name, self.daemon = "weft-words", True
        self.key = key
        self._nodes, self._line = nodes, line
        self._progress: Any = None
        self._lock = threading.Lock()

    def end(self) -> None:
        """Says no more."""
        self.cancel()
        with self._lock:
            if self._progress is not None:
                self._progress.stop()

    def _say(self) -> None:
        with self._lock:
            if self.finished.is_set() or not LOG.isEnabledFor(logging.WARNING):
                return
            if sys.stderr.isatty() and not LOG.hasHandlers():
                self._progress = _progress(self.text())
            else:
                LOG.warning(self.text())

    def text(self) -> str:
        """The line."""
        count = _count(self._nodes)
        said = f"weft is compiling {count:,} node{'' if count == 1 else 's'}"
        line = self._line or _made_at(self._nodes)
        if line is not None:
            said += f" for {line}"
        last = cache.last_time(self.key)
        if last is not None:
            said += f" (it took {last:.0f} s last time)"
        return said + ("" if flags.cache_directory() is None else ", kept for the next run")


def _progress(text: str) -> Any:
    """A line on the terminal that counts seconds until it is stopped."""
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    columns = TimeElapsedColumn(), TextColumn(text, markup=False)
    line = Progress(
        *columns, console=Console(stderr=True), redirect_stdout=False, redirect_stderr=False
    )
    line.start()
    line.add_task("", total=None)
    return line


def _count(nodes: Sequence[Node]) -> int:
    inner = (graph.nodes for node in nodes for graph in subgraphs(node))
    return len(nodes) + sum(map(_count, inner))


def _made_at(nodes: Sequence[Node]) -> str | None:
    """The line that made the last node of a program, where no line is known that runs it."""
    made = (node.op.traceback for node in reversed(nodes) if node.op is not None)
    last = next((frames[-1] for frames in made if frames), None)
    return None if last is None else f"{shown(last[0])}:{last[1]}"


def _key(nodes: Sequence[Node], signature: object) -> str:
    text = "\n".join([*(f"{node.type} {node.name}" for node in nodes), repr(signature)])
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]
