"""Steps that had to wait leave nothing behind that only a collection of garbage would free.

Collections take as long as a good part of a short step, and until one comes, what a step has
computed stays in memory.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.runtime.xla import names

STEPS = 20
Case = tuple[tf.Session, Any, dict[Any, Any]]


@contextlib.contextmanager
def queue() -> Iterator[Case]:
    numbers = tf.FIFOQueue(10, tf.float32)
    with tf.Session() as session:
        yield session, [numbers.dequeue(), numbers.enqueue(1.0)], {}


@contextlib.contextmanager
def devices() -> Iterator[Case]:
    x = product = tf.placeholder(tf.float32, [200, 200])
    for device in ("/cpu:1", "/cpu:0", "/cpu:1"):
        with tf.device(device):
            product = tf.matmul(product, product)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        yield session, product, {x: np.eye(200)}


@contextlib.contextmanager
def tasks() -> Iterator[Case]:
    workers, servers = tf.test.create_local_cluster(1, 1)
    with tf.device("/job:ps"):
        total = tf.Variable(tf.zeros([16]))
    with tf.device("/job:worker"):
        more = tf.identity(total) + 1.0
    with tf.device("/job:ps"):
        step = tf.assign(total, more).op
    with tf.Session(workers[0].target) as session:
        session.run(total.initializer)
        yield session, step, {}
    for each in [*workers, *servers]:
        each.stop()


def _is_ours(thing: Any) -> bool:
    module = getattr(type(thing), "__module__", None) or ""
    return module.startswith("weft") or getattr(thing, "__module__", "").startswith("weft")


@contextlib.contextmanager
def _garbage() -> Iterator[list[str]]:
    """The kinds of weft's objects that came to lie about inside: filled at the end."""
    found: list[str] = []
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        found += [type(thing).__qualname__ for thing in gc.garbage if _is_ours(thing)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("case", [queue, devices, tasks])
def test_a_step_that_waited_leaves_no_garbage(
    case: Callable[[], contextlib.AbstractContextManager[Case]],
) -> None:
    with case() as (session, step, feeds):
        for _ in range(STEPS):
            session.run(step, feeds)
        with _garbage() as found:
            for _ in range(STEPS):
                session.run(step, feeds)
    assert len(found) < STEPS, found  # connections that were made meanwhile leave a few


def test_a_program_that_takes_the_name_of_another_leaves_no_garbage() -> None:
    class Executable:
        pass

    def run() -> None:
        pass

    run.__name__ = "weft_of_this_test"
    run.__dict__["nodes"] = frozenset({"node"})
    executables = [Executable() for _ in range(STEPS)]
    with _garbage() as found:
        for executable in executables:
            names.note_program(run, executable)
    assert len(found) < STEPS, found
    assert names._programs[run.__name__].executable() is executables[-1]
    executables.pop(0)
    assert run.__name__ in names._programs
    del executable
    executables.clear()
    assert run.__name__ not in names._programs
