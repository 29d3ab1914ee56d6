"""Values that stay in a session between steps, and the clock that tells steps apart."""

from __future__ import annotations

import time

import pytest

import weft as tf


def kept(session: tf.Session) -> int:
    from weft.ops.state.session_tensors import kept_tensors

    return len(kept_tensors(session._runner.store))


def test_a_value_goes_from_step_to_step(sess) -> None:
    handle = sess.run(tf.get_session_handle(tf.constant(1)))
    holder, x = tf.get_session_tensor(handle.handle, tf.int32)
    following = tf.get_session_handle(x + 1)
    for _ in range(5):
        handle = sess.run(following, {holder: handle.handle})
    assert handle.eval() == 6
    assert kept(sess) == 1  # the earlier ones went with their handles
    assert str(handle).startswith(following.op.name + ";")


def test_handles_in_structures(sess) -> None:
    a = tf.constant([1.0, 2.0])
    found = sess.run({"h": (tf.get_session_handle(a), a)})
    assert found["h"][0].eval().tolist() == found["h"][1].tolist() == [1.0, 2.0]


def test_a_handle_is_fed_like_its_value(sess) -> None:
    a = tf.constant(2.0)
    square = a * a
    handle = sess.run(tf.get_session_handle(tf.constant(5.0)))
    assert sess.run(square, {a: handle}) == 25.0
    assert sess.run([a, square], {a: handle, square: handle}) == [5.0, 5.0]


def test_deleting(sess) -> None:
    fetch = tf.get_session_handle(tf.constant(1.0))
    handle = sess.run(fetch)
    handle.delete()
    assert kept(sess) == 0
    with pytest.raises(TypeError, match="already been deleted"):
        handle.eval()
    raw = sess.run(fetch).get_raw_handle()
    assert kept(sess) == 1
    holder, deleter = tf.delete_session_tensor(raw)
    sess.run(deleter, {holder: raw})
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
        sess.run(deleter, {holder: raw})


def test_mistakes(sess) -> None:
    with pytest.raises(TypeError, match="must be of type Tensor"):
        tf.get_session_handle(3)
    holder, x = tf.get_session_tensor("gone;1;/device:CPU:0", tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="'gone' is not"):
        sess.run(x, {holder: "gone"})


def test_timestamp(sess) -> None:
    now = tf.timestamp()
    first = sess.run(now)
    assert abs(first - time.time()) < 60
    assert sess.run(now) > first
