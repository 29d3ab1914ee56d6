"""Trains on 2 parameter servers and 3 workers, and kills a random one of them every few seconds.

    python -m tests.cluster.kill_the_cluster [--kills 100] [--seed N] [--engine ray]

The processes are those of `weft launch`, which starts them again. On Ray, a kill is one of three:
of the program, of the process of its actor, or of the actor, by Ray itself. The training must end
by itself, with the right number of steps and the loss of a run that nobody disturbs; every
checkpoint that the state file names must be readable at all times; nobody may be silent for longer
than `--wait`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import weft as tf
from tests.cluster import training_task
from tests.cluster.watching import Checkpoints, Log, read_checkpoint
from weft.cli.launching.launcher import Launcher, Running, Starter
from weft.cli.launching.local import LocalStarter
from weft.cli.launching.on_ray import RayStarter
from weft.cli.launching.plan import Cluster, Plan
from weft.cli.launching.request import Request

ROOT = Path(__file__).parent.parent.parent
HEALTH_SECONDS = 5
PS, WORKERS = 2, 3
REQUEST = Request("", counts={"worker": WORKERS, "ps": PS})
TASKS = REQUEST.tasks
Task = tuple[str, int]


@dataclass
class Training:
    """One run: where, how long, and who is disturbed by what."""

    folder: Path
    steps: int
    pause: float = 0.0
    wait: float = 60.0
    most_seconds: float = 600.0
    cluster: Cluster = field(default_factory=dict)  # empty: where the starter finds room
    prefix: list[str] = field(default_factory=list)  # of every command
    options: list[str] = field(default_factory=list)  # of every task
    environment: dict[str, str] = field(default_factory=dict)  # of every task
    failures: list[str] = field(default_factory=list)
    starter: Starter = field(default_factory=LocalStarter)
    how: Callable[[Running], bool] = lambda process: process.send(signal.SIGKILL) is None

    def __post_init__(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        program = [sys.executable, "-m", "tests.cluster.training_task", "--folder"]
        program += [str(self.folder), "--steps", str(self.steps), "--wait", str(self.wait)]
        self.cluster = self.cluster or self.starter.make_room(TASKS)
        command = [*self.prefix, *program, "--pause", str(self.pause), *self.options]
        self.log = Log(TASKS, self.folder / "log")
        environment = {
            "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "WEFT_CHECK": "0",
            "WEFT_HEALTH": str(HEALTH_SECONDS), "WEFT_PEERS": str(int(self.wait / 2)),
            **self.environment,
        }  # fmt: skip
        plan = Plan(
            command, self.cluster, TASKS, restarts=1_000_000, grace=5.0, environment=environment
        )
        self.launcher = Launcher(plan, self.log, self.starter)

    def hurry(self) -> None:
        """From now on there are no pauses."""
        (self.folder / "hurry").touch()

    def kill(self, task: Task) -> bool:
        """Kills a task, if it runs; the launcher starts it again."""
        process = self.launcher.processes.get(task)
        if process is None or process.poll() is not None:
            return False
        return self.how(process)

    def steps_of(self, name: str) -> int:
        """How many steps a worker has made, all its lives together."""
        seen = self.log.seen.get(name)
        return seen.steps if seen is not None else 0

    def run(self, disturb: Callable[[Training], None]) -> dict[str, Any]:
        """Runs to the end, while `disturb` does what it does. Returns what was seen."""
        checkpoints = Checkpoints(self.folder)
        start = time.monotonic()
        threads = [threading.Thread(target=self._disturbed, args=(disturb,))]
        over = threading.Event()
        threads.append(threading.Thread(target=self._give_up, args=(over,)))
        for thread in threads:
            thread.start()
        try:
            code = self.launcher.run()
        finally:
            over.set()
            for thread in threads:
                thread.join()
            checkpoints.close()
        return self._report(code, time.monotonic() - start, checkpoints)

    def _disturbed(self, disturb: Callable[[Training], None]) -> None:
        try:
            disturb(self)
        except BaseException as error:
            self.failures.append(f"{error!r}")
        self.hurry()

    def _give_up(self, over: threading.Event) -> None:
        if not over.wait(self.most_seconds):
            self.failures.append(f"not over after {self.most_seconds:.0f} seconds")
            self.launcher.interrupted = signal.SIGTERM

    def _report(self, code: int, seconds: float, checkpoints: Checkpoints) -> dict[str, Any]:
        last = tf.train.latest_checkpoint(str(self.folder))
        values = read_checkpoint(last) if last else None
        seen = self.log.seen
        return {
            "exit_code": code,
            "seconds": round(seconds, 1),
            "global_step": int(values["global_step"]) if values else None,
            "loss": training_task.loss_of(values["weights"], values["bias"]) if values else None,
            "steps_made": {name: each.steps for name, each in sorted(seen.items())},
            "steps_lost": self.log.lost,
            "longest_silence": {name: round(each.silent, 1) for name, each in sorted(seen.items())},
            "longest_without_a_step": {n: round(each.stood, 1) for n, each in sorted(seen.items())},
            "all_done": all(each.done for each in seen.values()),
            "starts": sum(self.launcher.starts.values()),
            "checkpoints_seen": len(checkpoints.seen),
            "checkpoint_reads": checkpoints.reads,
            "checkpoints_broken": checkpoints.broken,
            "failures": self.failures,
        }

    def check(self, found: dict[str, Any]) -> list[str]:
        """What is not as it must be."""
        best = training_task.least_loss()
        tests = {
            "the exit code is not 0": found["exit_code"] == 0,
            "a worker did not end by itself": found["all_done"],
            # When the last step is made, every other worker may be in the middle of one, and may
            # make another, if it had looked at the counter before it began.
            "the number of steps is wrong": found["global_step"] is not None
            and self.steps <= found["global_step"] < self.steps + 2 * WORKERS,
            "the loss is not the least": found["loss"] is not None
            and abs(found["loss"] - best) < 1e-5 * best,
            "a checkpoint was lost": not found["checkpoints_broken"],
            "somebody waited too long": max(found["longest_silence"].values()) <= self.wait,
        }
        return [*self.failures, *(text for text, holds in tests.items() if not holds)]


def killer(kills: int, interval: tuple[float, float], rng: random.Random, count: Counter) -> Any:
    """Kills a random task every now and then, once training has begun."""

    def disturb(training: Training) -> None:
        tasks = training.launcher.plan.tasks
        while training.log.highest < 1:
            nap(training, 0.1)
        while sum(count.values()) < kills:
            nap(training, rng.uniform(*interval))
            task = rng.choice(list(tasks))
            if training.kill(task):
                count[role(task)] += 1

    return disturb


def nap(training: Training, seconds: float) -> None:
    time.sleep(seconds)
    if training.launcher.interrupted is not None or len(training.launcher.over) >= WORKERS:
        raise AssertionError("it was over before all was done that was to disturb it")


def role(task: Task) -> str:
    return "chief" if task == ("worker", 0) else task[0]


def undisturbed(folder: Path, steps: int) -> dict[str, Any]:
    return Training(folder, steps).run(lambda training: None)


def by_ray(rng: random.Random, count: Counter) -> Callable[[Any], bool]:
    """Ways to kill a task that runs in an actor of Ray, each as likely as the others."""
    import ray

    ways = {
        "program": lambda process: process.send(signal.SIGKILL),
        "process of the actor": lambda process: os.kill(
            ray.get(process.host.process_id.remote(), timeout=30), signal.SIGKILL
        ),
        "actor": lambda process: ray.kill(process.host),
    }

    def kill(process: Any) -> bool:
        if not process.is_up:
            return False
        way = rng.choice(list(ways))
        ways[way](process)
        while process.poll() is None:  # or it would be killed again before anybody knows
            time.sleep(0.05)
        count[way] += 1
        return True

    return kill


def survive(
    folder: Path, kills: int, interval: tuple[float, float], seed: int, wait: float = 60.0,
    engine: str = "local",
) -> dict[str, Any]:  # fmt: skip
    """A disturbed run, and all that is to be known about it. "wrong" must be empty."""
    # So many steps, with such pauses, that training cannot end before the last kill.
    pause = 0.1
    slowest = WORKERS / pause * (kills * interval[1] + 20)
    steps = max(training_task.steps_to_converge(), int(slowest))
    count: Counter = Counter()
    ways: Counter = Counter()
    rng = random.Random(seed)
    settings: dict[str, Any] = {}
    if engine == "ray":
        settings = {"starter": RayStarter(REQUEST), "how": by_ray(rng, ways)}
    most = 60 + kills * interval[1] * 6
    training = Training(folder, steps, pause, wait, most, **settings)
    try:
        found = training.run(killer(kills, interval, rng, count))
    finally:
        training.starter.close()
    known = {"kills": dict(count), "ways": dict(ways), "steps": steps, "seed": seed}
    return {**known, **found, "wrong": training.check(found)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--interval", type=float, nargs=2, default=(2.0, 6.0), help="seconds")
    parser.add_argument("--wait", type=float, default=60.0, help="how long anybody may be silent")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--engine", choices=("local", "ray"), default="local")
    parser.add_argument("--folder", type=Path, default=None, help="for checkpoints and the log")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        interval = tuple(options.interval)
        result = survive(
            folder / "disturbed", options.kills, interval, seed, options.wait, options.engine
        )
        quiet = undisturbed(folder / "undisturbed", training_task.steps_to_converge())
    result |= {"undisturbed_loss": quiet["loss"], "undisturbed_seconds": quiet["seconds"]}
    if abs(result["loss"] - quiet["loss"]) > 1e-5 * quiet["loss"]:
        result["wrong"].append("the loss is not that of an undisturbed run")
    print(json.dumps(result, indent=1))
    sys.exit(bool(result["wrong"]))


if __name__ == "__main__":
    main()
