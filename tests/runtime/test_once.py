"""Chains that XLA would compute again for each use are cut, and still give the same values."""

import numpy as np
import pytest

import weft as tf
from weft.runtime.xla.cut_fusion import MOST_AGAIN, compute_once, cuts


def chain(length, uses):
    """Steps of a chain whose every link is used by `uses` kernels besides the next link."""
    steps, last = [("cheap", [])], 0
    for _ in range(length):
        steps.append(("cheap", [last]))
        last = len(steps) - 1
        for _ in range(uses):
            steps += [("cheap", [last]), ("apart", [len(steps)])]
    return steps


def test_a_chain_is_cut_once_in_a_while():
    found = cuts(chain(100, uses=1))
    assert len(found) == 100 // (MOST_AGAIN + 1)
    assert all(kind == "cheap" for kind in (chain(100, uses=1)[i][0] for i in found))


def test_a_chain_that_ends_in_one_kernel_is_left_alone():
    assert cuts(chain(200, uses=0)) == []
    diamonds = [("cheap", [])]
    for _ in range(50):
        top = len(diamonds) - 1
        diamonds += [("cheap", [top]), ("cheap", [top]), ("cheap", [top + 1, top + 2])]
    assert cuts([*diamonds, ("apart", [len(diamonds) - 1])]) == []


def test_what_is_stored_anyway_starts_anew():
    steps = [("cheap", [])]
    steps += [("apart" if i % 10 == 9 else "cheap", [i]) for i in range(60)]
    assert cuts([*steps, *(("apart", [i]) for i in range(0, 60, 3))]) == []
    # XLA does not do a division twice, so nothing before it is done twice either.
    divisions = [("dear" if i % 10 == 9 else kind, s) for i, (kind, s) in enumerate(steps)]
    assert cuts([*divisions, *(("cheap", [i]) for i in range(60) if i % 10 == 9)]) == []


def test_constants_do_not_count():
    """Each of many links takes a new constant; only the links are done again."""
    steps = [("free", [])]
    for _ in range(MOST_AGAIN):
        steps += [("cheap", [len(steps) - 1, len(steps) - 2]), ("free", [])]
    last = len(steps) - 2
    steps += [("cheap", [last]), ("cheap", [last])]
    assert cuts(steps) == []


@pytest.mark.on_host
def test_a_chain_of_a_step_is_cut(sess, monkeypatch):
    counts = []
    monkeypatch.setattr(
        "weft.runtime.xla.compile.compute_once", lambda module: counts.append(compute_once(module))
    )
    x = tf.placeholder(tf.float32, [24, 4000])
    state, losses = tf.zeros([4000]), []
    for now in tf.unstack(x):
        state = state * now + 1.0
        losses.append(tf.reduce_sum(tf.square(state)))
    value = np.random.RandomState(0).uniform(0.2, 1.0, [24, 4000]).astype(np.float32)
    first, second = (sess.run(losses, {x: value}) for _ in range(2))
    assert len(counts) == 1 and counts[0] >= 2
    np.testing.assert_allclose(second, first, rtol=1e-4)


BEFORE_REDUCTIONS = [
    # How many cuts a sum makes of what is computed element by element before it.
    (lambda x: tf.tanh(x) * 2 + tf.exp(-x * x), [300, 300], 1),
    (lambda x: tf.tanh(x) * 2 + tf.exp(-x * x), [30, 30], 0),
    (tf.square, [300, 300], 0),
    (lambda x: tf.matmul(x, x, transpose_a=True), [300, 300], 1),  # a product of XLA's
    (lambda x: tf.cast(tf.cast(x, tf.uint8), tf.float32) / 255.0, [300, 300], 1),
]


@pytest.mark.on_host
@pytest.mark.parametrize(("compute", "shape", "count"), BEFORE_REDUCTIONS)
def test_a_long_chain_is_cut_off_a_large_reduction(sess, monkeypatch, compute, shape, count):
    counts = []
    monkeypatch.setattr(
        "weft.runtime.xla.compile.compute_once", lambda module: counts.append(compute_once(module))
    )
    monkeypatch.setattr("weft.runtime.xla.region.Region._is_heavy", True)
    x = tf.placeholder(tf.float32, shape)
    total = tf.reduce_sum(compute(x))
    value = np.random.RandomState(0).uniform(0.0, 9.0, shape).astype(np.float32)
    compiled = sess.run(total, {x: value})
    assert counts == [count]
    with tf.Session(config=tf.ConfigProto(), graph=sess.graph) as other:
        monkeypatch.setattr("weft.core.flags.XLA.value", False)
        np.testing.assert_allclose(compiled, other.run(total, {x: value}), rtol=1e-4)


@pytest.mark.on_host
def test_a_chain_is_cut_off_in_the_shape_it_is_computed_in(sess, monkeypatch):
    modules = []
    monkeypatch.setattr(
        "weft.runtime.xla.compile.compute_once",
        lambda module: modules.append((compute_once(module), str(module))),
    )
    monkeypatch.setattr("weft.runtime.xla.region.Region._is_heavy", True)
    x = tf.placeholder(tf.float32, [300, 300])
    total = tf.reduce_sum(tf.reshape(tf.tanh(x) * 2 + tf.exp(-x * x), [-1, 9]), 0)
    sess.run(total, {x: np.ones([300, 300], np.float32)})
    ((count, text),) = modules
    assert count == 1 and "func private @weft_keep_0(%arg0: tensor<300x300xf32>)" in text


@pytest.mark.on_host
def test_parts_of_kernels_that_stay_apart(sess, monkeypatch):
    """Random blocks are computed once, whatever uses their words."""
    texts = []

    def noted(module):
        compute_once(module)
        texts.append(str(module))

    monkeypatch.setattr("weft.runtime.xla.compile.compute_once", noted)
    drawn = tf.reduce_max(tf.random_normal([20000], seed=1))
    assert len({float(sess.run(drawn)) for _ in range(3)}) == 3
    calls = [line for line in texts[-1].splitlines() if "call @weft_apart_" in line]
    assert len(calls) == 2 and all('inlineable = "false"' in line for line in calls)


@pytest.mark.on_host
@pytest.mark.parametrize("dtype", [tf.uint8, tf.float32])
def test_a_resized_image_is_an_array_before_it_is_cut(sess, monkeypatch, dtype):
    texts = []

    def noted(module):
        compute_once(module)
        texts.append(str(module))

    monkeypatch.setattr("weft.runtime.xla.compile.compute_once", noted)
    monkeypatch.setattr("weft.runtime.xla.region.Region._is_heavy", True)
    images = np.random.RandomState(0).randint(0, 256, [2, 90, 120, 3])
    x, at = tf.placeholder(dtype, [2, 90, 120, 3]), tf.placeholder(tf.int32, [])
    small = tf.image.resize_bilinear(x, [64, 48])
    piece = tf.slice(small, [0, at, at, 0], [2, 32, 32, 3])
    whole = sess.run(small, {x: images})
    found = sess.run(piece, {x: images, at: 5})
    np.testing.assert_array_equal(found, whole[:, 5:37, 5:37])
    calls = [line for line in texts[-1].splitlines() if "call @weft_apart_bilinear" in line]
    assert len(calls) == 1 and 'inlineable = "false"' in calls[0]
    with tf.Session(config=tf.ConfigProto(), graph=sess.graph) as other:
        monkeypatch.setattr("weft.core.flags.XLA.value", False)
        np.testing.assert_allclose(found, other.run(piece, {x: images, at: 5}), rtol=1e-5)
