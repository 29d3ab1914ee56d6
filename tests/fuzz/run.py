"""Runs cases until time is up and prints what they found: `make fuzz SECONDS=60 SEED=1 JOBS=16`.

Each job has a worker of its own. Which cases there are depends on the seed alone.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from tests.fuzz.fuzzer import KINDS, SORTS, Finding, Fuzzer, Limits, program_of, seeds


class Run:
    """Cases one after the other, to as many workers as there are jobs."""

    def __init__(self, cases: Iterator[str], limits: Limits, seconds: float) -> None:
        self.cases, self.limits = cases, limits
        self.end = time.monotonic() + seconds
        self.counts: Counter[str] = Counter()
        self.findings: dict[str, list[Finding]] = {}
        self._lock = threading.Lock()

    def work(self) -> None:
        """One job."""
        fuzzer = Fuzzer(self.limits)
        try:
            while (seed := self._next()) is not None:
                finding = fuzzer.run(seed)
                if finding is not None:
                    self._note(finding)
        finally:
            fuzzer.close()

    def _next(self) -> str | None:
        with self._lock:
            seed = next(self.cases, None) if time.monotonic() < self.end else None
            if seed is not None:
                self.counts[seed.split()[0]] += 1
            return seed

    def _note(self, finding: Finding) -> None:
        """Of findings with one cause the first is shown, the others are counted."""
        with self._lock:
            same = self.findings.setdefault(finding.place, [])
            same.append(finding)
            if len(same) == 1:
                print(finding, flush=True)

    def summary(self) -> str:
        every = [finding for same in self.findings.values() for finding in same]
        sorts = Counter(finding.sort for finding in every)
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items()))
        found = ", ".join(f"{sort} {sorts[sort]}" for sort in SORTS)
        return (
            f"cases {self.counts.total()} ({kinds}): {found};"
            f" different findings {len(self.findings)}"
        )


def main() -> None:
    options = _options()
    if options.case:
        print(program_of(options.case))
    for kind in KINDS:  # what programs are made from, once and before there are threads
        program_of(f"{kind} 0 0")
    cases = iter([options.case]) if options.case else seeds(options.seed)
    run = Run(itertools.islice(cases, options.cases), Limits(options.limit), options.seconds)
    begin = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        for job in [pool.submit(run.work) for _ in range(options.jobs)]:
            job.result()
    print(f"seed {options.seed}, {time.monotonic() - begin:.0f} s, {run.summary()}")
    sys.exit(bool(run.findings))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--cases", type=int, default=None, help="end after that many")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the whole run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--limit", type=float, default=10, help="seconds that a case may take")
    parser.add_argument("--case", help='one case alone, such as "operation 17 4"')
    return parser.parse_args()


if __name__ == "__main__":
    main()
