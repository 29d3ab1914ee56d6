"""Does every stage before a step take time in proportion to the nodes?

    python benchmarks/build_curve.py [--counts 1000 10000 30000 100000]

Graphs of several forms are built, pruned, placed on two devices, cut, optimized and planned. A row
has the microseconds of a processor that each stage spends on a node; in the last column is how many
times those of the smallest graph that is, which stays near one where the stages are linear.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console
from rich.table import Table

import weft as tf
from weft.passes.devices import DeviceSet, describe
from weft.passes.partition import partition
from weft.passes.pipeline import finish
from weft.passes.place.place import place
from weft.passes.prune import prune
from weft.runtime.plan import Plan
from weft.runtime.resources import ResourceStore

COUNTS = (1000, 10_000, 30_000, 100_000)
STAGES = ("build", "prune", "place", "partition", "optimize", "plan")


# ---- graphs -----------------------------------------------------------------------------------


def chain(x: Any, count: int) -> Any:
    """Each node takes the one before it."""
    for _ in range(count):
        x = tf.add(x, x)
    return x


def wide(x: Any, count: int) -> Any:
    """All nodes take the same input, and one takes all of them."""
    return tf.add_n([tf.square(x) if i % 2 else tf.negative(x) for i in range(count)])


def layers(x: Any, count: int) -> Any:
    """Scopes of a few nodes each, half of them on the other device."""
    for i in range(count // 5):
        with tf.name_scope("layer"), tf.device(f"/cpu:{i // 100 % 2}"):
            side = tf.nn.relu(x * 2.0)
            x = tf.tanh(side + x)
    return x


FORMS: dict[str, Callable[[Any, int], Any]] = {"chain": chain, "wide": wide, "layers": layers}


# ---- stages -----------------------------------------------------------------------------------


class Clock:
    """Processor time from one stage to the next."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._began = time.process_time()

    def passed(self, stage: str) -> None:
        now = time.process_time()
        self.spent[stage] = self.spent.get(stage, 0.0) + now - self._began
        self._began = time.process_time()


def measure(form: Callable[[Any, int], Any], count: int) -> tuple[int, dict[str, float]]:
    """How many nodes the graph has, and the seconds of each stage."""
    devices = DeviceSet(tuple(describe(f"/device:CPU:{i}") for i in range(2)))
    with tf.Graph().as_default() as graph:
        clock = Clock()
        x = tf.placeholder(tf.float32, [8])
        y = form(x, count)
        clock.passed("build")
        pruned = prune([x], [y], [])
        clock.passed("prune")
        place(pruned, devices)
        clock.passed("place")
        parts = partition(pruned)
        clock.passed("partition")
        for part in parts:
            finish(part.graph)
        clock.passed("optimize")
        for part in parts:
            Plan(part.graph, ResourceStore())
        clock.passed("plan")
        return len(graph.get_operations()), clock.spent


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--counts", nargs="+", type=int, default=COUNTS)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    options = parser.parse_args()
    measure(chain, 100)  # what is imported and compiled at the first use
    console = Console(width=None if sys.stdout.isatty() else 100)
    for name in options.forms:
        console.print(_table(name, options.counts))


def _table(name: str, counts: list[int]) -> Table:
    table = Table(title=f"{name}: microseconds a node")
    for column in ("nodes", *STAGES, "all", "to the first"):
        table.add_column(column, justify="right")
    first = 0.0
    for count in counts:
        nodes, spent = measure(FORMS[name], count)
        gc.collect()
        each = [1e6 * spent[stage] / nodes for stage in STAGES]
        first = first or sum(each)
        shown = [f"{value:.1f}" for value in (*each, sum(each))]
        table.add_row(f"{nodes:,}", *shown, f"{sum(each) / first:.2f}")
    return table


if __name__ == "__main__":
    main()
