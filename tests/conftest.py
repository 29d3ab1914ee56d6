"""What every test gets: a fresh default graph, and a check of what it leaves behind."""

from __future__ import annotations

import gc
import os
import random
import threading
import time
from collections.abc import Iterator
from typing import Any

# Before weft reads its switches: verify every stage; keep out of the user's compile cache. What XLA
# compiles, also in processes that tests start, is kept in the checkout for the next run.
os.environ.setdefault("WEFT_CHECK", "1")
os.environ.setdefault("WEFT_CACHE", "0")
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", os.path.abspath(f"{__file__}/../../.pytest_cache/compiled")
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.02")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "0")

import numpy as np
import pytest

import weft as tf
from weft.client.session import _open_sessions
from weft.ops.kit import philox
from weft.runtime.devices.device import accelerators

THREAD_SECONDS = 2.0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Who gives tests to the processes of `--dist loadfile`."""
    from tests.sharing import FileByFile

    return FileByFile(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Modules and tests stay: the garbage collector need not go through them again and again.

    Nor need it come for each few hundred nodes of a graph.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In one of several processes, tests come in the order in which they are shared."""
    if hasattr(config, "workerinput"):
        from tests.sharing import comes_later

        items.sort(key=comes_later)


@pytest.fixture(autouse=True)
def leaves_nothing_behind() -> Iterator[None]:
    """A new default graph; afterwards no open session and no thread that was not there before."""
    threads = set(threading.enumerate())
    sessions = set(_open_sessions)
    tf.reset_default_graph()
    yield
    left = [f"session {each}" for each in _sessions_since(sessions)]
    left += [f"thread {each.name}" for each in _threads_since(threads)]
    tf.reset_default_graph()
    if left:
        pytest.fail("the test leaves behind: " + ", ".join(left))


def _sessions_since(before: set) -> list:
    until = time.monotonic() + THREAD_SECONDS
    while set(_open_sessions) - before:
        gc.collect()  # sessions nobody holds any more are not left behind
        if time.monotonic() > until:
            break
        time.sleep(0.01)  # a thread that compiles for one holds it as long as it does
    opened = [each for each in _open_sessions if each not in before]
    for each in opened:
        each.close()
    return opened


def _threads_since(before: set[threading.Thread]) -> list[threading.Thread]:
    until = time.monotonic() + THREAD_SECONDS
    # One that is only about to start (a pool's, in the background) cannot be waited for yet.
    started = [each for each in threading.enumerate() if each.ident and each not in before]
    # The process has one to listen to signals, made when it is first needed.
    started = [each for each in started if each.name != "weft-interrupts"]
    for each in started:
        each.join(max(0.0, until - time.monotonic()))
    return [each for each in started if each.is_alive()]


@pytest.fixture(autouse=True)
def draws_the_same_in_every_run(request: pytest.FixtureRequest) -> Iterator[None]:
    """What nobody seeded is seeded by the name of the test, in this process."""
    numbers, patch = random.Random(request.node.nodeid), pytest.MonkeyPatch()
    np.random.seed(numbers.getrandbits(32))
    patch.setattr(philox, "_from_system", numbers.randbytes)
    yield
    patch.undo()


@pytest.fixture(autouse=True)
def hides_accelerators(request: pytest.FixtureRequest) -> Iterator[None]:
    """For tests marked `on_host`."""
    hide = request.node.get_closest_marker("on_host") is not None and accelerators()
    if not hide:
        yield
        return
    import jax

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weft.runtime.devices.device.accelerators", lambda: ())
        with jax.default_device(jax.local_devices(backend="cpu")[0]):
            yield


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(0)


@pytest.fixture
def sess() -> Iterator[tf.Session]:
    """A session on the default graph, closed after the test."""
    with tf.Session() as session:
        yield session
