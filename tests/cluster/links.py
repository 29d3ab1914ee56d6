"""Trains on hosts whose network cables are cut, one after the other, and slowed down.

    python -m tests.cluster.links [--cuts 12] [--seed N]

2 parameter servers and 3 workers, each on a host of its own (`namespaces.py`). A cut cable says
nothing to anybody, as a cut cable does; what is checked is what `kill_the_cluster` checks.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.cluster import kill_the_cluster, training_task
from tests.cluster.namespaces import Network

_PORT = 2222


class Cabled:
    """The training run of `kill_the_cluster`, with every task on a host of its own."""

    def __init__(self, folder: Path, steps: int, pause: float, wait: float, most: float) -> None:
        tasks = [("ps", i) for i in range(kill_the_cluster.PS)]
        tasks += [("worker", i) for i in range(kill_the_cluster.WORKERS)]
        self.network = Network(len(tasks))
        self.numbers = {task: i for i, task in enumerate(tasks, 1)}
        cluster = {
            job: [f"10.77.0.{self.numbers[t]}:{_PORT}" for t in tasks if t[0] == job]
            for job in ("ps", "worker")
        }
        hosts = {
            f"{job}/{i}": self.network.hosts[n - 1].prefix for (job, i), n in self.numbers.items()
        }
        prefix = [sys.executable, "-m", "tests.cluster.namespaces", json.dumps(hosts)]
        self.training = kill_the_cluster.Training(
            folder, steps, pause, wait, most, cluster, [*prefix, "{job}/{task}"],
            environment={"WEFT_SHARED_MEMORY": "0"},  # these machines have none in common
        )  # fmt: skip


def disturber(
    cabled: Cabled, cuts: int, rng: random.Random, count: Counter, seconds: tuple[float, float]
) -> Any:
    """Cuts a host off, cuts one cable, or slows one host; and makes it good again."""
    network = cabled.network

    def disturb(training: kill_the_cluster.Training) -> None:
        while training.log.highest < 1:
            kill_the_cluster.nap(training, 0.1)
        for i in range(cuts):
            kill_the_cluster.nap(training, rng.uniform(1.0, 4.0))
            task = rng.choice(list(cabled.numbers))
            host = cabled.numbers[task]
            what = ("cut off", "cable cut", "slow")[i % 3]
            other = rng.choice([n for n in cabled.numbers.values() if n != host])
            count[what] += 1
            training.log.note(f"{what}: {task}, host {host}, {other}")
            if what == "slow":
                network.delay(rng.uniform(0.05, 0.3), host)
            else:
                network.cut(host, None if what == "cut off" else other)
            kill_the_cluster.nap(training, rng.uniform(*seconds))
            network.mend(host)
            network.delay(0.0, host)
            training.log.note("all is well")

    return disturb


def survive(
    folder: Path, cuts: int, seed: int, wait: float, seconds: tuple[float, float] = (5.0, 25.0)
) -> dict[str, Any]:
    """A disturbed run, and all that is to be known about it. "wrong" must be empty."""
    pause = 0.1
    longest = cuts * (seconds[1] + 4) + 20
    steps = max(training_task.steps_to_converge(), int(kill_the_cluster.WORKERS / pause * longest))
    cabled = Cabled(folder, steps, pause, wait, 4 * longest + 120)
    count: Counter = Counter()
    training = cabled.training
    try:
        rng = random.Random(seed)
        found = training.run(disturber(cabled, cuts, rng, count, seconds))
    finally:
        cabled.network.close()
    frames = {"frames": cabled.network.passed, "frames_dropped": cabled.network.dropped}
    wrong = training.check(found)
    return {"cuts": dict(count), "steps": steps, "seed": seed, **frames, **found, "wrong": wrong}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=12)
    parser.add_argument("--wait", type=float, default=60.0, help="how long anybody may be silent")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--folder", type=Path, default=None, help="for checkpoints and the log")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        result = survive(folder / "disturbed", options.cuts, seed, options.wait)
    print(json.dumps(result, indent=1))
    sys.exit(bool(result["wrong"]))


if __name__ == "__main__":
    main()
