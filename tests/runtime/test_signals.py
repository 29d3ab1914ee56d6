"""Ctrl-C while a step waits, also when the system gives the signal to another thread."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator

import pytest

import weft as tf
from weft.runtime.xla.interrupts import interruptible


@pytest.fixture
def interrupted() -> Iterator[threading.Thread]:
    """A thread that gets the signal in place of the main thread, which waits by then."""

    def interrupt() -> None:
        time.sleep(0.3)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        yield thread
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("served", [False, True], ids=["here", "by a server"])
def test_a_step_that_waits_for_a_queue(
    interrupted: threading.Thread, devices: int, served: bool
) -> None:
    config = tf.ConfigProto(device_count={"CPU": devices})
    with tf.device("/cpu:0"):
        queue = tf.FIFOQueue(3, tf.float32, shapes=[()])
        taken = queue.dequeue()
    with tf.device(f"/cpu:{devices - 1}"):
        result = taken * 2.0
    with contextlib.ExitStack() as stack:
        server = tf.train.Server.create_local_server(config=config) if served else None
        if server is not None:
            stack.callback(server.stop)
        sess = stack.enter_context(tf.Session(server.target if server else "", config=config))
        interrupted.start()
        with pytest.raises(KeyboardInterrupt):
            sess.run(result)
        sess.run(queue.enqueue(3.0))
        assert sess.run(result) == 6


@pytest.mark.timeout(20)
def test_work_on_another_thread(interrupted: threading.Thread) -> None:
    goes_on = threading.Event()
    interrupted.start()
    with pytest.raises(KeyboardInterrupt):
        interruptible(goes_on.wait)
    goes_on.set()
