"""A short run of the fuzzer, always the same, and that it notices what it is there to notice."""

from __future__ import annotations

import itertools
import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.fuzz import fuzzer as fuzzing
from tests.fuzz.fuzzer import GIB, Fuzzer, Limits, program_of, seeds
from tests.fuzz.known import BY_DESIGN, KNOWN
from tests.fuzz.run import Run
from weft.graph.op_def import REGISTRY

SEED, CASES = 1, 40
# Machines that run tests are busy: what hangs does so for longer than this.
LIMITS = Limits(seconds=60)


def test_a_short_run_finds_nothing() -> None:
    fuzzer = Fuzzer(LIMITS)
    try:
        cases = itertools.islice(seeds(SEED), CASES)
        found = [str(finding) for seed in cases if (finding := fuzzer.run(seed)) is not None]
    finally:
        fuzzer.close()
    assert not found, "\n".join(found)


@pytest.mark.parametrize("kind", ["operation", "graph", "file"])
def test_a_seed_makes_one_program(kind: str) -> None:
    assert program_of(f"{kind} 3 4") == program_of(f"{kind} 3 4")
    compile(program_of(f"{kind} 3 4"), "<case>", "exec")


NOTICED = {
    "[][0]": "raw exception: IndexError",
    "bytearray(1 << 33)": "raw exception: MemoryError",
    "import weft as tf; raise tf.errors.InternalError(None, None, '') from KeyError('a')": (
        "InternalError for bad input: KeyError"
    ),
    "raise ValueError('as TensorFlow has it')": None,
    "import weft as tf; raise tf.errors.InvalidArgumentError(None, None, 'as well')": None,
    "import os; os.abort()": "the process ended: SIGABRT",
    "import time; time.sleep(60)": "hang: no answer",
}


def test_what_is_noticed() -> None:
    fuzzer = Fuzzer(Limits(seconds=4, memory=GIB))
    try:
        found = {program: fuzzer.tried(program) for program in NOTICED}
    finally:
        fuzzer.close()
    for program, finding in NOTICED.items():
        assert (found[program] or "None").startswith(finding or "None"), program


def test_jobs_share_the_cases_and_their_findings_are_counted(monkeypatch, capsys) -> None:
    def given(rng: random.Random) -> str:
        return next(programs)

    programs = iter(["import os; os.abort()", "[][0]", "[][0]", "bytearray(1 << 33)", "1 + 1"])
    monkeypatch.setitem(fuzzing.KINDS, "given", (given, 0))
    run = Run(iter([f"given 0 {i}" for i in range(5)]), LIMITS, 600)
    with ThreadPoolExecutor(2) as pool:
        for job in [pool.submit(run.work) for _ in range(2)]:
            job.result()
    assert run.summary() == (
        "cases 5 (5 given): signals 1, hangs 0, raw 2, memory 1; different findings 3"
    )
    assert capsys.readouterr().out.count("==== given 0") == 3


def test_operations_that_are_left_out_exist() -> None:
    assert {*KNOWN, *BY_DESIGN} <= REGISTRY.keys()
