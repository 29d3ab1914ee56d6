"""weft beside TensorFlow: every benchmark with both, alternating, and a table of the ratios.

    python benchmarks/run.py [--only noop scalar] [--rounds 3] [--json results.json]
    python benchmarks/run.py --before ../older-checkout

With `--before`, an older checkout of weft takes the place of TensorFlow, and is measured twice as
often: how far it is ahead of itself, by chance, stands beside the ratio. Times depend on the
machine and on what else it does; the ratios, taken in one run, hold.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tensorflow_env
from common import HERE, environment
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

Result = dict[str, Any]
_KEPT = 0.97  # how much of its speed before a row must keep
_AGAIN = "before, again"


@dataclass(frozen=True)
class Row:
    """One line of the table: a figure of one benchmark, and how far ahead weft must be."""

    title: str
    bench: str
    target: float
    field: str = "seconds"
    more_is_better: bool = False
    # Compare with this other field of weft's own result instead of with TensorFlow.
    against_own: str | None = None

    @property
    def is_quotient(self) -> bool:
        """Of two figures of one side: it falls when only the second gets better."""
        return self.against_own is not None or self.field == "growth"


ROWS = [
    Row("import", "import", 4),
    Row("build a chain of 5,000 additions", "build_chain", 5, "ops_per_second", True),
    Row("build an MLP with gradients", "build_mlp", 5, "ops_per_second", True),
    Row("no-op step", "noop", 4),
    Row("scalar fed and fetched", "scalar", 4),
    Row("MLP training step, batch 128", "mlp_step", 1.1),
    Row("200 variables updated", "variables", 1.2),
    Row("Adam on 100 matrices of 64 x 64", "adam", 1.3),
    Row("Adagrad on 1,024 of 1,000,000 rows", "sparse_adagrad", 1.2),
    Row("the same, against 100,000 rows", "sparse_adagrad", 0.8, against_own="small_table"),
    Row("lazy Adam on 1,024 of 1,000,000 rows", "sparse_lazy_adam", 1.2),
    Row("the same, against 100,000 rows", "sparse_lazy_adam", 0.8, against_own="small_table"),
    Row("wide and deep step, 50 feature columns", "feature_columns", 1.2),
    Row("building that model", "feature_columns", 5, "build_seconds"),
    Row("element-wise chain, 1M floats", "elementwise", 1.0),
    Row("scalar summary to an event file", "events", 2),
    Row("save 1 GB", "checkpoint_save", 1),
    Row("the same, against `cp`", "checkpoint_save", 0.8, against_own="cp"),
    Row("restore 1 GB", "checkpoint_restore", 1),
    Row("the same, against `cp`", "checkpoint_restore", 0.8, against_own="cp"),
    Row("process start to first training step", "first_step", 3),
    Row("memory after it", "first_step", 2, "resident_mb"),
    Row("LSTM training step", "lstm_step", 1.25),
    Row("the same, sequences of several lengths", "lstm_lengths", 1.2),
    Row("two LSTMs, each step of other lengths", "new_lengths", 1),
    Row("the same, 250 steps from the first on", "new_lengths", 0.5, "first_steps"),
    Row("loop of 100,000 scalar iterations", "loop", 3),
    Row("20,000 iterations with a Python function", "loop_python", 1),
    Row("20,000 iterations with shapes that depend on values", "loop_shapes", 1),
    Row("500 iterations that take from a queue", "loop_queue", 1),
    Row("map_fn over 10,000 elements", "map_fn", 2),
    Row("greedy decoding, 50 steps", "decode", 1.2),
    Row("from one device to another and back", "two_devices", 1),
    Row("training fed by queue runners", "queue_runner", 1, "examples_per_second", True),
    Row("tf.data: one row a step", "data", 2, "singles"),
    Row("tf.data: slices, shuffled, in batches", "data", 1.5, "slices"),
    Row("tf.data: a small function, in batches", "data", 1.5, "map"),
    Row("tf.data: records, shuffled, parsed, in batches", "data", 1.5, "records"),
    Row("tf.data: a Python generator, in batches", "data", 1.5, "generator"),
    Row("tf.data: images, two calls at a time", "data", 1, "images"),
    Row("tf.data: drawn from four datasets, in batches", "data", 1, "sampled"),
    Row("tf.data: a function with random numbers, in batches", "data", 1, "noisy"),
    Row("tf.data: lines into words, padded batches", "data", 1, "texts"),
    Row("tf.data: JPEG files, resized and augmented", "data", 1, "pictures"),
    Row("100,000 ragged rows made dense", "ragged", 1, "to_tensor"),
    Row("the same, joined", "ragged", 1, "concat"),
    Row("the same, gathered", "ragged", 1, "gather"),
    Row("the same, summed", "ragged", 2, "sum"),
    Row("scalar from ps to worker", "cluster_scalar", 1.2),
    Row("100 MB from ps to worker", "cluster_dense", 2),
    Row("1,024 rows of 1 GB on a ps", "cluster_sparse", 1.2),
    Row("the same, against rows of 100 MB", "cluster_sparse", 0.8, against_own="small_table"),
    Row("synchronous null step, 1 worker", "cluster_sync", 1, "workers_1"),
    Row("synchronous null step, 8 workers", "cluster_sync", 1),
    Row("the same, against 1 worker", "cluster_sync", 1, "growth"),
    Row("asynchronous training, 2 workers", "cluster_async", 1.2, "examples_per_second", True),
    Row("subgraphs run by one worker", "cluster_dispatch", 1, "subgraphs_per_second", True),
    Row("20 steps: second process, against first", "second_start", 1, against_own="first_process"),
]
BENCHES = list(dict.fromkeys(row.bench for row in ROWS))
OWN_ONLY = set(BENCHES) - {row.bench for row in ROWS if not row.against_own}


@dataclass(frozen=True)
class Side:
    """An implementation to be measured, and the process that does it."""

    name: str
    impl: str
    python: Path
    variables: dict[str, str] = field(default_factory=dict)

    def run(self, bench: str) -> Result:
        """What a process measured; one that fails is given a second try, not to lose the others."""
        program = [self.python, HERE / f"bench_{bench}.py", "--impl", self.impl]
        for _ in range(2):
            variables = environment(**self.variables)
            done = subprocess.run(program, capture_output=True, text=True, env=variables)
            if done.returncode == 0:
                return json.loads(done.stdout.splitlines()[-1]) | {"impl": self.name}
            ended = f"bench_{bench}.py --impl {self.name} ended with {done.returncode}"
            print(f"{ended}:\n{done.stderr[-3000:]}", file=sys.stderr)
        sys.exit(f"{ended} twice")


def sides(benches: list[str], before: Path | None) -> list[Side]:
    """weft, what it is compared with, and that once more if it is weft as well."""
    here = Path(sys.executable)
    now = Side("weft", "weft", here)
    if before is not None:
        older = Side("before", "weft", here, {"PYTHONPATH": str(before.resolve())})
        return [now, older, replace(older, name=_AGAIN)]
    if set(benches) <= OWN_ONLY:
        return [now]
    return [now, Side("tensorflow", "tensorflow", tensorflow_env.interpreter())]


def run_all(rows: list[Row], benches: list[str], rounds: int, measured: list[Side]) -> list[Result]:
    """Every benchmark `rounds` times; which implementation goes first is drawn anew each time.

    Says the ratios of each when it has them: what is cut off later is not lost.
    """
    results: list[Result] = []
    draw = random.Random(rounds)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(benches) * rounds)
        for bench in benches:
            for turn in range(rounds):
                progress.update(task, description=f"{bench} {turn + 1}/{rounds}")
                alone = bench in OWN_ONLY and measured[-1].name == "tensorflow"
                order = draw.sample(measured, len(measured)) if not alone else measured[:1]
                results += [side.run(bench) for side in order]
                progress.advance(task)
            for line in summary([row for row in rows if row.bench == bench], results, measured):
                chance = f" (before, again: {line['chance']:.2f}x)" if "chance" in line else ""
                progress.console.print(f"{line['title']}: {line['ratio']:.2f}x{chance}")
    return results


def figure(row: Row, results: list[Result], impls: Sequence[str], field: str) -> float:
    """The median of one field over the rounds of an implementation, by its names."""
    mine = (each for each in results if each["name"] == row.bench and each["impl"] in impls)
    return statistics.median(each[field] for each in mine)


def ahead(row: Row, ours: float, theirs: float) -> float:
    return ours / theirs if row.more_is_better else theirs / ours


def summary(rows: list[Row], results: list[Result], measured: list[Side]) -> list[dict[str, Any]]:
    """A line for each row; `chance` is the ratio of an older weft to itself."""
    lines = []
    for row in rows:
        ours = figure(row, results, ["weft"], row.field)
        if row.against_own:
            theirs = figure(row, results, ["weft"], row.against_own)
        else:
            theirs = figure(row, results, [side.name for side in measured[1:]], row.field)
        ratio = ahead(row, ours, theirs)
        line = {
            "title": row.title,
            "unit": row.field,
            "weft": ours,
            "other": theirs,
            "ratio": ratio,
            "target": row.target,
            "ok": ratio > row.target if row.against_own else ratio >= row.target,
        }
        if measured[-1].name == _AGAIN:
            first, again = (figure(row, results, [side.name], row.field) for side in measured[1:])
            line["chance"] = ahead(row, again, first)
        lines.append(line)
    return lines


def _seconds(value: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.2f} µs"


SHOW: dict[str, Callable[[float], str]] = {
    "seconds": _seconds,
    "resident_mb": lambda value: f"{value:.0f} MB",
    "ops_per_second": lambda value: f"{value:,.0f} ops/s",
    "examples_per_second": lambda value: f"{value:,.0f} examples/s",
    "subgraphs_per_second": lambda value: f"{value:,.0f} /s",
    "growth": lambda value: f"{value:.1f} times",
}


def show(lines: list[dict[str, Any]], other: str) -> None:
    table = Table(caption="medians; ratio: how far weft is ahead", min_width=72)
    table.add_column("benchmark")
    chance = "chance" in lines[0]
    for name in ("weft", other, "ratio", *(["itself"] if chance else []), "target"):
        table.add_column(name, justify="right")
    table.add_column("")
    for line in lines:
        shown = SHOW.get(line["unit"], SHOW["seconds"])
        table.add_row(
            line["title"],
            shown(line["weft"]),
            shown(line["other"]),
            f"{line['ratio']:.2f}x",
            *([f"{line['chance']:.2f}x"] if chance else []),
            f"{line['target']:g}x",
            "[green]ok[/]" if line["ok"] else "[red]behind[/]",
        )
    Console(width=None if sys.stdout.isatty() else 110).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=BENCHES, metavar="NAME", default=BENCHES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--again",
        type=int,
        default=6,
        help="more rounds for what is behind after the others; all of them count",
    )
    parser.add_argument("--json", type=Path, help="also write every result to this file")
    parser.add_argument(
        "--before", type=Path, help="compare with this checkout of weft, not with TensorFlow"
    )
    options = parser.parse_args()
    measured = sides(options.only, options.before)
    rows = [row for row in ROWS if row.bench in options.only]
    if options.before:
        rows = [replace(row, target=_KEPT) for row in rows if not row.is_quotient]
    results = run_all(rows, options.only, options.rounds, measured)
    lines = summary(rows, results, measured)
    behind = {row.bench: None for row, line in zip(rows, lines, strict=True) if not line["ok"]}
    if behind and options.again:
        results += run_all(rows, list(behind), options.again, measured)
        lines = summary(rows, results, measured)
    show(lines, measured[min(1, len(measured) - 1)].name)
    if options.json:
        options.json.write_text(json.dumps({"table": lines, "runs": results}, indent=1))


if __name__ == "__main__":
    main()
