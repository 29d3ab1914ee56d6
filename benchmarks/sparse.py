"""A table of which each step changes a few rows, and how long such a step takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from common import median_call

ROWS, WIDTH, USED = 1_000_000, 64, 1024


def step_seconds(tf: Any, make_train: Callable[..., Any], rows: int = ROWS) -> float:
    """Median seconds of a step of `make_train(table, gradient)` on a table of `rows` rows."""
    table = tf.get_variable(
        "table", [rows, WIDTH], initializer=tf.ones_initializer(), use_resource=True
    )
    fed = tf.placeholder(tf.int64, [USED])
    picked = tf.nn.embedding_lookup(table, fed)
    gradient = tf.gradients(tf.reduce_sum(picked * picked), table)[0]
    train = make_train(table, gradient)
    generator = np.random.RandomState(0)
    batches = [generator.choice(rows, USED, replace=False) for _ in range(16)]
    number = [0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def step() -> None:
            number[0] += 1
            session.run(train, {fed: batches[number[0] % len(batches)]})

        seconds = median_call(step)
        changed = session.run(tf.reduce_max(tf.gather(table, batches[0])))
    assert changed < 1
    return seconds
