"""What a program does with Horovod, in every process."""

from __future__ import annotations

from typing import Any

import numpy as np

import weft as tf
from tests.processes.training import ROWS, STEPS, numbers
from weft.core.processes import place
from weft.lib.horovod import keras as hvd_keras
from weft.lib.horovod import tensorflow as hvd


def every_operation() -> dict[str, Any]:
    """The operations on tensors, after two steps."""
    hvd.init()
    rank = hvd.rank()
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        mean = hvd.allreduce(x)
        rows = tf.IndexedSlices(tf.reshape(x, [1, 2]), tf.constant([rank]), tf.constant([9, 2]))
        found = {
            "mean": mean,
            "sum": hvd.allreduce(x, average=False),
            "half": hvd.allreduce(x, compression=hvd.Compression.fp16),
            "whole": hvd.allreduce(tf.cast(x, tf.int64), op=hvd.Sum),
            "gather": hvd.allgather(tf.fill([rank, 2], float(rank))),
            "broadcast": hvd.broadcast(x * 2, 1),
            "adaptive": hvd.allreduce(tf.stack([x[0], -x[1] * x[0]]), op=hvd.Adasum),
            "nothing": hvd.allreduce(tf.zeros([3]), op=hvd.Adasum),
            "flag": hvd.broadcast(tf.constant([rank == 1]), 1),
            "gradient": tf.gradients(tf.reduce_sum(mean * x), x)[0],
            "rows": hvd.allreduce(rows),
        }
        for step in range(2):
            values = session.run(found, {x: [rank + 1, rank + 2 + step]})
    return {**values, "who": (rank, hvd.size(), hvd.local_rank(), hvd.local_size())}


def by_optimizer() -> list[Any]:
    """Variables after steps on a part of each batch, from those of the first process."""
    hvd.init()
    part = ROWS // hvd.size()
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [None, 6]), tf.placeholder(tf.float32, [None, 1])
        start = numbers(6, 1) * (1 + hvd.rank())
        w = tf.get_variable("w", initializer=start)
        table = tf.get_variable("table", initializer=numbers(8, 1))
        rows = tf.nn.embedding_lookup(table, tf.cast(x[:, 0] * 8, tf.int32))
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + rows - y))
        step = tf.train.get_or_create_global_step()
        optimizer = hvd.DistributedOptimizer(tf.train.MomentumOptimizer(0.1, 0.9))
        train = optimizer.minimize(loss, step)
        hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(STEPS)]
        data, both = numbers(ROWS * STEPS, 6), [w, table]
        with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
            for number in range(STEPS):
                first = number * ROWS + hvd.rank() * part
                given = data[first : first + part]
                session.run(train, {x: given, y: np.sum(given, 1, keepdims=True)})
                found = session.run_step_fn(lambda step_context: step_context.session.run(both))
    return list(found)


def by_adaptive_sum() -> list[Any]:
    """A variable after a step that all processes make together, and what each began with."""
    hvd.init()
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", initializer=np.ones(2, np.float32))
        loss = tf.reduce_sum(w * [1.0 + hvd.rank(), 2.0])
        optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.5), op=hvd.Adasum)
        train = optimizer.minimize(loss)
        session.run(tf.global_variables_initializer())
        session.run(train)
        return list(session.run([w]))


def by_tape() -> list[Any]:
    """Gradients of a tape, as a step of a graph and eagerly."""
    hvd.init()
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([float(place().rank + 1)])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        gradient = hvd.DistributedGradientTape(tape).gradient(y, [x])
        return list(session.run(gradient))


def by_keras() -> list[Any]:
    """Weights and averaged metrics of a model of Keras."""
    keras = tf.keras
    keras.backend.clear_session()
    hvd_keras.init()
    first = keras.initializers.Constant(0.1 * (1 + hvd_keras.rank()))
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(6,), kernel_initializer=first)])
    optimizer = hvd_keras.DistributedOptimizer(keras.optimizers.SGD(0.05))
    model.compile(optimizer, "mse", metrics=["mae"])
    part = ROWS // hvd_keras.size()
    given = numbers(ROWS, 6)[hvd_keras.rank() * part :][:part]
    callbacks = [
        hvd_keras.callbacks.BroadcastGlobalVariablesCallback(0),
        hvd_keras.callbacks.MetricAverageCallback(),
        hvd_keras.callbacks.LearningRateWarmupCallback(warmup_epochs=2, verbose=0),
    ]
    history = model.fit(
        given, np.sum(given, 1), batch_size=part, epochs=3, shuffle=False, verbose=0,
        callbacks=callbacks,
    ).history  # fmt: skip
    mean = hvd_keras.allreduce(np.float32(hvd_keras.rank()))
    return [model.get_weights(), history["loss"], mean]
