"""Training on a batch of which each process has a part; alone, on the whole batch."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import weft as tf
from weft.core.processes import place

ROWS, STEPS = 16, 4


def workers() -> Any:
    """The strategy of this process, one of the workers in TF_CONFIG."""
    me = place()
    cluster = {"worker": [f"localhost:{port}" for port in range(1, 1 + me.size)]}
    task = {"type": "worker", "index": me.rank}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": task} if me.size > 1 else {})
    return tf.distribute.experimental.MultiWorkerMirroredStrategy()


def numbers(*shape: int) -> np.ndarray:
    return np.random.RandomState(0).rand(*shape).astype(np.float32)


def batches(rows: int = ROWS) -> Any:
    x = numbers(ROWS * STEPS, 6)
    y = np.sum(x, 1, keepdims=True) + 0.1
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(rows).repeat()


def by_strategy() -> list[Any]:
    """Losses and variables of a model with dense and sparse gradients."""
    with tf.Graph().as_default():
        strategy = workers()
        with strategy.scope():
            iterator = strategy.make_dataset_iterator(batches())
            update, losses = strategy.experimental_run_v2(_step, args=(iterator.get_next(),))
            loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
            variables = [strategy.unwrap(v)[0] for v in tf.trainable_variables()]
            update = strategy.group(update)
            start = [iterator.initialize(), tf.global_variables_initializer()]
        with tf.Session() as session:
            session.run(start)
            first = session.run(variables)
            found = [session.run([loss, update])[0] for _ in range(STEPS)]
            return [found, first, session.run(variables)]


def _step(batch: Any) -> Any:
    x, y = batch
    table = tf.get_variable("table", [8, 3], initializer=tf.zeros_initializer())
    # All start from what the first worker has.
    w, v = (
        tf.get_variable(name, initializer=numbers(*shape) * (1 + place().rank))
        for name, shape in (("w", (6, 5)), ("v", (8, 1)))
    )
    rows = tf.nn.embedding_lookup(table, tf.cast(x[:, 0] * 8, tf.int32))
    hidden = tf.concat([tf.tanh(tf.matmul(x, w)), rows], 1)
    loss = tf.reduce_sum(tf.square(tf.matmul(hidden, v) - y)) / ROWS
    return tf.train.AdagradOptimizer(0.1).minimize(loss), loss


def _spread(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
    """Numbers around zero, the same in every process."""
    shape = [int(n) for n in shape]
    scale = 1 / np.sqrt(np.prod(shape[:-1]))
    made = np.random.RandomState(sum(shape)).randn(*shape) * scale
    return tf.constant(made, dtype)


def _residual(x: Any, channels: int, strides: int) -> Any:
    """Two convolutions around which the input goes, too."""
    made = dict(padding="same", kernel_initializer=_spread)
    left = tf.layers.conv2d(x, channels, 3, strides, **made)
    left = tf.nn.relu(tf.layers.batch_normalization(left, fused=False))
    left = tf.layers.conv2d(left, channels, 3, 1, **made)
    left = tf.layers.batch_normalization(left, fused=False)
    if strides > 1:
        rest = channels - int(x.shape[-1])
        x = tf.pad(x[:, ::strides, ::strides], [[0, 0], [0, 0], [0, 0], [0, rest]])
    return tf.nn.relu(x + left)


def by_resnet() -> list[Any]:
    """Losses and some variables of a ResNet-20, in 64 bits; its averages stay as they are."""
    images = np.random.RandomState(1).randn(ROWS, 8, 8, 3)

    def step(batch: Any) -> Any:
        x, y = batch
        x = tf.layers.conv2d(x, 4, 3, padding="same", kernel_initializer=_spread)
        for channels, strides in ((4, 1), (8, 2), (16, 2)):
            for block in range(3):
                x = _residual(x, channels, 1 if block else strides)
        logits = tf.layers.dense(tf.reduce_mean(x, [1, 2]), 10, kernel_initializer=_spread)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
        loss = tf.reduce_sum(loss) / ROWS
        return tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss), loss

    with tf.Graph().as_default():
        strategy = workers()
        with strategy.scope():
            data = tf.data.Dataset.from_tensor_slices((images, np.arange(ROWS) % 10))
            iterator = strategy.make_dataset_iterator(data.batch(ROWS).repeat())
            update, losses = strategy.experimental_run_v2(step, args=(iterator.get_next(),))
            loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
            some = [strategy.unwrap(v)[0] for v in tf.trainable_variables()[::9]]
            start = [iterator.initialize(), tf.global_variables_initializer()]
        with tf.Session() as session:
            session.run(start)
            found = [session.run([loss, strategy.group(update)])[0] for _ in range(3)]
            return [found, session.run(some)]


def by_keras() -> list[Any]:
    """The losses of `fit`, the weights, a prediction and an evaluation."""
    keras = tf.keras
    keras.backend.clear_session()
    strategy = workers()
    with strategy.scope():
        ones = dict(kernel_initializer=keras.initializers.Constant(0.1))
        model = keras.Sequential(
            [
                keras.layers.Dense(5, "tanh", input_shape=(6,), **ones),
                keras.layers.Dense(1, **ones),
            ]
        )
        model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
    x = numbers(ROWS * STEPS, 6)
    y = np.sum(x, 1, keepdims=True)
    history = model.fit(x, y, batch_size=ROWS, epochs=2, shuffle=False, verbose=0).history
    asked = model.predict(x[:7]), model.evaluate(x, y, batch_size=ROWS, verbose=0)
    return [history, model.get_weights()[:2], *asked]


def by_estimator() -> list[Any]:
    """The last loss, a variable, and the files that were written."""
    folder = os.environ.get("MODEL_DIR") or tempfile.mkdtemp()

    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        w = tf.get_variable("w", [6, 1], initializer=tf.zeros_initializer())
        loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - labels))
        step = tf.train.get_or_create_global_step()
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)

    strategy = workers()
    config = tf.estimator.RunConfig(folder, train_distribute=strategy, save_summary_steps=2)
    estimator = tf.estimator.Estimator(model_fn, config=config)

    def input_fn(input_context: Any = None) -> Any:
        whole = ROWS if input_context is None else ROWS // input_context.num_input_pipelines
        data = batches(whole)
        if input_context is None or input_context.num_input_pipelines == 1:
            return data
        return data.shard(input_context.num_input_pipelines, input_context.input_pipeline_id)

    for last in (STEPS // 2, STEPS):  # the second time, from a checkpoint
        spec = tf.estimator.TrainSpec(input_fn, max_steps=last)
        if place().size > 1:
            tf.estimator.train_and_evaluate(estimator, spec, tf.estimator.EvalSpec(input_fn))
        else:
            estimator.train(input_fn, max_steps=last)
    files = sorted(path.name.split(".")[0] for path in Path(folder).iterdir())
    return [estimator.get_variable_value("w"), sorted(set(files))]
