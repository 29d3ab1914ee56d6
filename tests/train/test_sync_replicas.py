"""SyncReplicasOptimizer with the replicas of one process: threads that share a session."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

import weft as tf
from weft.lib.train.optimizers.sync_replicas import SyncReplicasOptimizer


def model(replicas: int, total: int | None = None, **kwargs):
    """One replica's graph: a dense and a sparse variable, gradients that are fed."""
    step = tf.train.get_or_create_global_step()
    w = tf.get_variable("w", initializer=np.zeros(2, np.float32))
    table = tf.get_variable("table", initializer=np.zeros([4, 2], np.float32))
    g = tf.placeholder(tf.float32, [2])
    rows = tf.placeholder(tf.int32, [None])
    sparse = tf.IndexedSlices(tf.ones([tf.size(rows), 2]), rows, tf.constant([4, 2]))
    optimizer = SyncReplicasOptimizer(
        tf.train.GradientDescentOptimizer(1.0), replicas, total, **kwargs
    )
    train = optimizer.apply_gradients([(g, w), (sparse, table)], global_step=step)
    return optimizer, train, step, w, table, g, rows


def test_needs_a_global_step_and_gradients() -> None:
    optimizer = SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 2)
    with pytest.raises(ValueError, match="Must supply at least one variable"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="Global step is required to check staleness"):
        optimizer.apply_gradients([(1.0, None)])
    with pytest.raises(ValueError, match="Should be called after apply_gradients"):
        optimizer.get_chief_queue_runner()
    with pytest.raises(ValueError, match=r"should be called after apply_gradients\(\)"):
        optimizer.get_init_tokens_op()


def test_two_replicas_make_one_update() -> None:
    optimizer, train, step, w, table, g, rows = model(2)
    init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
    feeds = [{g: [1.0, 2.0], rows: [0, 1]}, {g: [3.0, 6.0], rows: [1, 3]}]
    with tf.Session() as session:
        session.run(init)
        session.run(optimizer.chief_init_op)
        coordinator = tf.train.Coordinator()
        runner = optimizer.get_chief_queue_runner()
        threads = runner.create_threads(session, coord=coordinator, daemon=True, start=True)
        steps = [
            threading.Thread(target=session.run, args=(train, feed), daemon=True) for feed in feeds
        ]
        for thread in steps:
            thread.start()
        for thread in steps:
            thread.join(20)
            assert not thread.is_alive()
        np.testing.assert_allclose(session.run(w), [-2.0, -4.0])
        # A row gets the mean over those replicas that have a gradient for it.
        wanted = [[-1, -1], [-1, -1], [0, 0], [-1, -1]]
        np.testing.assert_allclose(session.run(table), wanted)
        assert session.run(step) == 1
        coordinator.request_stop()
        session.close()
        coordinator.join(threads, stop_grace_period_secs=10)


def test_tokens() -> None:
    optimizer, *_ = model(3, 5)
    size = optimizer._sync_token_queue.size()
    with pytest.raises(ValueError, match="Too few tokens to finish the first step: -3"):
        optimizer.get_init_tokens_op(-3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(optimizer.get_init_tokens_op())
        assert session.run(size) == 3
        session.run(optimizer.get_init_tokens_op(0))
        assert session.run(size) == 3


# The chief's queue runner still waits for gradients when its session is closed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_hook_starts_the_chief() -> None:
    optimizer, train, step, w, _, g, rows = model(1)
    hook = optimizer.make_session_run_hook(is_chief=True)
    assert hook._sync_optimizer is optimizer  # by which programs tell the hooks of two optimizers
    with tf.train.MonitoredTrainingSession(hooks=[hook], stop_grace_period_secs=1) as session:
        for _ in range(3):
            session.run(train, {g: [1.0, 1.0], rows: [0]})
        assert session.run(step) >= 2
        assert session.run(w)[0] <= -2


def test_slots_are_those_of_the_inner_optimizer() -> None:
    v = tf.get_variable("v", initializer=1.0)
    inner = tf.train.AdamOptimizer()
    optimizer = SyncReplicasOptimizer(inner, 1)
    loss = v * v
    optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(v, "m") is inner.get_slot(v, "m")
    assert optimizer.variables() == inner.variables()


def test_the_end_does_not_wait_for_gradients_that_never_come() -> None:
    optimizer, train, _, _, _, g, rows = model(1)
    hook = optimizer.make_session_run_hook(is_chief=True)
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(train, {g: [1.0, 2.0], rows: [0]})
        session.run(train, {g: [1.0, 2.0], rows: [0]})
        start = time.monotonic()
    assert time.monotonic() - start < 10


def test_a_worker_that_is_there_before_the_chief_after_a_failure() -> None:
    """The parameter server that lives on has counted further than the checkpoint."""
    optimizer, _, step, w, _, g, rows = model(2)
    operations = tf.get_default_graph().get_operations()
    hand_in = [each for each in operations if each.type.endswith("ApplyGradient")]
    update = optimizer.get_chief_queue_runner().enqueue_ops
    feeds = {g: [1.0, 2.0], rows: [0]}
    limit = tf.RunOptions(timeout_in_ms=20_000)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(3):
            session.run(optimizer.chief_init_op)
            for _ in range(2):
                session.run(hand_in, feeds)
            session.run(update, options=limit)
        session.run(step.assign(1))  # restored
        session.run(optimizer.local_step_init_op)
        for _ in range(2):
            session.run(hand_in, feeds)
        session.run(optimizer.chief_init_op)
        session.run(update, options=limit)
        assert session.run(step) == 2
        np.testing.assert_allclose(session.run(w), [-4.0, -8.0])
