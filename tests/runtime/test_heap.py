"""Steps use the memory of those before."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from weft.core.processes import MEMORY

# Prints how many pages each of five steps, which give 128 MB, asks the system for. The caller has
# what a step gives until it lets go, so that the heap takes some steps to settle.
PROGRAM = """
import os, resource
import weft as tf
x = tf.get_variable("x", [16 << 20], initializer=tf.ones_initializer())
both = [x * 2.0, x + 1.0]
with tf.Session() as session:
    session.run(x.initializer)
    faults = []
    for _ in range(80):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        session.run(both)
        faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(*faults[75:], flush=True)
os._exit(0)
"""


def faults(**environment: str) -> list[int]:
    root = Path(__file__).parents[2]
    variables = {**os.environ, "PYTHONPATH": str(root), **environment}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return [int(number) for number in done.stdout.split()]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other C libraries")
def test_a_group_keeps_its_memory():
    pages = (128 << 20) // resource.getpagesize()
    gives_back = {"MALLOC_MMAP_THRESHOLD_": str(1 << 17)}
    assert sorted(faults(**MEMORY))[2] < pages / 8 < sorted(faults(**gives_back))[2]
