"""Programs with distribution strategies that weft and TensorFlow 1 alike can run.

Each takes the module `tf` and gives a dict of lists; what TensorFlow gave is in `recorded.json`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DATA_FILE = Path(__file__).parent / "recorded.json"
DEVICES = ["/cpu:0", "/cpu:1"]
DATA = (np.arange(24, dtype=np.float32).reshape(12, 2) % 7) / 4
LABELS = np.array([0, 1, 2, 1, 0, 2, 2, 1, 0, 1, 2, 0])
PROGRAMS: dict[str, Callable[[Any], dict[str, Any]]] = {}


def program(make: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    PROGRAMS[make.__name__] = make
    return make


def mirrored(tf: Any, **kwargs: Any) -> Any:
    return tf.distribute.MirroredStrategy(DEVICES, **kwargs)


def run_in_replicas(strategy: Any, fn: Any, args: Any = ()) -> Any:
    """By the method's name in TensorFlow 1.15, or its later one."""
    run = getattr(strategy, "experimental_run_v2", None) or strategy.run
    return run(fn, args=args)


def session(tf: Any) -> Any:
    found = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
    found.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    return found


def rows(tf: Any, strategy: Any, batch: int = 4, labels: bool = False) -> Any:
    data = (DATA, LABELS) if labels else DATA
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(batch, drop_remainder=True).repeat()
    return strategy.make_dataset_iterator(dataset)


def plain(values: Any) -> Any:
    """Values as JSON has them."""
    if isinstance(values, (list, tuple)):
        return [plain(each) for each in values]
    if isinstance(values, bytes):
        return values.decode()
    return np.asarray(values).tolist() if not isinstance(values, (str, int, float)) else values


def train(tf: Any, strategy: Any, make_optimizer: Any, steps: int = 3) -> dict[str, Any]:
    """A linear model; the loss of each replica is its part of the mean over the whole batch."""

    def step(x: Any) -> Any:
        w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        error = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - 3.0))
        loss = error / strategy.num_replicas_in_sync
        counter = tf.train.get_or_create_global_step()
        return make_optimizer().minimize(loss, global_step=counter), loss

    with strategy.scope():
        iterator = rows(tf, strategy)
        update, loss = run_in_replicas(strategy, step, (iterator.get_next(),))
        total, update = strategy.reduce("SUM", loss, axis=None), strategy.group(update)
        start = iterator.initialize()
    with session(tf) as sess:
        sess.run(start)
        losses = [sess.run([total, update])[0] for _ in range(steps)]
        variables = sorted(tf.global_variables(), key=lambda v: v.name)
        copies = sess.run([strategy.experimental_local_results(v) for v in variables])
        names = [[each.name for each in strategy.experimental_local_results(v)] for v in variables]
    return {"losses": plain(losses), "names": names, "copies": plain(copies)}


@program
def gradient_descent(tf: Any) -> dict[str, Any]:
    return train(tf, mirrored(tf), lambda: tf.train.GradientDescentOptimizer(0.1))


@program
def momentum(tf: Any) -> dict[str, Any]:
    return train(tf, mirrored(tf), lambda: tf.train.MomentumOptimizer(0.1, 0.9))


@program
def adam(tf: Any) -> dict[str, Any]:
    return train(tf, mirrored(tf), lambda: tf.train.AdamOptimizer(0.1))


@program
def adam_reduced_to_one_device(tf: Any) -> dict[str, Any]:
    ops = tf.distribute.ReductionToOneDevice(reduce_to_device="/device:CPU:1")
    return train(tf, mirrored(tf, cross_device_ops=ops), lambda: tf.train.AdamOptimizer(0.1))


@program
def central_storage(tf: Any) -> dict[str, Any]:
    strategy = tf.distribute.experimental.CentralStorageStrategy(DEVICES, "/cpu:0")
    return train(tf, strategy, lambda: tf.train.RMSPropOptimizer(0.1))


@program
def one_device(tf: Any) -> dict[str, Any]:
    strategy = tf.distribute.OneDeviceStrategy("/cpu:1")
    return train(tf, strategy, lambda: tf.train.AdagradOptimizer(0.1))


@program
def rows_of_an_embedding(tf: Any) -> dict[str, Any]:
    """Gradients that are rows, of which two replicas have the same."""
    strategy = mirrored(tf)

    def step(element: Any) -> Any:
        table = tf.get_variable("table", [4, 2], initializer=tf.ones_initializer())
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, element[1]) * element[0])
        return tf.train.AdagradOptimizer(0.5).minimize(loss)

    with strategy.scope():
        iterator = rows(tf, strategy, labels=True)
        update = strategy.group(run_in_replicas(strategy, step, (iterator.get_next(),)))
        start = iterator.initialize()
    with session(tf) as sess:
        sess.run(start)
        for _ in range(2):
            sess.run(update)
        return {v.name: plain(sess.run(v)) for v in tf.global_variables()}


@program
def metrics(tf: Any) -> dict[str, Any]:
    """Values are those of all that both replicas have seen."""
    strategy = mirrored(tf)

    def step(element: Any) -> Any:
        x, y = element
        predictions = tf.sigmoid(x[:, 0] - x[:, 1])
        found = {
            "mean": tf.metrics.mean(x[:, 0]),
            "weighted": tf.metrics.mean(x[:, 0], weights=x[:, 1]),
            "accuracy": tf.metrics.accuracy(y, tf.cast(x[:, 0] * 2, tf.int64)),
            "auc": tf.metrics.auc(y > 0, predictions, num_thresholds=20),
            "precision": tf.metrics.precision(y > 0, predictions > 0.5),
            "recall": tf.metrics.recall(y > 0, predictions > 0.5),
            "rmse": tf.metrics.root_mean_squared_error(tf.cast(y, tf.float32), x[:, 1]),
            "iou": tf.metrics.mean_iou(y, tf.cast(predictions > 0.5, tf.int64), 3),
            "at_thresholds": tf.metrics.recall_at_thresholds(y > 0, predictions, [0.3, 0.6]),
            "per_class": tf.metrics.mean_per_class_accuracy(
                y, tf.cast(predictions > 0.5, tf.int64), 3
            ),
        }
        return {k: v[0] for k, v in found.items()}, [v[1] for v in found.values()]

    with strategy.scope():
        iterator = rows(tf, strategy, labels=True)
        values, updates = run_in_replicas(strategy, step, (iterator.get_next(),))
        updates = [strategy.group(each) for each in updates]
        start = iterator.initialize()
        kept = {k: strategy.experimental_local_results(v)[0] for k, v in sorted(values.items())}
    with session(tf) as sess:
        sess.run(start)
        for _ in range(3):
            sess.run(updates)
        return {k: plain(v) for k, v in sess.run(kept).items()}


@program
def batch_normalization(tf: Any) -> dict[str, Any]:
    """Each replica normalizes by its own part of the batch; the averages are joined on reading."""
    strategy = mirrored(tf)

    def step(x: Any) -> Any:
        y = tf.layers.batch_normalization(x, training=True, momentum=0.9, name="norm")
        loss = tf.reduce_mean(tf.square(y - x))
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            return tf.train.GradientDescentOptimizer(0.1).minimize(loss)

    with strategy.scope():
        iterator = rows(tf, strategy)
        update = strategy.group(run_in_replicas(strategy, step, (iterator.get_next(),)))
        start = iterator.initialize()
        variables = sorted(tf.global_variables(), key=lambda v: v.name)
        read = [strategy.extended.read_var(v) for v in variables]
    with session(tf) as sess:
        sess.run(start)
        for _ in range(3):
            sess.run(update)
        copies = sess.run([strategy.experimental_local_results(v) for v in variables])
        found = {"read": plain(sess.run(read)), "copies": plain(copies)}
        return found | {"names": [v.name for v in variables]}


@program
def assignments(tf: Any) -> dict[str, Any]:
    """What replicas assign, by how the variable joins it; and what all are assigned at once."""
    strategy = mirrored(tf)
    aggregations = tf.VariableAggregation
    kinds = {
        "sum": {"aggregation": aggregations.SUM},
        "mean": {"aggregation": aggregations.MEAN},
        "first": {"aggregation": aggregations.ONLY_FIRST_REPLICA},
        "read_sum": {
            "aggregation": aggregations.SUM,
            "synchronization": tf.VariableSynchronization.ON_READ,
        },
        "read_mean": {
            "aggregation": aggregations.MEAN,
            "synchronization": tf.VariableSynchronization.ON_READ,
        },
    }
    with strategy.scope():
        made = {k: tf.Variable(10.0, name=k, trainable=False, **v) for k, v in kinds.items()}

    def step() -> Any:
        number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
        return [v.assign_add(number + 1.0, read_value=False) for v in made.values()]

    def assign() -> Any:
        number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
        return [v.assign(number + 5.0) for v in made.values()]

    with strategy.scope():
        added = [strategy.group(each) for each in run_in_replicas(strategy, step)]
        assigned = [strategy.group(each) for each in run_in_replicas(strategy, assign)]
        at_once = [v.assign(3.0) for v in made.values()]
        read = [strategy.extended.read_var(v) for v in made.values()]
        locals_ = [strategy.experimental_local_results(v) for v in made.values()]
    found = {}
    with session(tf) as sess:
        for name, ops in (("added", added), ("assigned", assigned), ("at_once", at_once)):
            sess.run(ops)
            found[name] = plain(sess.run([read, locals_]))
    return found


@program
def reducing(tf: Any) -> dict[str, Any]:
    """Values of replicas joined outside of them, and inside."""
    strategy = mirrored(tf)

    def step(x: Any) -> Any:
        context = tf.distribute.get_replica_context()
        total = context.all_reduce(tf.distribute.ReduceOp.SUM, tf.reduce_sum(x))
        mean = context.all_reduce("MEAN", [x[0], x[1] * 2])
        merged = context.merge_call(
            lambda s, v: s.reduce(tf.distribute.ReduceOp.MEAN, v, axis=None), args=(x[0],)
        )
        slope = tf.gradients(context.all_reduce("SUM", tf.reduce_sum(x * x)), x)[0]
        return x, total, mean, merged, slope

    with strategy.scope():
        iterator = rows(tf, strategy)
        x, *inside = run_in_replicas(strategy, step, (iterator.get_next(),))
        outside = [
            strategy.reduce(op, x, axis=axis) for op in ("SUM", "MEAN") for axis in (None, 0, -1)
        ]
        start = iterator.initialize()
    flat = [strategy.experimental_local_results(each) for each in tf.nest.flatten(inside)]
    with session(tf) as sess:
        sess.run(start)
        found_outside, found_inside = sess.run([outside, flat])
        return {"outside": plain(found_outside), "inside": plain(found_inside)}


@program
def input_function(tf: Any) -> dict[str, Any]:
    """An input function knows of the replicas; its batches go to them in turn."""
    strategy = mirrored(tf)
    seen = []

    def input_fn(context: Any) -> Any:
        seen.append([context.num_input_pipelines, context.input_pipeline_id])
        batch = context.get_per_replica_batch_size(4)
        return tf.data.Dataset.range(10).batch(batch)

    with strategy.scope():
        iterator = strategy.make_input_fn_iterator(input_fn)
        element = iterator.get_next()
        start = iterator.initialize()
    batches = []
    with session(tf) as sess:
        sess.run(start)
        try:
            while True:
                batches.append(sess.run(strategy.experimental_local_results(element)))
        except tf.errors.OutOfRangeError:
            pass
    return {"seen": seen, "batches": [[b.tolist() for b in each] for each in batches]}


@program
def moving_averages(tf: Any) -> dict[str, Any]:
    """Averages of a variable, inside of replicas and outside."""
    strategy = mirrored(tf)
    average = tf.train.ExponentialMovingAverage(0.5)
    with strategy.scope():
        v = tf.Variable(1.0, name="v", aggregation=tf.VariableAggregation.MEAN)

    def step() -> Any:
        number = tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)
        with tf.control_dependencies([v.assign(number + 2.0)]):
            return average.apply([v])

    with strategy.scope():
        update = strategy.group(run_in_replicas(strategy, step))
    with session(tf) as sess:
        found = []
        for _ in range(3):
            sess.run(update)
            found.append(sess.run([v, average.average(v)]))
        return {"found": plain(found), "name": average.average(v).name}


@program
def summaries(tf: Any) -> dict[str, Any]:
    """One replica is enough to tell of."""
    strategy = mirrored(tf)

    def step() -> Any:
        tf.summary.scalar("loss", 1.0)
        return tf.summary.histogram("h", [1.0])

    with strategy.scope():
        found = run_in_replicas(strategy, step)
    kept = tf.get_collection(tf.GraphKeys.SUMMARIES)
    with session(tf) as sess:
        sizes = [len(each) > 0 for each in sess.run(strategy.experimental_local_results(found))]
    return {"kept": [each.op.name for each in kept], "sizes": sizes}


def _model_fn(tf: Any) -> Any:
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
        predictions = tf.matmul(features["x"], w) + b
        loss = tf.losses.mean_squared_error(labels, predictions)
        tf.summary.scalar("bias", tf.reduce_sum(b))
        step = tf.train.get_global_step()
        train_op = tf.train.AdamOptimizer(0.1).minimize(loss, step) if mode == "train" else None
        error = tf.metrics.mean_absolute_error(labels, predictions)
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=train_op, predictions=predictions,
            eval_metric_ops={"error": error},
        )  # fmt: skip

    return model_fn


@program
def estimator(tf: Any) -> dict[str, Any]:
    """Training and evaluation by a strategy, and evaluation of the checkpoint without one."""
    labels = DATA.sum(1, keepdims=True)

    def input_fn(input_context: Any = None) -> Any:
        size = 4 if input_context is None else input_context.get_per_replica_batch_size(4)
        return tf.data.Dataset.from_tensor_slices(({"x": DATA}, labels)).batch(size).repeat(2)

    strategy = mirrored(tf)
    with tempfile.TemporaryDirectory() as folder:
        config = tf.estimator.RunConfig(
            model_dir=folder, train_distribute=strategy, eval_distribute=strategy,
            session_config=tf.ConfigProto(device_count={"CPU": 2}),
        )  # fmt: skip
        trained = tf.estimator.Estimator(_model_fn(tf), config=config).train(input_fn)
        found = {"both": trained.evaluate(input_fn)}
        found["alone"] = tf.estimator.Estimator(_model_fn(tf), folder).evaluate(input_fn)
        values = {name: trained.get_variable_value(name) for name in trained.get_variable_names()}
        tf.summary.FileWriterCache.clear()
    return {k: {name: plain(v) for name, v in each.items()} for k, each in found.items()} | {
        "values": {name: plain(value) for name, value in sorted(values.items())}
    }


@program
def keras(tf: Any) -> dict[str, Any]:
    """A Keras model that is made, trained and asked in the scope of a strategy."""
    tf.keras.backend.clear_session()
    tf.keras.backend.set_session(tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})))
    labels = DATA.sum(1, keepdims=True)
    with mirrored(tf).scope():
        inputs = tf.keras.Input((2,))
        hidden = tf.keras.layers.Dense(3, "tanh", kernel_initializer="ones")(inputs)
        outputs = [
            tf.keras.layers.Dense(1, kernel_initializer="ones", kernel_regularizer=l2, name=name)(
                hidden
            )
            for name, l2 in (("a", "l2"), ("b", None))
        ]
        model = tf.keras.Model(inputs, outputs)
        model.compile(
            tf.keras.optimizers.SGD(0.1, momentum=0.9), ["mse", "mae"], metrics={"a": ["mae"]}
        )
    targets = [labels, labels * 2]
    history = model.fit(DATA, targets, batch_size=4, epochs=2, shuffle=False, verbose=0).history
    found = {
        "history": [history[key] for key in sorted(history)],
        "evaluate": model.evaluate(DATA, targets, batch_size=6, verbose=0),
        "predict": model.predict(DATA, batch_size=4), "weights": model.get_weights(),
    }  # fmt: skip
    tf.keras.backend.get_session().close()
    tf.keras.backend.clear_session()
    return {name: [plain(each) for each in value] for name, value in found.items()}
