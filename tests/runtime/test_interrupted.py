"""An interrupt while XLA compiles: the process ends at once, by the signal, and cleanly."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from weft.runtime.xla.interrupts import interruptible

PROGRAM = """
import atexit, os, signal, sys, time
# A shell may start what is in the background with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np, weft as tf
from weft.runtime.xla import compile as compiling

x = tf.placeholder(tf.float32, [None, 300])
y = tf.matmul(x, x, transpose_b=True)
atexit.register(lambda: print("at exit"))
def forever():
    print("compiling", flush=True)
    try:
        time.sleep({seconds})
    except KeyboardInterrupt:
        os._exit(9)  # as C++ ends that meets an exception of Python's
with tf.Session() as session:
    if {imports}:
        compiling.import_hushed = forever
    else:
        for _ in range(3):
            session.run(y, {{x: np.ones([300, 300])}})
        compiling._compiled = lambda lowered, options: compiling.interruptible(forever)
    try:
        for _ in range(3):
            session.run(y, {{x: np.ones([301, 300])}})
    except KeyboardInterrupt:
        print("interrupted")
        {then}
"""


def interrupted(seconds: float, then: str, imports: bool = False) -> tuple[int, list[str], str]:
    """Exit code, output and complaints of a program that is interrupted while it compiles.

    Or while it imports jax.
    """
    program = PROGRAM.format(seconds=seconds, then=then, imports=imports)
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "compiling\n"
    process.send_signal(signal.SIGINT)
    output, complaints = process.communicate()
    return process.returncode, output.split("\n")[:-1], complaints


@pytest.mark.parametrize("imports", [False, True])
def test_an_interrupt_ends_the_process(imports: bool) -> None:
    code, output, complaints = interrupted(3600, "raise", imports)
    assert code == -signal.SIGINT
    assert output == ["interrupted", "at exit"]
    assert complaints.splitlines()[-1] == "KeyboardInterrupt"


def test_a_program_that_goes_on_ends_as_it_likes() -> None:
    code, output, complaints = interrupted(1, "sys.exit(3)")
    assert (code, output, complaints) == (3, ["interrupted", "at exit"], "")


def test_what_is_done_elsewhere_comes_back() -> None:
    assert interruptible(threading.current_thread) is not threading.main_thread()
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)
    found = []
    other = threading.Thread(target=lambda: found.append(interruptible(threading.current_thread)))
    other.start()
    other.join()
    assert found == [other]  # nobody interrupts any but the main thread


IGNORED = """
import gc, os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np, weft as tf

x = tf.placeholder(tf.float32, [300, 300])
y = tf.matmul(x, x)
with tf.Session() as session:
    for _ in range(3):
        session.run(y, {x: np.ones([300, 300])})  # jax is there

    def interrupt(phase, info):
        gc.callbacks.remove(interrupt)
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))

    gc.callbacks.append(interrupt)
    gc.collect()
    for _ in range(6000):
        time.sleep(0.01)
    print("the interrupt is lost")
"""


def test_an_interrupt_that_python_ignores_is_heeded() -> None:
    done = subprocess.run([sys.executable, "-c", IGNORED], capture_output=True, text=True)
    assert done.stdout == ""
    assert done.returncode == -signal.SIGINT
    assert "ignored" not in done.stderr
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"
