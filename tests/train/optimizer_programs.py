"""Ten steps of every optimizer, as a program of the public API that TensorFlow and weft both run.

`tests/parity/record_optimizers.py` keeps what the variables and slots hold in TensorFlow after the
first and the last step; `tests/train/test_optimizers.py` compares.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data" / "optimizers.npz"
STEPS = 10

OPTIMIZERS: dict[str, Callable[[Any, Any], Any]] = {
    "sgd": lambda tf, step: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda tf, step: tf.train.MomentumOptimizer(0.05, 0.9),
    "nesterov": lambda tf, step: tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "adam": lambda tf, step: tf.train.AdamOptimizer(0.1),
    "adagrad": lambda tf, step: tf.train.AdagradOptimizer(0.5),
    "adagrad_da": lambda tf, step: tf.train.AdagradDAOptimizer(
        0.5, step, l1_regularization_strength=0.01, l2_regularization_strength=0.1
    ),
    "adadelta": lambda tf, step: tf.train.AdadeltaOptimizer(1.0, epsilon=1e-2),
    "rmsprop": lambda tf, step: tf.train.RMSPropOptimizer(0.05, momentum=0.5),
    "rmsprop_centered": lambda tf, step: tf.train.RMSPropOptimizer(0.05, centered=True),
    "ftrl": lambda tf, step: tf.train.FtrlOptimizer(
        0.5, l1_regularization_strength=0.01, l2_regularization_strength=0.1
    ),
    "ftrl_shrinkage": lambda tf, step: tf.train.FtrlOptimizer(
        0.5, l2_shrinkage_regularization_strength=0.1
    ),
    "proximal_sgd": lambda tf, step: tf.train.ProximalGradientDescentOptimizer(
        0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.1
    ),
    "proximal_adagrad": lambda tf, step: tf.train.ProximalAdagradOptimizer(
        0.5, l1_regularization_strength=0.01, l2_regularization_strength=0.1
    ),
}


def run(tf: Any, name: str, use_resource: bool) -> dict[str, np.ndarray]:
    """What every variable holds after the first and the last step, by "step/variable name".

    `dense` is fully used by the loss; of `sparse` the loss gathers a few rows, one of them twice.
    """
    tf.reset_default_graph()
    dense = tf.Variable([[0.5, -1.0], [2.0, 0.25]], name="dense", use_resource=use_resource)
    sparse = tf.Variable(
        np.linspace(-1, 1, 10).reshape(5, 2).astype(np.float32),
        name="sparse",
        use_resource=use_resource,
    )
    rows = tf.gather(sparse, [3, 0, 3])
    error = tf.matmul(rows, dense) - 1.0
    loss = tf.reduce_sum(error * error) + tf.reduce_sum(dense * dense)
    step = tf.train.get_or_create_global_step()
    train = OPTIMIZERS[name](tf, step).minimize(loss, global_step=step)
    variables = {v.op.name: v for v in tf.global_variables()}
    found = {}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i in range(1, STEPS + 1):
            session.run(train)
            if i in (1, STEPS):
                for variable, value in session.run(variables).items():
                    found[f"{i}/{variable}"] = value
    return found
