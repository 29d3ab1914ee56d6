"""Levelled debug output on standard error: what WEFT_DEBUG asks for."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from weft.core import flags


def say(level: int, text: Callable[[], str]) -> None:
    """Prints `text()` if WEFT_DEBUG is at least `level`."""
    if flags.DEBUG.value >= level:
        sys.stderr.write(f"weft: {text()}\n")


def log(text: str) -> None:
    """Prints what the program itself asked to be told."""
    sys.stderr.write(f"{text}\n")


def stages(also: Any) -> Any:
    """A function that reports each stage of planning and hands it to `also`, if that is any."""
    if flags.DEBUG.value < 2:
        return also
    last = time.perf_counter()

    def observe(stage: str, graph: Any) -> None:
        nonlocal last
        took = time.perf_counter() - last
        say(2, lambda: f"{stage}: {len(graph.nodes)} nodes, {took * 1e3:.1f} ms")
        if also is not None:
            also(stage, graph)
        last = time.perf_counter()

    return observe


def node_run(node: Any, outputs: Sequence[Any], start: float, end: float) -> None:
    """Reports a node that has run, with the shapes of what came out."""
    shapes = ", ".join(str(getattr(value, "shape", "?")) for value in outputs)
    took = (end - start) * 1e6
    say(4, lambda: f"{node.name} = {node.type} -> {shapes or 'nothing'}: {took:.0f} us")


@contextmanager
def timed(level: int, text: Callable[[], str]) -> Iterator[None]:
    start = time.perf_counter()
    yield
    say(level, lambda: f"{text()}: {(time.perf_counter() - start) * 1e3:.1f} ms")
