"""How far does it scale? Costs of one worker, measured here, in a simulation of up to 1,000.

    python benchmarks/scale_simulation.py            measures (minutes), simulates, writes the page
    python benchmarks/scale_simulation.py measure    only writes benchmarks/scale_costs.json
    python benchmarks/scale_simulation.py simulate   only simulates, with the costs in that file

The page is benchmarks/scale_results.md. It first holds the simulation against 1 to 8 real processes
of this machine: costs are taken from 1 and 2 of them, and 4 and 8 are foretold. Then come the
figures of "TensorFlow: A System for Large-Scale Machine Learning" (OSDI 2016), and all-reduce.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from common import HERE
from scale_models import Costs, Job, Machines, ParameterServers, all_reduce_step, ring, tree

BY_HAND = "\n# Measured collectives\n"
COSTS, PAGE = HERE / "scale_costs.json", HERE / "scale_results.md"
NETWORK = 1.0e9  # bytes a second: about what programs get of 10 Gb/s
MANY = (1, 2, 5, 10, 25, 50, 100, 200, 500, 1000)
# The paper's clusters: https://www.usenix.org/conference/osdi16/technical-sessions/presentation/abadi
NULL_SERVERS, INCEPTION_SERVERS = 16, 17
NULL_STEPS = {"scalar": 4.0, "100 MB": 1e8, "1 GB": 1e9}
PUBLISHED = {  # milliseconds of a null step with 1 and with 100 workers
    "scalar": (1.8, 8.8), "100 MB": (147.0, 613.0), "1 GB": (1010.0, 7160.0),
}  # fmt: skip
INCEPTION_BYTES, INCEPTION_BATCH, INCEPTION_SECONDS = 9.5e7, 32, 1.5
LIMITS = """\
## Where it breaks

- Tensors cost their bytes on links, and nothing where they are made, copied and summed. So one
  worker has its 100 MB sooner than the paper's (147 ms), and asynchronous Inception passes the
  paper's 2,300 images/s with 200 workers: real parameter servers have more to do than to send.
- Synchronous workers all fetch at once, when a step begins, and lose more to asynchronous ones than
  the tenth that the paper reports.
- Steps vary as they do here, or as `shared_cluster` assumes, each by itself. A machine that is slow
  for minutes is not there, nor a link that several machines share.
- With more processes than cores the costs of one worker say little: see the ratios above."""
Row = Sequence[object]


# ---- costs from measurements ----


class Measured:
    """What was measured, and the costs that follow from 1 and 2 processes."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.found = found
        self.cores = int(found["cores"])
        scalar, dense = found["null"]["scalar"], found["null"]["dense"]
        dispatch = max(scalar["2"] - scalar["1"], 1e-6)
        moved = max(dense["1"] - scalar["1"], 1e-6), max(dense["2"] - scalar["2"], 1e-6)
        steps = found["steps"]["seconds"]
        self.costs = Costs(
            fixed=max(scalar["1"] - dispatch, 0.0),
            dispatch=dispatch,
            handle=1 / found["updates"][max(found["updates"], key=int)] / 2,
            bandwidth=found["dense_bytes"] / moved[0],
            compute=statistics.median(steps),
            jitter=sorted(each / statistics.median(steps) for each in steps),
            latency=self.sum_seconds(0) / 2,
        )
        self.shared_bytes = max(2 * found["dense_bytes"] / moved[1], self.costs.bandwidth)
        # A worker's step may use several cores: so many fit at a time.
        self.at_a_time = max(1, round(self.cores / max(found["steps"]["cores"], 1.0)))

    def sum_seconds(self, which: int, processes: str = "2") -> float:
        sizes = sorted(self.found["sums"][processes], key=int)
        return float(self.found["sums"][processes][sizes[which]])

    @property
    def sum_bytes(self) -> float:
        return float(max(self.found["sums"]["2"], key=int))

    @property
    def collective(self) -> Costs:
        """The costs of an all-reduce between processes of this machine."""
        seconds = max(self.sum_seconds(1) - 2 * self.costs.latency, 1e-6)
        return replace(self.costs, bandwidth=self.sum_bytes / seconds)

    def update_cost(self) -> float:
        """Seconds that a parameter server is busy with a worker's step, besides bytes: what is left
        of the step of a single worker."""
        job = Job(1, 1, self.found["trained_bytes"], self.found["trained_bytes"])
        bare = replace(self.costs, handle=0.0)
        known = 1 / ParameterServers(bare, self.machines(job)).asynchronous(50 * bare.compute)
        return max(1 / self.found["training"]["1"] - known, 0.0)

    def machines(self, job: Job) -> Machines:
        """This machine."""
        return Machines(job, self.shared_bytes, self.at_a_time)

    def on_a_network(self, bandwidth: float = NETWORK) -> Costs:
        """The same costs, every task on a machine of its own."""
        return replace(self.costs, bandwidth=bandwidth)


# ---- tables ----


def table(head: Row, rows: Iterable[Row]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) and value < 1000 else _plain(value)


def _plain(value: object) -> str:
    return f"{value:,.0f}" if isinstance(value, float) else str(value)


def milliseconds(times: Sequence[float]) -> float:
    return 1e3 * statistics.median(times)


def null_step(costs: Costs, machines: Machines, steps: int = 5) -> float:
    """Milliseconds of a step without work."""
    return milliseconds(ParameterServers(replace(costs, compute=0.0), machines).synchronous(steps))


def against_measurements(measured: Measured) -> list[tuple[str, int, float, float]]:
    """What was measured and what is simulated, for every number of processes of this machine."""
    found, costs = measured.found, measured.costs
    bare = replace(costs, handle=0.0)  # the one coordinator's share has it in it
    rows = []
    for name, size in {"scalar": 4.0, "dense": found["dense_bytes"]}.items():
        for n, seconds in found["null"][name].items():
            job = Job(int(n), 1, size)
            simulated = null_step(bare, measured.machines(job))
            rows.append((f"null step, {name} (ms)", int(n), 1e3 * seconds, simulated))
    update = replace(costs, handle=measured.update_cost() / 2)
    for n, rate in found["training"].items():
        job = Job(int(n), 1, found["trained_bytes"], found["trained_bytes"])
        run = ParameterServers(update, measured.machines(job))
        simulated = run.asynchronous(100 * costs.compute)
        rows.append(("training (steps/s)", int(n), rate, simulated))
    for n in found["sums"]:
        seconds = ring(measured.collective, int(n), measured.sum_bytes)
        rows.append(("all-reduce (ms)", int(n), 1e3 * measured.sum_seconds(1, n), 1e3 * seconds))
    return rows


def published_costs() -> Costs:
    """The costs that the paper's scalar step has with 1 and with 100 workers."""
    one, hundred = (each / 1e3 for each in PUBLISHED["scalar"])
    dispatch = (hundred - one) / 99
    return Costs(one - dispatch, dispatch, 0.0, NETWORK, 0.0)


def null_rows(costs: Costs) -> Iterable[Row]:
    """Milliseconds of a null step by workers, for each size."""
    for n in MANY:
        steps = 2 if n >= 200 else 5
        jobs = {size: Job(n, NULL_SERVERS, size) for size in NULL_STEPS.values()}
        yield [n, *(null_step(costs, Machines(job), steps) for job in jobs.values())]


def shared_cluster(seed: int = 1) -> list[float]:
    """How steps vary where others use the same machines: a little always, and now and then a lot.
    An assumption: the paper shows only what follows from it."""
    rng = random.Random(seed)
    usual = [rng.lognormvariate(0.0, 0.04) for _ in range(960)]
    return usual + [rng.uniform(1.1, 1.4) for _ in range(40)]


def inception(workers: int, backups: int = 0, bandwidth: float = NETWORK) -> ParameterServers:
    """Training of Inception-v3 as the paper has it."""
    costs = replace(published_costs(), compute=INCEPTION_SECONDS, jitter=shared_cluster())
    costs = replace(costs, bandwidth=bandwidth)
    job = Job(workers, INCEPTION_SERVERS, INCEPTION_BYTES, INCEPTION_BYTES, backups)
    return ParameterServers(costs, Machines(job))


def inception_rows() -> Iterable[Row]:
    """Images a second, asynchronous and synchronous, and the median steps."""
    for n in (1, 25, 50, 100, 200, 400, 800):
        rate = inception(n).asynchronous(8.0) * INCEPTION_BATCH
        step = statistics.median(inception(n).synchronous(5))
        yield [n, rate, n * INCEPTION_BATCH / step, n * INCEPTION_BATCH / rate, step]


def backup_rows(workers: int = 50, steps: int = 25) -> Iterable[Row]:
    """Median seconds of a step, and the speed-up for the machines that are used."""
    alone = 0.0
    for backups in range(7):
        seconds = statistics.median(inception(workers, backups).synchronous(steps))
        alone = alone or seconds
        yield [backups, seconds, alone / seconds * workers / (workers + backups)]


def collective_rows(costs: Costs, size: float = 1e8) -> Iterable[Row]:
    """Milliseconds of one data-parallel step of 100 MB: sums by ring and tree, and 16 servers."""
    for n in (8, 16, 32, 64, 128, 256, 512, 1000):
        ways = [1e3 * all_reduce_step(costs, n, size, way) for way in (ring, tree)]
        run = ParameterServers(costs, Machines(Job(n, NULL_SERVERS, size, size)))
        yield [n, *ways, milliseconds(run.synchronous(2 if n > 200 else 4))]


# ---- the page ----


def page(measured: Measured) -> str:
    rows = against_measurements(measured)
    costs = measured.costs
    broken = [row for row in rows if not 0.75 <= row[3] / row[2] <= 1.33]
    parts = [
        "# Simulated scale",
        f"`python benchmarks/scale_simulation.py` on {measured.found['machine']}"
        f"{measured.found.get('note', '')}.",
        "## Costs of one worker",
        table(["", ""], [
            ["a step that does nothing (ms)", 1e3 * costs.fixed],
            ["of the coordinator, for each worker (ms)", 1e3 * costs.dispatch],
            ["of a parameter server, for each message (ms)", 1e3 * costs.handle],
            ["a worker's own work (ms)", 1e3 * costs.compute],
            ["its 99th of 100 steps, in medians", costs.jitter[int(0.99 * len(costs.jitter))]],
            ["between two processes (MB/s)", costs.bandwidth / 1e6],
            ["one message of an all-reduce (ms)", 1e3 * costs.latency],
        ]),
        "## Against real processes of one machine",
        "Costs come from 1 and 2 processes; 4 and 8 are foretold.",
        table(["", "processes", "measured", "simulated", "ratio"], [
            [*row, row[3] / row[2]] for row in rows
        ]),
        _where_it_breaks(broken, measured),
        "## A null step (figure 6)",
        f"{NULL_SERVERS} parameter servers; milliseconds. The paper's scalar step gives two costs"
        f" (1 and 100 workers), the links {NETWORK / 1e9:g} GB/s; the rest follows.",
        table(["workers", *NULL_STEPS], [
            *null_rows(published_costs()),
            *([f"paper, {n}", *(PUBLISHED[name][i] for name in NULL_STEPS)]
              for i, n in enumerate((1, 100))),
        ]),
        "The same with the costs measured here, every task on a machine of its own:",
        table(["workers", *NULL_STEPS], null_rows(replace(measured.on_a_network(), handle=0.0))),
        "## Inception-v3 (figure 7)",
        f"{INCEPTION_SERVERS} parameter servers, batches of {INCEPTION_BATCH}; a step takes"
        f" {INCEPTION_SECONDS:g} s of a worker. The paper has 2,300 images/s with 200 workers, and"
        " synchronous steps a tenth longer than asynchronous ones.",
        table(["workers", "async, images/s", "sync, images/s", "async step (s)", "sync step (s)"],
              inception_rows()),
        "## Backup workers (figure 8)",
        "50 workers are needed. The paper has its shortest step with 4 backups (1.93 s), and the"
        " best speed-up for the machines used with 3 (1.095).",
        table(["backups", "step (s)", "speed-up x 50 / all"], backup_rows()),
        "## All-reduce and parameter servers",
        f"100 MB of gradients, {NETWORK / 1e9:g} GB/s, the worker's own work and the costs measured"
        " here; milliseconds of a step.",
        table(["workers", "ring", "tree", f"{NULL_SERVERS} servers"],
              collective_rows(measured.on_a_network())),
        LIMITS,
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def _where_it_breaks(broken: list[tuple[str, int, float, float]], measured: Measured) -> str:
    lines = [
        f"{name} with {n} processes is off by {max(got / real, real / got):.1f} times"
        + (": more processes than cores" if n + 1 > measured.cores else "")
        for name, n, real, got in broken
    ]
    if not lines:
        return "All are within a third."
    return "Where it breaks (off by more than a third):\n\n" + "\n".join(f"- {x}" for x in lines)


def _by_hand() -> str:
    """The end of the page, which other benchmarks fill."""
    _, found, rest = PAGE.read_text().partition(BY_HAND)
    return found + rest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=("all", "measure", "simulate"), default="all")
    parser.add_argument("--most", type=int, default=8, help="processes to measure (8)")
    parser.add_argument("--seconds", type=float, default=3.0, help="of each training run (3)")
    parser.add_argument("--note", default="", help="about the machine, for the page")
    options = parser.parse_args()
    if options.what != "simulate":
        from scale_measure import measure

        found = {**measure(options.most, options.seconds), "note": options.note}
        COSTS.write_text(json.dumps(found, indent=1) + "\n")
    if options.what != "measure":
        PAGE.write_text(page(Measured(json.loads(COSTS.read_text()))) + _by_hand())
        print(PAGE.read_text())


if __name__ == "__main__":
    main()
