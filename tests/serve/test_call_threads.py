"""Threads for calls: as many as are needed at once, and everything is done once."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from weft.serve.call_threads import Call, CallThreads

_SECONDS = 30.0


@pytest.fixture
def threads() -> Iterator[CallThreads]:
    made = CallThreads(3, "calls")
    yield made
    made.close()


def test_calls_that_wait_hold_up_no_other(threads: CallThreads) -> None:
    barrier = threading.Barrier(3)
    met = [threading.Event() for _ in range(3)]

    def meet(event: threading.Event) -> None:
        barrier.wait(_SECONDS)
        event.set()

    for event in met:
        threads.submit(meet, event)
    assert all(event.wait(_SECONDS) for event in met)


def test_there_are_no_more_threads_than_are_needed(threads: CallThreads) -> None:
    names = set()
    for _ in range(20):
        done = threading.Event()
        threads.submit(lambda: names.add(threading.current_thread().name))
        threads.submit(done.set)
        assert done.wait(_SECONDS)
    assert names and names <= {"calls_1", "calls_2", "calls_3"}


def test_a_call_that_fails_ends_no_thread(
    threads: CallThreads, capsys: pytest.CaptureFixture[str]
) -> None:
    done = threading.Event()
    for _ in range(5):
        threads.submit(lambda: 1 / 0).add_done_callback(lambda call: None)
    threads.submit(done.set)
    assert done.wait(_SECONDS)


def test_what_comes_after_a_call_is_done_once(threads: CallThreads) -> None:
    done, counted, lock = threading.Event(), [0], threading.Lock()
    count = 2000

    def after(call: Call) -> None:
        with lock:
            counted[0] += 1
            if counted[0] == count:
                done.set()

    for _ in range(count):
        threads.submit(len, ()).add_done_callback(after)
    assert done.wait(_SECONDS)
    threads.submit(done.clear)
    assert counted == [count]


def test_threads_end(threads: CallThreads) -> None:
    gate, seen = threading.Event(), []
    for _ in range(3):
        threads.submit(gate.wait, _SECONDS)
    working = [t for t in threading.enumerate() if t.name.startswith("calls_")]
    threads.submit(seen.append, 1)
    threads.close()
    gate.set()
    for thread in working:
        thread.join(_SECONDS)
    assert len(working) == 3 and not any(t.is_alive() for t in working) and seen == [1]
