"""One implementation of the table of operations, in a process that answers requests.

    python benchmarks/operation_worker.py {weft,tensorflow,jax,torch}

Each line on standard input is a request, each line on standard output its answer, as JSON:
`["prepare", name]` -> null, or the error; `["sample", seconds]` -> seconds of a call: by the clock
(median), and of all cores together (mean). A call gives its results as NumPy has them, whole.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from common import IMPLEMENTATIONS, load
from operation_cases.arrays import ARRAYS
from operation_cases.case import Case
from operation_cases.networks import NETWORKS
from operation_cases.texts import TEXTS

CASES = {case.name: case for case in [*NETWORKS, *ARRAYS, *TEXTS]}
WARM_SECONDS, WARM_CALLS = 0.6, 5

Call = Callable[[], Any]


class WithGraph:
    """weft and TensorFlow: a session that runs one callable."""

    def __init__(self, impl: str) -> None:
        self.tf = load(impl)

    def prepare(self, case: Case) -> Call:
        tf = self.tf
        with tf.Graph().as_default():
            values = case.arrays()
            if case.fed:
                tensors = [tf.placeholder(tf.string, value.shape) for value in values]
            else:
                tensors = [tf.Variable(value) for value in values]
            fetches = case.compute(tf, *tensors)
            session = tf.Session()
            session.run(tf.global_variables_initializer())
            call = session.make_callable(fetches, tensors if case.fed else None)
        return (lambda: call(*values)) if case.fed else call


class WithFunctions:
    """JAX and PyTorch: functions of arrays, by the names of the rows they are for."""

    def __init__(self, library: Any) -> None:
        self.library = library

    def prepare(self, case: Case) -> Call:
        return self.library.prepare(self.library.FUNCTIONS[case.name], case.arrays())


def implementation(name: str) -> Any:
    if name in IMPLEMENTATIONS:
        return WithGraph(name)
    if name == "jax":
        from operation_cases import with_jax as library
    else:
        from operation_cases import with_torch as library
    return WithFunctions(library)


def warm(call: Call) -> None:
    """Calls until everything is compiled and cached."""
    began, calls = time.perf_counter(), 0
    while calls < WARM_CALLS or time.perf_counter() - began < WARM_SECONDS:
        call()
        calls += 1


def sample(call: Call, seconds: float) -> tuple[float, float]:
    """The median time of a call, among those of about so many seconds, and what cores spent on one.

    What cores spend hardly depends on what else the machine does.
    """
    times = []
    spent, ends = time.process_time(), time.perf_counter() + seconds
    while not times or time.perf_counter() < ends:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times), (time.process_time() - spent) / len(times)


def main() -> None:
    answers, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    library, call = implementation(sys.argv[1]), None
    for line in sys.stdin:
        request, argument = json.loads(line)
        answer: Any = None
        try:
            if request == "prepare":
                call = None
                call = library.prepare(CASES[argument])
                warm(call)
            else:
                assert call is not None
                answer = sample(call, argument)
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"[:300]
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
