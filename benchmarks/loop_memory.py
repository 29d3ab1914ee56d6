"""How does the memory of a loop grow with its iterations, with gradients and without?

    python benchmarks/loop_memory.py

Every line is a process of its own. Without gradients nothing may grow; with them a loop grows by
what it saves for its gradient: here two vectors per iteration, the factors of the product.
"""

from __future__ import annotations

import ctypes
import json
import resource
import subprocess
import sys
from pathlib import Path

SIZE = 1024
SAVED = 2 * 4 * SIZE  # bytes per iteration
FEW, MANY = 10, 10_000


def peak_mb(way: str, gradients: bool, iterations: int) -> float:
    """The most memory that this process needed for some steps of the loop."""
    sys.path.append(str(Path(__file__).parent.parent))
    import numpy as np

    import weft as tf
    from weft.core import flags

    with flags.CONTROL_FLOW.override(way):
        x = tf.placeholder(tf.float32, [SIZE])
        loop = tf.while_loop(
            lambda i, v: i < iterations, lambda i, v: (i + 1, v * tf.sigmoid(v) + 0.3), [0, x]
        )
        result = tf.gradients(loop[1], x)[0] if gradients else loop[1]
        with tf.Session() as session:
            for _ in range(4):  # interpreted, then compiled
                session.run(result, {x: np.ones(SIZE, np.float32)})
                return_freed_memory()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def return_freed_memory() -> None:
    """Gives what is free on the heap back to the system, where the C library can."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def in_new_process(way: str, gradients: bool, iterations: int) -> float:
    command = [sys.executable, __file__, "--one", way, str(int(gradients)), str(iterations)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def measure(way: str, gradients: bool) -> tuple[float, float]:
    """(megabytes that many iterations need more than few, what they should)."""
    grown = in_new_process(way, gradients, MANY) - in_new_process(way, gradients, FEW)
    return grown, (MANY - FEW) * SAVED / 2**20 if gradients else 0.0


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        way, gradients, iterations = sys.argv[2:]
        print(json.dumps(peak_mb(way, bool(int(gradients)), int(iterations))))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(caption=f"memory that {MANY:,} iterations need more than {FEW}")
    for name in ("loop", "gradients", "measured", "saved"):
        table.add_column(name, justify="right")
    for way, title in (("whole", "compiled whole"), ("bodies", "compiled bodies")):
        for gradients in (False, True):
            measured, predicted = measure(way, gradients)
            table.add_row(
                title, "yes" if gradients else "no", f"{measured:.0f} MB", f"{predicted:.0f} MB"
            )
    Console().print(table)


if __name__ == "__main__":
    main()
