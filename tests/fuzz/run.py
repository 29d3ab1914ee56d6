"""Runs cases until time is up and prints what they found: `make fuzz SECONDS=60 SEED=1`.

A case is a program, made from a seed. It runs in a worker with limits of memory and time; a worker
that a case ends, or that has run many, is replaced. A finding is tried once more in a fresh worker
and printed with its program.
"""

from __future__ import annotations

import argparse
import json
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz import files, graphs, operations
from tests.fuzz.known import is_known

ROOT = Path(__file__).parent.parent.parent
GIB = 1 << 30
KINDS: dict[str, tuple[Callable[[random.Random], str], float]] = {
    "operation": (operations.program, 0.8),
    "graph": (graphs.program, 0.1),
    "file": (files.program, 0.1),
}


@dataclass
class Limits:
    """What a case may take."""

    seconds: float = 10.0
    memory: int = 4 * GIB
    cases_per_worker: int = 300


@dataclass(frozen=True)
class Finding:
    seed: str
    text: str
    program: str

    @property
    def place(self) -> str:
        """What findings of one cause have in common: their kind, and the line that raised."""
        lines = [line for line in self.text.splitlines() if line.startswith("  File")]
        return f"{self.text.splitlines()[0][:60]} {lines[-1] if lines else ''}"

    def __str__(self) -> str:
        return f"==== {self.seed}: {self.text}\n---- the program:\n{self.program}"


def program_of(seed: str) -> str:
    """The program of a case: the same for the same seed ("operation 17 4")."""
    return KINDS[seed.split()[0]][0](random.Random(seed))


class Worker:
    """A process that runs programs one after the other."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.count = limits, 0
        command = [sys.executable, "-m", "tests.fuzz.worker", str(limits.memory)]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._read(120)

    def run(self, program: str, seconds: float) -> str | None:
        self.count += 1
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(program) + "\n")
        self.process.stdin.flush()
        return self._read(seconds)

    @property
    def is_spent(self) -> bool:
        return self.process.poll() is not None or self.count >= self.limits.cases_per_worker

    def _read(self, seconds: float) -> str | None:
        output = self.process.stdout
        assert output is not None
        if not select.select([output], [], [], seconds)[0]:
            self.close()
            return f"hang: no answer in {seconds:g} s"
        line = output.readline()
        if not line:
            number = -self.process.wait()
            name = signal.Signals(number).name if number > 0 else f"exit status {-number}"
            return f"the process ended: {name}"
        found: str | None = json.loads(line).get("finding")
        return found

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


class Fuzzer:
    """Runs seeds one by one."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.worker: Worker | None = None
        self.counts: Counter[str] = Counter()

    def run(self, seed: str) -> Finding | None:
        program = program_of(seed)
        self.counts[seed.split()[0]] += 1
        text = self.tried(program)
        if text is None or is_known(text):
            return None
        if not text.startswith(("raw", "Internal")):
            # It may have been those before it, or a busy machine: once more, alone, with more time.
            self.close()
            text = self.tried(program, 3 * self.limits.seconds)
        return Finding(seed, text, program) if text is not None else None

    def tried(self, program: str, seconds: float | None = None) -> str | None:
        """The finding of a program, if it has one."""
        if self.worker is None or self.worker.is_spent:
            self.close()
            self.worker = Worker(self.limits)
        try:
            return self.worker.run(program, seconds or self.limits.seconds)
        except BrokenPipeError:
            return "the process ended before it read the program"

    def close(self) -> None:
        if self.worker is not None:
            self.worker.close()
        self.worker = None


def seeds(base: int) -> Iterator[str]:
    """Seeds without an end, of all kinds."""
    rng = random.Random(base)
    names, weights = list(KINDS), [weight for _, weight in KINDS.values()]
    number = 0
    while True:
        yield f"{rng.choices(names, weights)[0]} {base} {number}"
        number += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None, help="of the whole run")
    parser.add_argument("--case", help='one case alone, such as "operation 17 4"')
    options = parser.parse_args()
    base = options.seed if options.seed is not None else int(time.time())
    if options.case:
        print(program_of(options.case))
    fuzzer = Fuzzer(Limits())
    found: dict[str, Finding] = {}
    end = time.monotonic() + options.seconds
    for seed in [options.case] if options.case else seeds(base):
        if time.monotonic() > end:
            break
        finding = fuzzer.run(seed)
        if finding is not None and finding.place not in found:
            found[finding.place] = finding
            print(finding, flush=True)
    fuzzer.close()
    print(f"seed {base}: {dict(fuzzer.counts)} cases, {len(found)} findings")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
