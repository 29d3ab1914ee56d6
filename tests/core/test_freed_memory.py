"""Memory of arrays that are gone serves the next ones."""

import subprocess
import sys

import pytest

_PROGRAM = """
import resource
import numpy as np
import weft as tf

tf.Session().close()

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

np.ones(2**17)
before = faults()
for _ in range(100):
    np.ones(2**17)
print(faults() - before)
"""
_FEW = 100  # pages: each of the arrays has some tens of them, or hundreds


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's C library")
@pytest.mark.parametrize("chosen", [False, True])
def test_a_session_keeps_what_arrays_have_left(monkeypatch, chosen):
    if chosen:  # then it stays with that
        monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", str(2**17))
    run = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, check=True)
    assert (int(run.stdout) > _FEW) == chosen
