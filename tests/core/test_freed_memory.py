"""Memory of arrays that are gone serves the next ones."""

import ctypes
import subprocess
import sys
import types

import pytest

from weft.core import freed_memory, machine

_PROGRAM = """
import resource, threading
import numpy as np
import weft as tf

tf.Session().close()
found = []

def count():
    def faults():
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    np.ones({size})
    before = faults()
    for _ in range(20):
        np.ones({size})
    found.append(faults() - before)

if {in_thread}:
    thread = threading.Thread(target=count)
    thread.start()
    thread.join()
else:
    count()
print(*found)
"""
_FEW = 100  # pages: each of the arrays has some tens of them, or hundreds


def _faults(size: int, in_thread: bool) -> int:
    program = _PROGRAM.format(size=size, in_thread=in_thread)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return int(run.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's C library")
@pytest.mark.parametrize("chosen", [False, True])
def test_a_session_keeps_what_arrays_have_left(monkeypatch, chosen):
    if chosen:  # then it stays with that
        monkeypatch.setenv("MALLOC_MMAP_THRESHOLD_", str(2**17))
    assert (_faults(2**17, in_thread=False) > _FEW) == chosen


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's C library")
@pytest.mark.skipif(machine.free() < 1 << 32, reason="so much is not little on a small machine")
@pytest.mark.parametrize("in_thread", [False, True])
def test_it_keeps_large_ones_of_any_thread(in_thread):
    if in_thread and machine.cores() > 4:
        pytest.skip("on many cores threads have arenas of their own")
    assert _faults(5 << 20, in_thread) < _FEW  # 40 MB


@pytest.mark.parametrize("cores", [2, 16])
@pytest.mark.parametrize(
    "free, largest", [(1 << 30, 1 << 25), (1 << 33, 1 << 27), (1 << 40, 1 << 28)]
)
def test_it_keeps_what_is_little_next_to_the_memory(monkeypatch, free, largest, cores):
    chosen = {}
    library = types.SimpleNamespace(mallopt=lambda name, value: chosen.update({name: value}) or 1)
    monkeypatch.setattr(freed_memory, "_CHOSEN_BY_USER", ())
    monkeypatch.setattr(machine, "free", lambda: free)
    monkeypatch.setattr(machine, "cores", lambda: cores)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    monkeypatch.setattr(sys, "platform", "linux")
    freed_memory.keep_freed_memory.__wrapped__()
    assert chosen == {-3: largest, -1: 4 * largest} | ({-8: 1} if cores == 2 else {})
