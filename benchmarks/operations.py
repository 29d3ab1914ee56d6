"""Some ninety operations with sizes of real programs: weft beside TensorFlow, JAX and PyTorch.

    python benchmarks/operations.py [--only conv sort] [--beside tensorflow jax] [--pairs 7]

Every implementation has a process of its own, which stays. They take turns of a fraction of a
second, so that whatever else the machine does meets all alike; the ratio of a row is the median of
the ratios of neighbouring turns.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tensorflow_env
from common import HERE, environment
from operation_worker import CASES
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

OTHERS = ("tensorflow", "jax", "torch")
WORST = 10
CLOCK, CORES = 0, 1


class Worker:
    """A process that prepares operations and times them on request."""

    def __init__(self, impl: str, python: Path) -> None:
        self.impl = impl
        self.process = subprocess.Popen(
            [python, HERE / "operation_worker.py", impl],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )

    def ask(self, *request: Any) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Row:
    """What was measured of one operation: for each implementation a list of (clock, cores)."""

    name: str
    seconds: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def ratio(self, other: str, which: int = CLOCK) -> float | None:
        """How far weft is ahead: the median over neighbouring turns."""
        pairs = zip(self.seconds.get("weft", ()), self.seconds.get(other, ()), strict=False)
        ratios = [theirs[which] / ours[which] for ours, theirs in pairs]
        return statistics.median(ratios) if ratios else None


def measure(name: str, workers: list[Worker], pairs: int, seconds: float) -> Row:
    row = Row(name)
    able = []
    for worker in workers:
        error = worker.ask("prepare", name)
        if error is None:
            able.append(worker)
            row.seconds[worker.impl] = []
        else:
            row.errors[worker.impl] = error
    for turn in range(pairs):
        for worker in able[:: (-1) ** turn]:
            row.seconds[worker.impl].append(worker.ask("sample", seconds))
    return row


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def show(rows: list[Row], others: list[str]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(
        _table(
            "ratio: how far weft is ahead by the clock; cores: by the time of all cores",
            rows,
            others,
        )
    )
    compared = [row for row in rows if row.ratio(others[0]) is not None]
    worst = sorted(compared, key=lambda row: row.ratio(others[0]) or 0)[:WORST]
    if len(rows) > WORST:
        console.print(_table(f"the {WORST} worst beside {others[0]}", worst, others))
    for other in others:
        ratios = [ratio for row in rows if (ratio := row.ratio(other)) is not None]
        if ratios:
            mean, low = geometric_mean(ratios), sum(ratio < 0.9 for ratio in ratios)
            console.print(
                f"beside {other}: geometric mean {mean:.2f}x over {len(ratios)} operations,"
                f" {low} under 0.9"
            )
    for row in rows:
        for impl, error in row.errors.items():
            if impl in ("weft", "tensorflow"):
                console.print(f"{row.name}: {impl}: {error}", markup=False)


def _table(title: str, rows: list[Row], others: list[str]) -> Table:
    table = Table(title=title, min_width=72)
    table.add_column("operation")
    table.add_column("weft, ms", justify="right")
    for other in others:
        table.add_column(f"{other}, ms", justify="right")
        table.add_column("ratio", justify="right")
        table.add_column("cores", justify="right")
    for row in rows:
        cells = [_milliseconds(row.seconds.get("weft"))]
        for other in others:
            cells.append(_milliseconds(row.seconds.get(other)))
            cells += [_shown(row.ratio(other, which)) for which in (CLOCK, CORES)]
        table.add_row(row.name, *cells)
    return table


def _shown(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def _milliseconds(seconds: list[tuple[float, float]] | None) -> str:
    return f"{1e3 * statistics.median(each[CLOCK] for each in seconds):.3g}" if seconds else "-"


def pythons(options: argparse.Namespace) -> dict[str, Path]:
    """The interpreter of each implementation."""
    found = {"weft": Path(sys.executable), "jax": Path(sys.executable)}
    if "tensorflow" in options.beside:
        found["tensorflow"] = options.tensorflow or tensorflow_env.interpreter()
    if "torch" in options.beside:
        found["torch"] = options.torch or Path(sys.executable)
    return {impl: found[impl] for impl in ("weft", *options.beside)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="WORD", help="rows with one of these words")
    parser.add_argument("--beside", nargs="+", choices=OTHERS, default=["tensorflow", "jax"])
    parser.add_argument("--pairs", type=int, default=7, help="turns of each implementation")
    parser.add_argument("--seconds", type=float, default=0.2, help="length of a turn")
    parser.add_argument("--tensorflow", type=Path, help="an interpreter that has TensorFlow")
    parser.add_argument("--torch", type=Path, help="an interpreter that has PyTorch")
    parser.add_argument("--json", type=Path, help="also write every time to this file")
    options = parser.parse_args()
    chosen = [n for n in CASES if not options.only or any(word in n for word in options.only)]
    workers = [Worker(impl, python) for impl, python in pythons(options).items()]
    rows = []
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(chosen))
        for name in chosen:
            progress.update(task, description=name)
            rows.append(measure(name, workers, options.pairs, options.seconds))
            ratios = [_shown(rows[-1].ratio(options.beside[0], which)) for which in (CLOCK, CORES)]
            progress.console.print(f"{name}: {' '.join(ratios)}", markup=False)
            progress.advance(task)
    for worker in workers:
        worker.end()
    show(rows, options.beside)
    if options.json:
        options.json.write_text(json.dumps([vars(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
