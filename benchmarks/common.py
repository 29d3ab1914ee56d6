"""What the benchmarks share: the implementation asked for, timing, and the line that is printed."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
IMPLEMENTATIONS = ("weft", "tensorflow")

# The statement by which a program gets each implementation.
IMPORTS = {"weft": "import weft as tf", "tensorflow": "import tensorflow.compat.v1 as tf"}


def arguments(question: str) -> str:
    """The implementation named on the command line."""
    parser = argparse.ArgumentParser(description=question)
    parser.add_argument("--impl", choices=IMPLEMENTATIONS, default="weft")
    return parser.parse_args().impl


def load(impl: str) -> Any:
    """`tf`, in graph mode."""
    # In a checkout that is not installed, weft is the folder next to this one.
    sys.path.append(str(HERE.parent))
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if impl == "weft":
        import weft as tf
    else:
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
        tf.logging.set_verbosity(tf.logging.ERROR)
    return tf


def median_call(
    call: Callable[[], Any], samples: int = 15, sample_seconds: float = 0.1, first: int = 20
) -> float:
    """Median seconds of one call, over samples of as many calls as fit into `sample_seconds`.

    The `first` calls are not counted: they compile, choose algorithms and fill caches.
    """
    until = time.perf_counter() + 3 * sample_seconds
    calls = 0
    while calls < first or time.perf_counter() < until:
        call()
        calls += 1
    began = time.perf_counter()
    call()
    once = time.perf_counter() - began
    repeat = max(1, round(sample_seconds / max(once, 1e-7)))
    times = []
    for _ in range(samples):
        began = time.perf_counter()
        for _ in range(repeat):
            call()
        times.append((time.perf_counter() - began) / repeat)
    return statistics.median(times)


def resident_mb() -> float:
    """Memory of this process that is in RAM now."""
    try:
        with open("/proc/self/status") as f:
            line = next(line for line in f if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024
    except OSError:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def environment(**more: str) -> dict[str, str]:
    """For child processes: as a user has it, with bytecode files kept from one run to the next."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | more


def in_new_process(program: list[str], **variables: str) -> tuple[float, dict[str, Any]]:
    """Runs a program that prints a JSON object with `done_at` as its last line.

    Gives the seconds from just before the process started to `done_at`, and the object.
    """
    began = time.time()
    done = subprocess.run(
        [sys.executable, *program],
        env=environment(**variables),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    last = json.loads(done.stdout.splitlines()[-1])
    return last["done_at"] - began, last


def report(name: str, impl: str, seconds: float, **more: Any) -> None:
    """The one line of output."""
    print(json.dumps({"name": name, "impl": impl, "seconds": seconds, **more}))
