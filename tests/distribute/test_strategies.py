"""What strategies refuse, what they make, and the kinds that TensorFlow 2 cannot be asked about."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.distribute.programs import DEVICES, mirrored, plain, rows, session, train
from weft.client.eager import EagerExecution
from weft.lib.testing.cluster import free_ports

CPUS = ("/replica:0/task:0/device:CPU:0", "/replica:0/task:0/device:CPU:1")


def run(strategy: Any, fn: Any, *args: Any) -> Any:
    return strategy.experimental_run_v2(fn, args)


# ---- where the code is -------------------------------------------------------------------------


def test_without_a_strategy() -> None:
    strategy, replica = tf.distribute.get_strategy(), tf.distribute.get_replica_context()
    assert not tf.distribute.has_strategy() and not tf.distribute.in_cross_replica_context()
    assert strategy.num_replicas_in_sync == 1 and replica.replica_id_in_sync_group == 0
    assert replica.merge_call(lambda s, x: (s, x + 1), (2,)) == (strategy, 3)
    assert strategy.reduce("SUM", 3.0) == 3.0 and strategy.unwrap(4) == (4,)
    assert strategy.experimental_run_v2(lambda x: x * 2, (4,)) == 8


def test_scopes() -> None:
    strategy, other = mirrored(tf), mirrored(tf)
    assert strategy.extended.worker_devices == strategy.extended.parameter_devices == CPUS
    seen = []

    def replica() -> None:
        context = tf.distribute.get_replica_context()
        seen.append((context.strategy is strategy, context.devices, tf.constant(1.0).device))
        with pytest.raises(RuntimeError, match="Method requires being in cross-replica context"):
            strategy.reduce("SUM", 1.0)

    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy
        assert tf.distribute.in_cross_replica_context() and tf.distribute.has_strategy()
        assert tf.distribute.get_replica_context() is None
        with pytest.raises(RuntimeError, match=r"Mixing different tf.distribute.Strategy objects"):
            other.scope().__enter__()
        run(strategy, replica)
    assert seen == [(True, (name,), name) for name in CPUS]
    assert not tf.distribute.has_strategy()
    assert copy.deepcopy(strategy).extended._container_strategy() is not strategy
    with pytest.raises(RuntimeError, match="Must only deepcopy"):
        copy.copy(strategy)


def test_set_strategy() -> None:
    strategy = mirrored(tf)
    tf.distribute.experimental_set_strategy(strategy)
    assert tf.distribute.get_strategy() is strategy
    tf.distribute.experimental_set_strategy(None)
    assert not tf.distribute.has_strategy()


def test_devices() -> None:
    with pytest.raises(AssertionError, match="No duplicates allowed"):
        tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:0"])
    with pytest.raises(ValueError, match="In-graph multi-worker training"):
        tf.distribute.MirroredStrategy(["/job:worker/task:0", "/job:worker/task:1"])
    assert len(tf.distribute.MirroredStrategy().extended.worker_devices) >= 1


# ---- replicas ----------------------------------------------------------------------------------


def test_an_error_in_a_replica_is_the_callers() -> None:
    def fails() -> None:
        if tf.get_default_graph().get_name_scope() == "replica_1":
            raise KeyError("mine")
        tf.distribute.get_replica_context().merge_call(lambda _: None)

    with pytest.raises(KeyError, match="mine"):
        run(mirrored(tf), fails)


def test_a_replica_that_merges_while_it_is_stopped() -> None:
    """It would wait for the others for ever."""

    def fails() -> None:
        replica = tf.distribute.get_replica_context()
        if tf.get_default_graph().get_name_scope() == "replica_1":
            raise KeyError("mine")
        try:
            replica.merge_call(lambda _: None)
        finally:
            replica.merge_call(lambda _: None)

    with pytest.raises(KeyError, match="mine"):
        run(mirrored(tf), fails)


@pytest.mark.parametrize("kind", ["mirrored", "one", "none"])
def test_control_flow_of_replicas_inside_of_functions(kind: str) -> None:
    strategies = {
        "mirrored": lambda: mirrored(tf),
        "one": lambda: tf.distribute.OneDeviceStrategy("/cpu:0"),
        "none": tf.distribute.get_strategy,
    }
    strategy = strategies[kind]()

    def replica(x: Any, y: Any) -> Any:
        if x > 0:
            return x * y
        return -x

    for fn in (replica, functools.partial(replica, y=5)):
        args = (tf.constant(2), 5)[: 2 - (fn is not replica)]
        whole = tf.function(lambda fn=fn, args=args: strategy.unwrap(run(strategy, fn, *args)))
        with session(tf) as sess:
            assert set(sess.run(whole())) == {10}
    with pytest.raises(TypeError, match="as a Python `bool` is not allowed"):
        run(strategy, replica, tf.constant(2), 5)


def test_replicas_merge_alike() -> None:
    def uneven() -> None:
        if not tf.get_default_graph().get_name_scope():
            tf.distribute.get_replica_context().merge_call(lambda _: None)

    with pytest.raises(RuntimeError, match="Some replicas made a different number of"):
        run(mirrored(tf), uneven)


def test_names_and_order_in_replicas() -> None:
    def replica() -> Any:
        with tf.name_scope("outer"):
            x = tf.constant(1.0, name="x")
            joint = tf.distribute.get_replica_context().merge_call(
                lambda s, v: s.reduce("MEAN", v), (x,)
            )
            return tf.identity(joint, name="y")

    with tf.name_scope("all"):
        found = run(mirrored(tf), replica)
    assert [each.op.name for each in found.values] == ["all/outer/y", "all/replica_1/outer/y"]
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names.index("all/replica_1/outer/x") < names.index("all/outer/AddN")
    assert [each.device for each in found.values] == list(CPUS)


def test_results_keep_their_structure() -> None:
    strategy = mirrored(tf)
    found = run(strategy, lambda: {"a": (tf.constant(1), [tf.constant(2)]), "b": "same"})
    assert found["b"] == "same" and len(strategy.unwrap(found["a"][1][0])) == 2
    with session(tf) as sess:
        assert sess.run(strategy.unwrap(found["a"][0])) == (1, 1)


# ---- variables ---------------------------------------------------------------------------------


def test_mirrored_variables() -> None:
    strategy = mirrored(tf)
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], name="v")
        w = tf.get_variable("w", [], initializer=tf.zeros_initializer(), use_resource=False)
    assert [each.name for each in v.values] == ["v:0", "v/replica_1:0"]
    assert [each.device for each in v.values] == list(CPUS)
    assert tf.trainable_variables() == tf.global_variables() == [v, w]
    assert v.distribute_strategy is strategy and strategy.extended.variable_created_in_scope(v)
    assert strategy.extended.value_container(v.values[1]) is v
    assert v.dtype == tf.float32 and v.shape.as_list() == [2] and v.op.name == "v"
    with session(tf) as sess:
        assert plain(sess.run([v, v + 1.0, v[1], v.read_value()])) == plain(
            [[1.0, 2.0], [2.0, 3.0], 2.0, [1.0, 2.0]]
        )
        v.load([5.0, 6.0], sess)
        assert plain(sess.run(v.values)) == [[5.0, 6.0], [5.0, 6.0]]
        assert sess.run(tf.report_uninitialized_variables()).size == 0


def test_what_variables_refuse() -> None:
    strategy = mirrored(tf)
    with strategy.scope():
        plain_variable = tf.Variable(1.0)
        summed = tf.Variable(
            1.0, trainable=False, aggregation=tf.VariableAggregation.SUM,
            synchronization=tf.VariableSynchronization.ON_READ,
        )  # fmt: skip
        with pytest.raises(ValueError, match="does not support `assign_add` in cross-replica"):
            summed.assign_add(1.0)
        with pytest.raises(ValueError, match="`NONE` variable synchronization mode"):
            tf.Variable(1.0, synchronization=tf.VariableSynchronization.NONE)
        with pytest.raises(ValueError, match="`colocate_vars_with` must only be passed"):
            strategy.extended.colocate_vars_with(tf.constant(1.0))
    with pytest.raises(ValueError, match="You must specify an aggregation method to update a Mir"):
        run(strategy, lambda: plain_variable.assign(2.0))


def test_a_sum_of_what_is_the_same() -> None:
    strategy = mirrored(tf)
    with pytest.raises(ValueError, match="cannot be reduced with the given reduce op"):
        strategy.reduce("SUM", 1.0)
    assert strategy.reduce("MEAN", 1.0) == 1.0


def test_checkpoints_have_one_value(tmp_path: Path) -> None:
    """Written by two replicas, read by one, and the other way round."""
    strategy = mirrored(tf)
    with strategy.scope():
        tf.get_variable("w", [2], initializer=tf.constant_initializer(3.0))
        tf.Variable(
            2.0, name="s", trainable=False, aggregation=tf.VariableAggregation.SUM,
            synchronization=tf.VariableSynchronization.ON_READ,
        )  # fmt: skip
    with session(tf) as sess:
        path = tf.train.Saver().save(sess, str(tmp_path / "two"))
    assert tf.train.list_variables(path) == [("s", []), ("w", [2])]
    with tf.Graph().as_default():
        w, s = tf.get_variable("w", [2]), tf.get_variable("s", [])
        with tf.Session() as sess:
            tf.train.Saver().restore(sess, path)
            assert plain(sess.run([w, s])) == [[3.0, 3.0], 4.0]
            sess.run([w.assign([7.0, 8.0]), s.assign(10.0)])
            path = tf.train.Saver().save(sess, str(tmp_path / "one"))
    with session(tf) as sess:
        tf.train.Saver().restore(sess, path)
        found = [each.values for each in sorted(tf.global_variables(), key=lambda v: v.name)]
        assert plain(sess.run(found)) == [[5.0, 5.0], [[7.0, 8.0], [7.0, 8.0]]]


def test_other_ways_to_restore(tmp_path: Path) -> None:
    """Initializers that read a checkpoint, and checkpoints of objects."""
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=[4.0, 5.0])
        sess.run(w.initializer)
        path = tf.train.Saver().save(sess, str(tmp_path / "by_name"))
        objects = tf.train.Checkpoint(w=w).save(str(tmp_path / "objects"), session=sess)
    strategy = mirrored(tf)

    def from_checkpoint() -> None:
        tf.get_variable("w", [2], initializer=tf.zeros_initializer())
        tf.train.init_from_checkpoint(path, {"w": "w"})

    run(strategy, from_checkpoint)
    with strategy.scope():
        other = tf.Variable([0.0, 0.0], name="other")
    (w, _) = tf.global_variables()
    with session(tf) as sess:
        assert plain(sess.run(w.values)) == [[4.0, 5.0]] * 2
        status = tf.train.Checkpoint(w=other).restore(objects)
        status.assert_consumed().run_restore_ops(sess)
        assert plain(sess.run(other.values)) == [[4.0, 5.0]] * 2


def test_two_replicas_train_as_one() -> None:
    found = train(tf, mirrored(tf), lambda: tf.train.GradientDescentOptimizer(0.1))
    with tf.Graph().as_default():
        one = tf.distribute.MirroredStrategy(["/cpu:0"])
        alone = train(tf, one, lambda: tf.train.GradientDescentOptimizer(0.1))
    np.testing.assert_allclose(found["losses"], alone["losses"], rtol=1e-6)


# ---- steps and datasets ------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"fused": True}, {"fused": False}, {"renorm": True}])
def test_batches_of_nothing(options: Any) -> None:
    """Without the flag, as in TensorFlow, the mean of no examples is not a number."""
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
    strategy.extended.experimental_enable_get_next_as_optional = True
    x = tf.placeholder(tf.float32, [None, 2, 2, 1])

    def step() -> Any:
        layer = tf.layers.BatchNormalization(momentum=0.9, **options)
        loss = tf.losses.mean_squared_error(x, layer(x, training=True))
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        return [train_op, *layer.updates], layer.variables

    with strategy.scope():
        done, variables = run(strategy, step)
    with session(tf) as sess:
        before = sess.run(variables)
        sess.run(done, {x: np.zeros([0, 2, 2, 1], np.float32)})
        after = sess.run(variables)
        # With `renorm`, the variance is set to a square less epsilon in any case.
        np.testing.assert_allclose(after, before, rtol=0, atol=0.0011 * ("renorm" in options))
        sess.run(done, {x: np.arange(8.0).reshape(2, 2, 2, 1)})
        assert plain(sess.run(variables)) != plain(before)


def test_several_steps_in_one() -> None:
    strategy = mirrored(tf)
    with strategy.scope():
        total = tf.Variable(0.0, trainable=False, aggregation=tf.VariableAggregation.SUM)
        iterator = rows(tf, strategy)

        def step(context: Any, x: Any) -> Any:
            def replica(x: Any) -> Any:
                added = tf.reduce_sum(x)
                context.set_last_step_output("last", added, tf.distribute.ReduceOp.SUM)
                return total.assign_add(added, read_value=False)

            return strategy.group(strategy.extended.call_for_each_replica(replica, (x,)))

        found = strategy.extended.experimental_run_steps_on_iterator(
            step, iterator, iterations=3, initial_loop_values={"last": 0.0}
        )
        start = iterator.initialize()
    with session(tf) as sess:
        sess.run(start)
        last, _ = sess.run([found.last_step_outputs["last"], found.run_op])
        np.testing.assert_allclose([last, sess.run(total)], [5.75, 16.5])


def test_numpy_dataset() -> None:
    strategy = mirrored(tf)
    with session(tf) as sess, strategy.scope():
        dataset = strategy.experimental_make_numpy_dataset(np.arange(8.0), session=sess)
        iterator = strategy.make_dataset_iterator(dataset.batch(4))
        element = iterator.get_next()
        sess.run(iterator.initialize())
        assert plain(sess.run(strategy.unwrap(element))) == [[0.0, 1.0], [2.0, 3.0]]
        with pytest.raises(ValueError, match="Call the `batch` method on the input Dataset"):
            strategy.experimental_distribute_dataset(dataset)


def test_datasets_from_a_function() -> None:
    strategy = mirrored(tf)
    made = strategy.experimental_distribute_datasets_from_function(
        lambda context: tf.data.Dataset.range(4).batch(context.num_replicas_in_sync - 1)
    )
    iterator = tf.data.make_initializable_iterator(made)
    element = iterator.get_next()
    with session(tf) as sess:
        sess.run(iterator.initializer)
        assert plain(sess.run(strategy.unwrap(element))) == [[0], [1]]


def test_input_context() -> None:
    context = tf.distribute.InputContext(2, 1, 4)
    assert context.get_per_replica_batch_size(8) == 2
    with pytest.raises(ValueError, match="is not divisible by"):
        context.get_per_replica_batch_size(6)


# ---- other kinds -------------------------------------------------------------------------------


def test_reduction_by_a_function_of_ones_own() -> None:
    seen = []

    def add(values: list[Any]) -> Any:
        seen.append([each.device for each in values])
        return tf.add_n(values)

    ops = tf.distribute.ReductionToOneDevice(accumulation_fn=add)
    strategy = mirrored(tf, cross_device_ops=ops)
    found = strategy.reduce("SUM", run(strategy, lambda: tf.constant(2.0)))
    with session(tf) as sess:
        assert sess.run(found) == 4.0
    assert seen == [list(CPUS)]


@pytest.mark.parametrize("ops", ["NcclAllReduce", "HierarchicalCopyAllReduce"])
def test_all_reduce(ops: str) -> None:
    kind = getattr(tf.distribute, ops)
    found = train(tf, mirrored(tf, cross_device_ops=kind(num_packs=2)), _momentum)
    with tf.Graph().as_default():
        wanted = train(tf, mirrored(tf), _momentum)
    np.testing.assert_allclose(found["losses"], wanted["losses"], rtol=1e-6)
    with pytest.raises(ValueError, match="num_packs >= 0, but -1 is specified"):
        kind(num_packs=-1)


def _momentum() -> Any:
    return tf.train.MomentumOptimizer(0.1, 0.9)


def test_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = tf.distribute.experimental.MultiWorkerMirroredStrategy
    found = train(tf, kind._from_local_devices(DEVICES), _momentum)
    with tf.Graph().as_default():
        wanted = train(tf, mirrored(tf), _momentum)
    np.testing.assert_allclose(found["losses"], wanted["losses"], rtol=1e-6)
    task = {"type": "worker", "index": 0}
    cluster = {"worker": ["localhost:1"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": task}))
    strategy = kind()
    assert strategy.extended.worker_devices == ("/job:worker/replica:0/task:0/device:CPU:0",)
    assert strategy.extended.should_checkpoint
    config = strategy.update_config_proto(tf.ConfigProto())
    assert list(config.device_filters) == ["/job:worker/task:0"]


def test_workers_meet_before_they_compute(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    jax.devices()  # as a step does that is compiled
    cluster = {"worker": ["localhost:1", "localhost:2"]}
    config = {"cluster": cluster, "task": {"type": "worker", "index": 0}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(tf.errors.FailedPreconditionError, match="before it computes anything"):
        tf.distribute.experimental.MultiWorkerMirroredStrategy()


def test_parameter_servers() -> None:
    """Variables are dealt out to two servers; the worker trains them."""
    *servers_at, worker_at = [f"localhost:{port}" for port in free_ports(3)]
    cluster = {"ps": servers_at, "worker": [worker_at]}
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(cluster), task_type="worker", task_id=0
    )
    strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)
    assert strategy.extended.parameter_devices == ("/job:ps/task:0", "/job:ps/task:1")

    def step() -> Any:
        a = tf.get_variable("a", [], initializer=tf.ones_initializer())
        b = tf.get_variable("b", [], initializer=tf.ones_initializer())
        return tf.train.GradientDescentOptimizer(0.5).minimize(a * a + b)

    with strategy.scope():
        update = strategy.group(run(strategy, step))
    a, b = tf.global_variables()
    assert [a.device, b.device] == ["/job:ps/task:0", "/job:ps/task:1"]
    with contextlib.ExitStack() as running:
        for job, tasks in cluster.items():
            for i in range(len(tasks)):
                server = tf.train.Server(cluster, job_name=job, task_index=i)
                running.callback(server.stop)
        with tf.Session(server.target) as sess:
            sess.run(tf.global_variables_initializer())
            sess.run(update)
            assert sess.run([a, b]) == [0.0, 0.5]


def test_old_names() -> None:
    old = tf.contrib.distribute
    strategy = old.MirroredStrategy(devices=DEVICES)
    with strategy.scope():
        # A batch here is that of one replica.
        iterator = rows(tf, strategy, batch=2)
        assert [each.shape.as_list() for each in strategy.unwrap(iterator.get_next())] == [
            [2, 2]
        ] * 2
    assert old.get_distribution_strategy() is tf.distribute.get_strategy()
    assert old.DistributionStrategy is tf.distribute.Strategy
    with pytest.raises(ValueError, match="You cannot specify both"):
        old.MirroredStrategy(num_gpus=1, num_gpus_per_worker=1)
    local = old.ParameterServerStrategy()
    assert local.num_replicas_in_sync == 1 and not old.has_strategy()
    assert old.CollectiveAllReduceStrategy().num_replicas_in_sync == 1


def test_steps_as_objects() -> None:
    strategy = mirrored(tf)

    def loss(context: Any, x: Any) -> Any:
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        return tf.reduce_sum(x) * w

    old = tf.contrib.distribute
    made = old.StandardSingleLossStep(
        lambda: tf.data.Dataset.from_tensors([1.0]).repeat(6), loss,
        tf.train.GradientDescentOptimizer(0.1), strategy, iterations_per_step=2,
    )  # fmt: skip
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        monitor = old.Monitor(made, sess)
        monitor.run_steps(1)
        np.testing.assert_allclose(sess.run(tf.global_variables()[0]), 0.6, rtol=1e-6)


def test_what_run_config_refuses() -> None:
    with pytest.raises(ValueError, match=r"is not a tf.distribute.Strategy"):
        tf.estimator.RunConfig(train_distribute=object())
    both = tf.contrib.distribute.DistributeConfig(mirrored(tf))
    assert tf.estimator.RunConfig(experimental_distribute=both).train_distribute is not None
    with pytest.raises(ValueError, match="Either `train_distribute` or"):
        tf.estimator.RunConfig(train_distribute=mirrored(tf), experimental_distribute=both)


def test_outside_of_its_strategy_a_variable_synchronized_on_reading_is_its_first_copy() -> None:
    strategy = mirrored(tf)
    with strategy.scope():
        v = tf.Variable(
            0.0, trainable=False, aggregation=tf.VariableAggregation.SUM,
            synchronization=tf.VariableSynchronization.ON_READ,
        )  # fmt: skip

    def count() -> Any:
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        return v.assign_add(tf.cast(number, tf.float32) + 1.0)

    counted = run(strategy, count)
    with session(tf) as sess:
        sess.run(strategy.experimental_local_results(counted))
        assert sess.run([v, v + 1.0, v.read_value()]) == [1.0, 2.0, 3.0]
        with strategy.scope():
            assert sess.run([v, v + 1.0, v.read_value()]) == [3.0, 4.0, 3.0]


@pytest.mark.parametrize("drop_remainder", [False, True])
def test_batches_that_do_not_fit_the_replicas(drop_remainder: bool) -> None:
    strategy = mirrored(tf)
    batches = tf.data.Dataset.range(6).batch(5, drop_remainder)
    with strategy.scope():
        iterator = strategy.make_dataset_iterator(batches)
        found = strategy.experimental_local_results(
            strategy.experimental_run(lambda x: x, iterator)
        )
    assert [tensor.shape.as_list() for tensor in found] == [[None], [None]]
    with session(tf) as sess:
        sess.run(iterator.initialize())
        assert plain(sess.run(found)) == [[0, 1, 2], [3, 4]]
        if not drop_remainder:
            assert plain(sess.run(found)) == [[5], []]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(found)


def test_functions_in_replicas() -> None:
    """A `tf.function` is traced for each replica, which has its own copies of variables."""
    strategy = mirrored(tf)
    with strategy.scope():
        v = tf.Variable(
            [1.0], trainable=False, aggregation=tf.VariableAggregation.SUM,
            synchronization=tf.VariableSynchronization.ON_READ,
        )  # fmt: skip

    @tf.function
    def add(x: Any) -> Any:
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        v.assign_add(x)
        return number, v.read_value()

    found = run(strategy, lambda: add(tf.constant([2.0])))
    with session(tf) as sess:
        numbers, values = sess.run([strategy.unwrap(each) for each in found])
        assert numbers == (0, 1) and plain(values) == [[3.0], [3.0]]
        assert plain(sess.run(v.values)) == [[3.0], [3.0]]


def test_eagerly() -> None:
    """Replicas run one after the other; the copies of variables are updated together."""
    with EagerExecution().as_default():
        strategy = mirrored(tf)
        with strategy.scope():
            v = tf.Variable(1.0)
            optimizer = tf.train.GradientDescentOptimizer(0.1)

        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.cast(tf.reduce_sum(x), tf.float32) * v
            optimizer.apply_gradients(zip(tape.gradient(loss, [v]), [v], strict=True))
            return loss

        batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(10).batch(4))
        losses = [strategy.reduce("SUM", run(strategy, step, x)).numpy() for x in batches]
        np.testing.assert_allclose(losses, [6.0, 8.8, -30.6], rtol=1e-6)
        np.testing.assert_allclose([each.numpy() for each in v.values], [-3.5, -3.5], rtol=1e-6)


@pytest.mark.parametrize("kind", ["ParameterServerStrategy", "CentralStorageStrategy"])
def test_without_a_cluster_an_estimator_trains_in_a_session_of_its_own(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    strategy = getattr(tf.distribute.experimental, kind)()
    config = tf.ConfigProto()
    strategy.configure(config)
    assert config.isolate_session_state

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
        train = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    def data() -> Any:
        values = np.ones([8, 3], np.float32), np.ones([8, 1], np.float32)
        return tf.data.Dataset.from_tensor_slices(values).batch(4).repeat(5)

    distributed = tf.estimator.RunConfig(
        model_dir=str(tmp_path), train_distribute=strategy, eval_distribute=strategy
    )
    estimator = tf.estimator.Estimator(model_fn, config=distributed)
    assert estimator.train(data).evaluate(data)["global_step"] == 10
    tf.summary.FileWriterCache.clear()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sample_weight_mode": "temporal"}, "sample_weight_mode is not supported with tf.dist"),
        ({"weighted_metrics": ["mse"]}, "weighted_metrics is not supported with tf.distribute"),
        ({"target_tensors": [1]}, "target_tensors is not supported with tf.distribute.Strategy"),
        ({}, "We currently do not support distribution strategy with a `Sequential` model that"),
    ],
)
def test_what_keras_models_of_a_strategy_are_not_compiled_with(
    arguments: dict[str, Any], message: str
) -> None:
    sized = {"input_shape": (2,)} if arguments else {}
    with tf.distribute.MirroredStrategy(["/cpu:0"]).scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, **sized)])
        with pytest.raises((NotImplementedError, ValueError), match=message):
            model.compile("sgd", "mse", **arguments)


def test_callbacks_are_called_in_the_scope_of_the_strategy() -> None:
    seen = []

    class Callback(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            seen.append((tf.distribute.get_strategy(), tf.distribute.get_replica_context()))

    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
        model.compile("sgd", "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), callbacks=[Callback()], verbose=0, batch_size=2)
    assert seen == [(strategy, None)] and not tf.distribute.has_strategy()
    tf.keras.backend.clear_session()
