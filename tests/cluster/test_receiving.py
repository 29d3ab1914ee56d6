"""Answers that the thread which waits for them receives itself, and those that it does not."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

import weft as tf
from tests.cluster.test_frames import Echo
from weft.cluster.transport import outcome, wire
from weft.cluster.transport.frame_transport import FrameConnection, FrameServer

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def interrupts() -> Iterator[None]:
    """A process in the background of a shell ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def connection(echo: Echo) -> Iterator[FrameConnection]:
    server = FrameServer("localhost", {"/same": echo.same, "/wait": echo.wait})
    server.start()
    made = FrameConnection("localhost", server.port, "there", name=server.name)
    yield made
    made.close()
    server.close()


def ask(connection: FrameConnection, text: bytes) -> tuple[Any, str]:
    """The answer, received here if that can be, and the name of the thread that received it."""
    names: list[str] = []

    def decode(data: wire.Chunk) -> bytes:
        names.append(threading.current_thread().name)
        return bytes(data)

    call = connection.start("/same", [text], decode, here=True)
    return outcome.wait_watching(call, 10, lambda: None), names[0]


def test_who_waits_receives(connection: FrameConnection) -> None:
    mine = threading.current_thread().name
    answers = [ask(connection, b"%d" % i) for i in range(200)]
    assert [text for text, _ in answers] == [b"%d" % i for i in range(200)]
    assert [name for _, name in answers].count(mine) > 100


def test_after_a_while_the_connections_own_thread_is_back(connection: FrameConnection) -> None:
    for _ in range(20):
        ask(connection, b"x")
    time.sleep(0.5)
    assert ask(connection, b"x")[1] == "weft-frames"


def test_an_answer_that_nobody_waits_for_here(connection: FrameConnection, echo: Echo) -> None:
    for _ in range(20):
        ask(connection, b"x")
    # While this thread receives, and when none does.
    arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
    waits = threading.Thread(target=lambda: ask(connection, b"y"))
    connection.start("/same", [b"1"], bytes).deliver_to(lambda *pair: arrived.put(pair))
    waits.start()
    connection.start("/same", [b"2"], bytes).deliver_to(lambda *pair: arrived.put(pair))
    waits.join()
    start = time.monotonic()
    connection.start("/same", [b"3"], bytes).deliver_to(lambda *pair: arrived.put(pair))
    got = {arrived.get(timeout=10) for _ in range(3)}
    assert got == {(b"1", None), (b"2", None), (b"3", None)}
    assert time.monotonic() - start < 5


def test_many_threads_at_once(connection: FrameConnection) -> None:
    wrong: list[Any] = []

    def work(i: int) -> None:
        for j in range(300):
            text = b"%d %d" % (i, j)
            got, _ = ask(connection, text)
            if got != text:
                wrong.append((text, got))
            if j % 50 == i:
                time.sleep(0.12)  # long enough for the thread of the connection to come back

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == [] and not connection._calls


def test_who_receives_is_told_that_it_need_not(connection: FrameConnection, echo: Echo) -> None:
    """By somebody else, while the server says nothing."""
    for _ in range(20):
        ask(connection, b"x")
    call = connection.start("/wait", [], bytes, here=True)
    threading.Timer(0.3, call.cancel).start()
    start = time.monotonic()
    with pytest.raises(tf.errors.CancelledError):
        outcome.wait_watching(call, 60, lambda: None)
    assert time.monotonic() - start < 10
    assert ask(connection, b"after")[0] == b"after"


def test_an_interrupt_ends_the_wait_and_no_frame_is_taken_for_another(
    connection: FrameConnection, echo: Echo, interrupts: None
) -> None:
    for _ in range(20):
        ask(connection, b"x")

    def interrupt() -> None:
        assert echo.waiting.wait(10)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    call = connection.start("/wait", [], bytes, here=True)
    with pytest.raises(KeyboardInterrupt):
        outcome.wait_watching(call, 60, lambda: None)
    assert echo.gone.wait(10)
    if connection.is_open:
        assert ask(connection, b"after")[0] == b"after"
    else:
        with pytest.raises(tf.errors.UnavailableError):
            ask(connection, b"after")


def test_those_who_wait_receive_for_each_other(connection: FrameConnection) -> None:
    """Threads that call again and again need no thread more, or not for most of their answers."""
    names: list[str] = []

    def work() -> None:
        names.extend(ask(connection, b"x")[1] for _ in range(500))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert names.count("weft-frames") < len(names) / 2


def test_nobody_is_left_waiting_by_a_thread_that_has_its_answer(
    connection: FrameConnection, echo: Echo
) -> None:
    """It received for all, and does not come back."""
    times: list[float] = []

    def wait_long() -> None:
        call = connection.start("/wait", [], bytes, here=True)
        with pytest.raises(tf.errors.CancelledError):
            outcome.wait_watching(call, 60, lambda: None)

    def ask_once() -> None:
        start = time.monotonic()
        assert ask(connection, b"y")[0] == b"y"
        times.append(time.monotonic() - start)

    for _ in range(20):
        ask(connection, b"x")
    waits = threading.Thread(target=wait_long)
    waits.start()
    assert echo.waiting.wait(10)
    for _ in range(50):  # the first of the two may receive for the second, or not at all
        pair = [threading.Thread(target=ask_once) for _ in range(2)]
        for each in pair:
            each.start()
        for each in pair:
            each.join()
    connection.close()
    waits.join()
    assert len(times) == 100 and sorted(times)[90] < 0.05
