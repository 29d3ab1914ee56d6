"""A loop needs no more memory for more iterations; with gradients, as much as it saves."""

import tracemalloc

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.runtime.xla import region

SIZE = 512
ONES = np.ones(SIZE, np.float32)


def loop(iterations, gradients):
    """A result, and how many bytes the loop saves: the two factors of a product each time."""
    x = tf.placeholder(tf.float32, [SIZE])
    _, y = tf.while_loop(
        lambda i, v: i < iterations, lambda i, v: (i + 1, v * tf.sigmoid(v) + 0.3), [0, x]
    )
    if not gradients:
        return x, y, 0
    return x, tf.gradients(y, x)[0], iterations * 2 * ONES.nbytes


def peak_of_bodies(iterations, gradients):
    """The most bytes that arrays of the host took in a step, beyond what there was."""
    with flags.CONTROL_FLOW.override("bodies"), tf.Graph().as_default(), tf.Session() as sess:
        x, y, saved = loop(iterations, gradients)
        sess.run(y, {x: ONES})
        tracemalloc.start()
        try:
            sess.run(y, {x: ONES})
            return tracemalloc.get_traced_memory()[1], saved
        finally:
            tracemalloc.stop()


def buffers_of_whole(iterations, gradients, monkeypatch):
    """The bytes of buffers that the compiled program allocates for itself."""
    programs = []
    original = region.compile_region

    def keep(*args):
        programs.append(original(*args))
        return programs[-1]

    monkeypatch.setattr(region, "compile_region", keep)
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y, saved = loop(iterations, gradients)
        for _ in range(3):
            sess.run(y, {x: ONES})
    return max(p.call.memory_analysis().temp_size_in_bytes for p in programs), saved


def test_a_loop_without_gradients_does_not_grow(monkeypatch):
    few, many = (peak_of_bodies(n, False)[0] for n in (10, 2_000))
    assert many < few + 10 * ONES.nbytes
    few, many = (buffers_of_whole(n, False, monkeypatch)[0] for n in (2_000, 10_000))
    assert many == few


@pytest.mark.parametrize("iterations", [100, 1_000])
def test_a_loop_with_gradients_grows_by_what_it_saves(iterations, monkeypatch):
    peak, saved = peak_of_bodies(iterations, True)
    # Each saved array is an object too, of some hundred bytes, on two stacks.
    assert saved <= peak < saved + iterations * 2 * 300 + 100 * ONES.nbytes
    buffers, saved = buffers_of_whole(iterations, True, monkeypatch)
    assert saved <= buffers < saved + 20 * ONES.nbytes
