"""Data-parallel training in weft and in TensorFlow 2, by turns, in one run.

`python benchmarks/data_parallel.py --tensorflow PYTHON [--size 2]` trains a network of 12 million
weights (48 MB of gradients) on `--batch` examples a process (32): in weft as for Horovod, over
Gloo, in TensorFlow by MultiWorkerMirroredStrategy, a ring over gRPC. All processes are there from
the beginning, each with its share of the cores; one group works while the other waits.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import IO, Any

from collectives import WARM, start_group, tensorflow_step, training_step

WIDTHS = (3072, 3072)
STEPS = 3  # of a turn


def serve(step: Callable[[], Any]) -> None:
    """Makes as many steps as each line of the input says, and says what one of them took: seconds,
    and seconds of a core."""
    for _ in range(WARM):
        step()
    _say("ready")
    for line in sys.stdin:
        steps, start, work = int(line), time.perf_counter(), time.process_time()
        for _ in range(steps):
            step()
        taken = time.perf_counter() - start, time.process_time() - work
        _say([seconds / steps for seconds in taken])


def _say(what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def weft_step(batch: int) -> Callable[[], Any]:
    from weft.lib.horovod import tensorflow as hvd

    hvd.init()
    return training_step(hvd, WIDTHS, batch)


def _tensorflow_step(batch: int) -> Callable[[], Any]:
    return tensorflow_step(WIDTHS, batch)


class Group:
    """Processes of one kind, which work when they are told to."""

    def __init__(self, size: int, kind: str, python: str, batch: int) -> None:
        command = [python, __file__, "--process", kind, "--batch", str(batch)]
        self._processes = start_group(size, kind, command)
        self.times: list[float] = []
        self.work: list[float] = []
        for process in self._processes:
            assert _heard(process.stdout) == "ready"

    def take_turn(self) -> None:
        """Makes a few steps; the slowest process counts."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(f"{STEPS}\n")
            process.stdin.flush()
        found = [_heard(process.stdout) for process in self._processes]
        self.times.append(max(seconds for seconds, _ in found))
        self.work.append(max(seconds for _, seconds in found))

    def end(self) -> None:
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.close()
        for process in self._processes:
            process.wait(60)


def _heard(lines: IO[str] | None) -> Any:
    """What a process says next; others write to the same place."""
    assert lines is not None
    for line in lines:
        try:
            return json.loads(line)
        except ValueError:
            continue
    raise RuntimeError("a process has ended")


def compare(size: int, turns: int, python: str, batch: int) -> dict[str, Any]:
    """Milliseconds of a step, in the middle of all turns; those of a core tell how busy it was."""
    groups = {"weft": Group(size, "weft", sys.executable, batch)}
    groups["tensorflow"] = Group(size, "tensorflow", python, batch)
    for _ in range(turns):
        for group in groups.values():
            group.take_turn()
    for group in groups.values():
        group.end()
    mine, other = groups["weft"], groups["tensorflow"]
    ratios = [b / a for a, b in zip(mine.times, other.times, strict=True)]
    return {
        "processes": size,
        "batch": batch,
        "weft_ms": _middle_ms(mine.times),
        "tensorflow_ms": _middle_ms(other.times),
        "ratio": round(statistics.median(other.times) / statistics.median(mine.times), 2),
        "ratio_by_turns": round(statistics.median(ratios), 2),
        "weft_core_ms": _middle_ms(mine.work),
        "tensorflow_core_ms": _middle_ms(other.work),
    }


def _middle_ms(seconds: list[float]) -> float:
    return round(statistics.median(seconds) * 1e3, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with TensorFlow 2")
    parser.add_argument("--size", type=int, default=2)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--process", choices=("weft", "tensorflow"))
    args = parser.parse_args()
    if args.process:
        serve((weft_step if args.process == "weft" else _tensorflow_step)(args.batch))
        return
    if not args.tensorflow:
        parser.error("--tensorflow is needed")
    _say(compare(args.size, args.turns, args.tensorflow, args.batch))


if __name__ == "__main__":
    main()
