"""Optimizers of tf.contrib.opt for workers that meet now and then, or count steps together."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

opt = tf.contrib.opt


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("lazy", [False, True])
def test_adam_of_the_global_step(lazy: bool, sparse: bool, use_resource: bool) -> None:
    """As long as steps are counted with each update, the results are Adam's."""
    plain = opt.LazyAdamOptimizer if lazy else tf.train.AdamOptimizer
    counted = opt.LazyAdamGSOptimizer if lazy else opt.AdamGSOptimizer
    step = tf.train.create_global_step()
    tables = [
        tf.get_variable(name, initializer=tf.ones([4, 2]), use_resource=use_resource)
        for name in "ab"
    ]
    losses = [tf.reduce_sum((tf.gather(t, [1, 3]) if sparse else t) ** 2) for t in tables]
    train = [
        plain(0.1).minimize(losses[0], var_list=[tables[0]]),
        counted(step, 0.1).minimize(losses[1], step, var_list=[tables[1]]),
    ]
    assert len([v for v in tf.global_variables() if "power" in v.op.name]) == 2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(train)
        np.testing.assert_allclose(*session.run(tables), rtol=1e-5)


@pytest.mark.parametrize(("late", "value", "dropped"), [(0, 9.0, 0), (1, 9.0, 0), (2, 10.0, 1)])
def test_stale_gradients_are_dropped(late: int, value: float, dropped: float) -> None:
    step = tf.train.create_global_step()
    weight = tf.Variable(10.0)
    inside = tf.train.MomentumOptimizer(1.0, 0.9)
    optimizer = opt.DropStaleGradientOptimizer(inside, staleness=1)
    found = optimizer.compute_gradients(weight * 1.0)
    with tf.control_dependencies([found[0][0]]):
        others = step.assign_add(late)
    with tf.control_dependencies([others]):
        train = optimizer.apply_gradients(found, step)
    counter = next(v for v in tf.global_variables() if v.op.name == "stale_counter")
    assert optimizer.get_slot_names() == ["momentum"]
    assert optimizer.get_slot(weight, "momentum") is inside.get_slot(weight, "momentum")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run([weight, counter, step]) == [value, dropped, late + 1 - dropped]


def stale_worker(waits: bool) -> tuple[Any, ...]:
    """A worker's graph without devices: (train, tell the one that waits, variables)."""
    step = tf.train.create_global_step()
    weight = tf.get_variable("weight", initializer=10.0)
    go_on = tf.FIFOQueue(2, [tf.float32], shapes=[[]], shared_name="go_on")
    begun = tf.FIFOQueue(2, [tf.float32], shapes=[[]], shared_name="begun")
    optimizer = opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(1.0), staleness=0)
    factor: Any = tf.constant(1.0)
    if waits:
        with tf.control_dependencies([begun.enqueue(1.0)]):
            factor = go_on.dequeue()
    train = optimizer.minimize(weight * factor, step)
    counter = next(v for v in tf.global_variables() if v.op.name == "stale_counter")
    return train, begun.dequeue(), go_on.enqueue(1.0), [weight, step, counter]


def test_workers_without_devices_share_what_they_count() -> None:
    """The first worker computes while the second makes a step: its gradients come too late."""
    workers, _ = tf.test.create_local_cluster(2, 0)
    sessions, parts = [], []
    for waits, worker in zip((True, False), workers, strict=True):
        with tf.Graph().as_default() as graph:
            parts.append(stale_worker(waits))
            if waits:
                initialize = tf.global_variables_initializer()
        sessions.append(tf.Session(worker.target, graph=graph))
    (late, *_), (train, wait, go_on, variables) = parts
    first, second = sessions
    try:
        first.run(initialize)
        dropped: list[Any] = []
        thread = threading.Thread(target=lambda: dropped.append(first.run(late)))
        thread.start()
        second.run(wait)
        second.run(train)
        assert second.run(variables) == [9.0, 1, 0.0]
        second.run(go_on)
        thread.join()
        assert dropped == [1.0]
        assert second.run(variables) == [9.0, 1, 1.0]
    finally:
        for each in sessions:
            each.close()
        for server in workers:
            server.stop()


def model(getter: Any) -> tuple[Any, Any]:
    with tf.variable_scope("", custom_getter=getter):
        step = tf.train.create_global_step()
        weight = tf.get_variable("weight", initializer=4.0)
        tf.get_variable("fixed", initializer=1.0, trainable=False)
    return weight, step


def named(name: str) -> Any:
    variables = tf.global_variables() + tf.local_variables()
    return next(v for v in variables if v.op.name == name)


def start(session: Any, optimizer: Any) -> None:
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    hook = optimizer.make_session_run_hook(True, 0)
    hook.begin()
    hook.after_create_session(session, None)


def test_accumulated_gradients() -> None:
    """Two steps by -1 of the worker; then the shared model takes one by their mean."""
    getter = opt.AGNCustomGetter("/cpu:0")
    weight, step = model(getter)
    inside = tf.train.AdamOptimizer(1.0)
    optimizer = opt.AGNOptimizer(inside, 1, getter, communication_period=2)
    train = optimizer.minimize(weight * 3.0, step)
    names = ("weight", "global_center_variable/weight", "grad_variable/weight", "global_step")
    rows = [named(name) for name in names]
    assert {v.op.name for v in tf.trainable_variables()} == {"weight"}
    assert {"weight", "weight/Adam", "local_step", "beta1_power"} <= {
        v.op.name for v in tf.local_variables()
    }
    with tf.Session() as session:
        start(session, optimizer)
        seen = []
        for _ in range(3):
            session.run(train)
            seen.append(session.run(rows))
    np.testing.assert_allclose(seen[0], [3.0, 4.0, 3.0, 0], rtol=1e-5)
    np.testing.assert_allclose(seen[1][2:], [0.0, 1])
    assert seen[1][0] == seen[1][1] < 4.0
    assert seen[2][1] == seen[1][1] and seen[2][2] == 3.0


def test_elastic_averages(tmp_path: Path) -> None:
    getter = opt.ElasticAverageCustomGetter("/cpu:0")
    weight, step = model(getter)
    optimizer = opt.ElasticAverageOptimizer(
        tf.train.GradientDescentOptimizer(1.0), 1, getter, communication_period=2,
        moving_rate=0.25, rho=0.5, synchronous=True,
    )  # fmt: skip
    train = optimizer.minimize(weight * 1.0, step)
    shared, last = named("global_center_variable/weight"), named("local_center_variable/weight")
    saver = optimizer.swapping_saver()
    assert {v.op.name for v in tf.global_variables()} == {
        "global_step", "fixed", "global_center_variable/weight",
    }  # fmt: skip
    with tf.Session() as session:
        start(session, optimizer)
        # The slope is 1 and, once the models are apart, half of the distance.
        session.run(train)
        assert session.run([weight, shared, last, step]) == [3.0, 4.0, 4.0, 0]
        session.run(train)
        # 3 - (1 - 0.5) = 2.5; the models are 1.5 apart and move a quarter of it each.
        assert session.run([weight, shared, last, step]) == [2.875, 3.625, 4.0, 1]
        path = saver.save(session, str(tmp_path / "model"))
    assert tf.train.load_variable(path, "weight") == 3.625


def test_defaults_of_elastic_averages() -> None:
    getter = opt.ElasticAverageCustomGetter("/cpu:0")
    inside = tf.train.GradientDescentOptimizer(0.5)
    optimizer = opt.ElasticAverageOptimizer(inside, 3, getter, communication_period=10)
    assert optimizer._moving_rate == pytest.approx(0.03)
    assert optimizer._rho == pytest.approx(0.06)
    with pytest.raises(RuntimeError, match="global_center_variable is empty"):
        optimizer.swapping_saver()
    with pytest.raises(ValueError, match="should not be empty"):
        optimizer.get_init_op(0)


def test_averaged_models() -> None:
    getter = opt.ModelAverageCustomGetter("/cpu:0")
    weight, step = model(getter)
    inside = tf.train.GradientDescentOptimizer(1.0)
    optimizer = opt.ModelAverageOptimizer(inside, 1, True, getter, interval_steps=2)
    train = optimizer.minimize(weight * 1.0, step)
    shared = named("global_center_variable/weight")
    optimizer.make_session_run_hook().begin()
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(tf.global_variables_initializer())
        session.run(optimizer.get_init_op())
        session.run(train)
        assert session.run([weight, shared, step]) == [3.0, 4.0, 0]
        session.run(train)
        assert session.run([weight, shared, step]) == [2.0, 2.0, 1]
    with pytest.raises(ValueError, match="Must supply at least one variable"):
        optimizer.apply_gradients([])
    with pytest.raises(ValueError, match="Global step is required"):
        optimizer.apply_gradients([(tf.constant(1.0), weight)])


def test_variables_in_parts_and_reused() -> None:
    getter = opt.ElasticAverageCustomGetter("/cpu:0")
    parts = tf.fixed_size_partitioner(2)
    with tf.variable_scope("", custom_getter=getter, partitioner=parts) as scope:
        table = tf.get_variable("table", [4, 2])
        scope.reuse_variables()
        assert [v.op.name for v in tf.get_variable("table", [4, 2])] == [v.op.name for v in table]
    assert [getter._global_map[part].op.name for part in table] == [
        f"global_center_variable/table/part_{i}" for i in (0, 1)
    ]
