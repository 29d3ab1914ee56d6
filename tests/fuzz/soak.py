"""One server under hostile and honest clients at once: `make soak MINUTES=60`.

For a tenth of the time the honest ones are alone: that is what their latency is compared with. The
honest must see no error, and take at most twice as long; the memory of the server must not grow.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PATH = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
SLOWER = 2.0
# What a server may grow by once it is warm: by this part, and that many bytes.
GROWTH, SPARE = 0.10, 64 << 20
SERVER = """
import weft as tf
server = tf.train.Server.create_local_server()
print(server.target, flush=True)
server.join()
"""


@dataclass
class Seen:
    """What was noticed in the course of a soak."""

    quiet: list[float] = field(default_factory=list)
    under_attack: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    attacks: Counter[str] = field(default_factory=Counter)  # by what came of them
    ended: str = ""

    @property
    def slower(self) -> float:
        return _median(self.under_attack) / _median(self.quiet)

    @property
    def grown(self) -> float:
        """Bytes between the second quarter and the last."""
        quarter = len(self.memory) // 4
        early = self.memory[quarter : 2 * quarter] or [0]
        return _median(self.memory[-max(1, quarter) :]) - _median(early)

    def problems(self) -> list[str]:
        found = [self.ended] if self.ended else []
        if self.errors:
            found.append(f"{len(self.errors)} errors of honest clients: {self.errors[0]}")
        if self.slower > SLOWER:
            found.append(f"honest clients are {self.slower:.2f} times as slow")
        if self.grown > GROWTH * _median(self.memory) + SPARE:
            found.append(f"the server has grown by {self.grown / 1e6:.0f} MB")
        return found

    def __str__(self) -> str:
        return (
            f"steps {len(self.quiet)} alone, {len(self.under_attack)} under attack; errors"
            f" {len(self.errors)}; median {_median(self.quiet) * 1e3:.2f} ms alone,"
            f" {_median(self.under_attack) * 1e3:.2f} ms under attack ({self.slower:.2f} times);"
            f" 99% {_late(self.quiet) * 1e3:.1f} and {_late(self.under_attack) * 1e3:.1f} ms;"
            f" memory {_median(self.memory) / 1e6:.0f} MB, most {max(self.memory) / 1e6:.0f},"
            f" grown {self.grown / 1e6:.0f}; attacks {self.attacks.total()}:"
            f" {dict(self.attacks.most_common())}"
        )


def _median(values: list[float] | list[int]) -> float:
    return float(statistics.median(values)) if values else 0.0


def _late(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)] if values else 0.0


class Soak:
    """The processes of a soak, and what they say."""

    def __init__(self, honest: int, hostile: int, seed: int) -> None:
        self.counts, self.seed = (honest, hostile), seed
        self.seen = Seen()
        self.is_under_attack = False
        self._stack = contextlib.ExitStack()

    def run(self, seconds: float) -> Seen:
        with self._stack:
            server = self._start("-c", SERVER)
            assert server.stdout is not None
            target = server.stdout.readline().strip()
            for _ in range(self.counts[0]):
                listened = self._start("-m", "tests.fuzz.honest", target)
                threading.Thread(target=self._listen, args=(listened,), daemon=True).start()
            self._warm_up()
            self._watch(server, seconds / 10)
            for i in range(self.counts[1]):
                listened = self._start("-m", "tests.fuzz.hostile", target, str(self.seed + i))
                threading.Thread(target=self._count, args=(listened,), daemon=True).start()
            self.is_under_attack = True
            self._watch(server, seconds * 9 / 10)
        return self.seen

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *arguments], cwd=ROOT, env={**os.environ, "PYTHONPATH": PATH},
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._stack.callback(_end, process)
        return process

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("error"):
                self.seen.errors.append(line.strip())
            else:
                steps = self.seen.under_attack if self.is_under_attack else self.seen.quiet
                steps.append(float(line))

    def _count(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self.seen.attacks[line.strip()] += 1

    def _warm_up(self) -> None:
        """Until all have begun; their first steps do not count."""
        limit = time.monotonic() + 120
        while len(self.seen.quiet) < 20 * self.counts[0] and time.monotonic() < limit:
            time.sleep(0.1)
        assert self.seen.quiet, "no honest client has run a step"
        self.seen.quiet.clear()

    def _watch(self, server: subprocess.Popen[str], seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.seen.ended:
            time.sleep(min(1.0, seconds / 20))
            if server.poll() is not None:
                self.seen.ended = f"the server ended: {server.returncode}"
            elif self.is_under_attack:
                self.seen.memory.append(_memory(server.pid))


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _memory(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--honest", type=int, default=2)
    parser.add_argument("--hostile", type=int, default=4)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    seen = Soak(options.honest, options.hostile, options.seed).run(options.minutes * 60)
    print(f"seed {options.seed}: {seen}")
    for problem in seen.problems():
        print(f"problem: {problem}")
    sys.exit(bool(seen.problems()))


if __name__ == "__main__":
    main()
