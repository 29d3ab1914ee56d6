"""Kills examples/survive.py at random moments, again and again, and checks what is left each time.

    python -m tests.train.kill_and_resume [--kills 50]

After every kill the latest checkpoint and all others on the list must be readable, and none older
than before; the next start must go on right after it, with the loss where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import weft as tf

ROOT = Path(__file__).parent.parent.parent
LINE = re.compile(r"step (\d+): loss ([\d.]+)")
CHECKPOINT = re.compile(r".*model\.ckpt-(\d+)")


@dataclass
class History:
    """What has been seen so far."""

    saved: int = -1
    steps: list[int] = field(default_factory=list)
    losses: dict[int, float] = field(default_factory=dict)
    repeated: int = 0


def start(folder: Path, steps: int, save_every: int, log: IO[str]) -> subprocess.Popen:
    program = ["examples/survive.py", str(folder), "--steps", str(steps), "--print-every", "1"]
    # The runs share what they compile, as they would outside of the tests.
    cache = str(folder.parent / "cache")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "WEFT_CACHE": cache, "WEFT_CHECK": "0"}
    return subprocess.Popen(
        [sys.executable, *program, "--save-every", str(save_every)],
        cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT,
    )  # fmt: skip


def saved_step(folder: Path) -> int:
    """The step of the latest checkpoint, after reading all that are listed; -1 if there is none."""
    state = tf.train.get_checkpoint_state(str(folder))
    if state is None:
        return -1
    for path in state.all_model_checkpoint_paths:
        reader = tf.train.load_checkpoint(path)
        values = {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}
        named = CHECKPOINT.fullmatch(path)
        assert named and int(named[1]) == values["global_step"], path
        assert len(values) == 15, sorted(values)  # weights, Adam's two for each, its powers, step
    newest = CHECKPOINT.fullmatch(state.model_checkpoint_path)
    assert newest, state
    return int(newest[1])


def check(folder: Path, log: str, history: History, save_every: int) -> None:
    """Compares a run's output and what it left with all that was before."""
    seen = [(int(m[1]), float(m[2])) for m in LINE.finditer(log)]
    assert "Traceback" not in log, log
    if seen:
        first = seen[0][0]
        assert first == max(history.saved, 0) + 1, f"saved {history.saved}, went on at {first}"
        if history.steps:
            lost = history.steps[-1] - first + 1
            # What came after the last save is done again; a step may be saved before it is printed.
            assert -1 <= lost <= save_every, f"{lost} steps lost"
            history.repeated += max(0, lost)
        assert [step for step, _ in seen] == list(range(first, first + len(seen)))
        history.steps += [step for step, _ in seen]
        check_losses(history, seen)
    now = saved_step(folder)
    assert now >= history.saved, f"checkpoint {history.saved} is lost, the latest is {now}"
    history.saved = now
    check_events(folder)


def check_losses(history: History, seen: list[tuple[int, float]]) -> None:
    """The first losses of a run are like the last ones before, not like those of a new network."""
    before = [history.losses[s] for s in sorted(history.losses) if s < seen[0][0]][-20:]
    after = [loss for _, loss in seen[:20]]
    if len(before) >= 10 and len(after) >= 5:
        assert sum(after) / len(after) < 2 * sum(before) / len(before) + 0.1, (before, after)
    history.losses.update(seen)


def check_events(folder: Path) -> None:
    """Event files can be read, but for what was being written when the process died."""
    for file in folder.glob("events.*"):
        events = 0
        try:
            for _ in tf.train.summary_iterator(str(file)):
                events += 1
        except tf.errors.DataLossError as error:
            assert "truncated" in str(error), error
        assert events or not file.stat().st_size, file


def kill_some_time(child: subprocess.Popen, log: Path, rng: random.Random) -> None:
    """Mostly while it trains and saves, sometimes while it starts."""
    early = rng.random() < 0.2
    until = time.monotonic() + (rng.uniform(0, 3) if early else 60)
    while time.monotonic() < until and child.poll() is None:
        if not early and LINE.search(log.read_text()):
            time.sleep(rng.uniform(0, 0.6))
            break
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()


def survive(kills: int, steps: int, save_every: int, seed: int) -> dict:
    """Kills the program `kills` times, lets it finish, and returns what happened."""
    rng = random.Random(seed)
    history = History()
    with tempfile.TemporaryDirectory() as where:
        folder, log = Path(where) / "run", Path(where) / "log"
        for kill in range(kills + 1):
            with log.open("w+") as output:
                child = start(folder, steps, save_every, output)
                if kill < kills:
                    kill_some_time(child, log, rng)
                assert child.wait(300) == (0 if kill == kills else -signal.SIGKILL), log.read_text()
            check(folder, log.read_text(), history, save_every)
        assert history.saved == steps
    losses = [history.losses[step] for step in sorted(history.losses)]
    return {
        "kills": kills,
        "last_step": history.steps[-1],
        "steps_repeated": history.repeated,
        "first_losses": round(sum(losses[:10]) / 10, 4),
        "last_losses": round(sum(losses[-10:]) / 10, 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--steps", type=int, default=3000, help="more than are made in all runs")
    parser.add_argument("--save-every", type=int, default=5)
    parser.add_argument("--seed", type=int, default=None)
    options = vars(parser.parse_args())
    options["seed"] = seed = int(time.time()) if options["seed"] is None else options["seed"]
    print(json.dumps({**survive(**options), "seed": seed}))


if __name__ == "__main__":
    main()
