"""Cases, each a program made from a seed, and the workers that run them.

A worker has limits of memory and time; one that a case ends, or that has run many, is replaced.
What ended it or took too long is tried once more in a fresh worker.
"""

from __future__ import annotations

import json
import os
import random
import re
import select
import signal
import subprocess
import sys
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


# What findings are counted as, by how they begin.
_SORTS = {"the process ended": "signals", "hang": "hangs"}
SORTS = ("signals", "hangs", "raw", "memory")


@dataclass
class Limits:
    """What a case may take."""

    seconds: float = 10.0
    memory: int = 4 * GIB
    cases_per_worker: int = 1000


@dataclass(frozen=True)
class Finding:
    seed: str
    text: str
    program: str

    @property
    def sort(self) -> str:
        """One of SORTS."""
        if "MemoryError" in self.text or "bad_alloc" in self.text:
            return "memory"
        return next((sort for begin, sort in _SORTS.items() if self.text.startswith(begin)), "raw")

    @property
    def place(self) -> str:
        """What findings of one cause have in common: their kind, and the line that raised."""
        lines = [line for line in self.text.splitlines() if line.startswith("  File")]
        op = re.search(r"raw_ops[.](\w+)\(\w+=", self.program)
        where = lines[-1] if lines else op and op[1]
        return f"{self.text.splitlines()[0][:60]} {where}"

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
        # With many cores, malloc reserves more addresses than a worker may have.
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "MALLOC_ARENA_MAX": "2"}
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment,
        )  # fmt: skip
        self._read(120)

    def run(self, program: str) -> str | None:
        self.count += 1
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(program) + "\n")
        self.process.stdin.flush()
        return self._read(self.limits.seconds)

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

    def run(self, seed: str) -> Finding | None:
        program = program_of(seed)
        text = self.tried(program)
        if text is None or is_known(text):
            return None
        if not text.startswith(("raw", "Internal")):
            # It may have been those before it: once more, alone.
            self.close()
            text = self.tried(program)
        return Finding(seed, text, program) if text is not None else None

    def tried(self, program: str) -> str | None:
        """The finding of a program, if it has one."""
        if self.worker is None or self.worker.is_spent:
            self.close()
            self.worker = Worker(self.limits)
        try:
            return self.worker.run(program)
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
