"""Messages in memory that two channels can see."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import weft as tf
from tests.cluster.conftest import ROOT, cluster_of
from weft.cluster.transport import shared_memory
from weft.cluster.transport.frames import RESPONSE, Channel, Closed
from weft.core import flags

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(not shared_memory.IS_POSSIBLE, reason="Linux has it, others do not"),
]
LARGE = 3 * shared_memory.SMALLEST


@pytest.fixture
def channels() -> Iterator[tuple[Channel, Channel]]:
    """Both ends of a socket, that have come to terms about memory."""
    with socket.create_server(("localhost", 0)) as listener:
        here = Channel(socket.create_connection(listener.getsockname()))
        there = Channel(listener.accept()[0])
    pair = here, there
    for end in pair:
        end.offer_memory()
    for end, other in (pair, pair[::-1]):
        end.send(RESPONSE, 0)
        assert other.receive().call == 0
    for end, other in (pair, pair[::-1]):  # now the answers to the offers
        end.send(RESPONSE, 1)
        assert other.receive().call == 1
    yield pair
    for end in pair:
        end.release()


def payload(seed: int, size: int = LARGE) -> bytes:
    return np.random.default_rng(seed).bytes(size)


def test_a_large_message_goes_by_memory(channels: tuple[Channel, Channel]) -> None:
    here, there = channels
    message = payload(0)
    here.send(RESPONSE, 7, "name", [message[:10], b"", memoryview(message)[10:]])
    frame = there.receive()
    assert frame[:3] == (RESPONSE, 7, "name") and frame.data == message
    assert here._pool is not None and len(here._pool._segments) == 1
    assert memoryview(frame.data).readonly


def test_a_segment_is_written_again_when_nobody_reads_it(
    channels: tuple[Channel, Channel],
) -> None:
    here, there = channels
    for i in range(5):
        here.send(RESPONSE, i, "", [payload(i)])
        array = np.frombuffer(there.receive().data, np.uint8)[5:]
        assert array.tobytes() == payload(i)[5:]
        del array
        there.send(RESPONSE, i)
        here.receive()
    assert here._pool is not None and len(here._pool._segments) == 1


def test_what_is_kept_is_not_written_over(channels: tuple[Channel, Channel]) -> None:
    here, there = channels
    kept = []
    for i in range(3):
        here.send(RESPONSE, i, "", [payload(i)])
        kept.append(np.frombuffer(there.receive().data, np.uint8))
        there.send(RESPONSE, i)
        here.receive()
    assert [each.tobytes() for each in kept] == [payload(i) for i in range(3)]


def test_unused_segments_do_not_pile_up(
    channels: tuple[Channel, Channel], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = channels
    monkeypatch.setattr(shared_memory, "_MOST_UNUSED", 2 * LARGE)
    frames = []
    for i in range(6):
        here.send(RESPONSE, i, "", [payload(i)])
        frames.append(there.receive())
    frames.clear()
    for i in range(2):  # releases, then what was dropped because of them
        there.send(RESPONSE, i)
        here.receive()
        here.send(RESPONSE, i)
        there.receive()
    assert here._pool is not None and there._views is not None
    assert len(here._pool._segments) == len(there._views._maps) == 2


@pytest.mark.parametrize("limit", ["_MOST_BYTES", "_MOST_SEGMENTS"])
def test_what_does_not_fit_goes_by_the_socket(
    channels: tuple[Channel, Channel], monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    here, there = channels
    monkeypatch.setattr(shared_memory, limit, 0)
    sender = threading.Thread(target=here.send, args=(RESPONSE, 1, "", [payload(0)]))
    sender.start()
    assert there.receive().data == payload(0)
    sender.join()
    assert here._pool is not None and not here._pool._segments


def test_an_offer_of_a_process_out_of_reach_is_not_accepted() -> None:
    offer = shared_memory.Offer()
    assert shared_memory.accept(offer.message) is not None
    wrong = bytearray(offer.message)
    wrong[-1] ^= 1
    assert shared_memory.accept(bytes(wrong)) is None
    offer.close()
    assert shared_memory.accept(offer.message) is None


def test_a_place_that_is_none_ends_the_connection(channels: tuple[Channel, Channel]) -> None:
    here, there = channels
    here.send(RESPONSE | 16, 1, "", [shared_memory.Place(99, 9999, 10, 10).pack()])
    with pytest.raises(Closed):
        there.receive()


NOTHING_IS_HELD = """
import os, socket
from weft.cluster.transport.frames import RESPONSE, Channel

def files():
    links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return sorted(os.readlink(link) for link in links if os.path.lexists(link))

before = files()
ends = here, there = [Channel(end) for end in socket.socketpair()]
for end in ends:
    end.offer_memory()
for _ in range(2):  # the offers, then the answers to them
    for end, other in ((here, there), (there, here)):
        end.send(RESPONSE, 0)
        other.receive()
here.send(RESPONSE, 7, "", [bytes(1 << 20)])
assert len(there.receive().data) == 1 << 20 and here._pool is not None
assert any("memfd:weft" in link for link in files())
for end in ends:
    end.release()
print("left open:", set(files()) - set(before))
"""


def test_a_channel_that_has_ended_holds_no_memory_and_no_file() -> None:
    """Even if something holds the channel, as calls under way do until they are collected."""
    child = subprocess.run(
        [sys.executable, "-c", NOTHING_IS_HELD], cwd=ROOT, capture_output=True, text=True
    )
    assert child.stdout == "left open: set()\n", child.stderr


CHILD = """
import sys
import weft as tf
spec = {"a": sys.argv[1].split(",")}
server = tf.train.Server(spec, "a", 1)
print("up", flush=True)
sys.stdin.read()
"""


@pytest.mark.cluster
@pytest.mark.parametrize("shared", [False, True])
def test_arrays_between_processes(shared: bool) -> None:
    spec = cluster_of(a=2)
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, ",".join(spec["a"])],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
        env={**os.environ, "WEFT_SHARED_MEMORY": str(int(shared))},
    )  # fmt: skip
    try:
        assert child.stdout is not None and child.stdout.readline() == b"up\n"
        with flags.SHARED_MEMORY.override(shared):
            there_and_back(spec)
    finally:
        child.kill()
        child.communicate()


def there_and_back(spec: dict[str, list[str]]) -> None:
    server = tf.train.Server(spec, "a", 0)
    x = tf.placeholder(tf.float32, [None])
    with tf.device("/job:a/task:0"):
        mine = x + 1.0
    with tf.device("/job:a/task:1"):
        kept = tf.Variable(tf.zeros([300_000]))
        store = tf.assign(kept, mine * 2.0)
    with tf.device("/job:a/task:0"):
        back = tf.identity(store) - 1.0
        copy = tf.Variable(tf.zeros([300_000]))
        take = tf.assign(copy, tf.identity(kept)).op
    with tf.Session(server.target) as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(6):
            values = np.arange(300_000, dtype=np.float32) + i
            np.testing.assert_array_equal(sess.run(back, {x: values}), 2 * values + 1)
            if i == 3:
                sess.run(take)  # what it took is not written over by later steps
        np.testing.assert_array_equal(sess.run(copy), 2 * np.arange(300_000) + 2 * 3 + 2)
    server.stop()
