"""A table of which each step changes a few rows, and how long such a step takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from common import median_call, report

ROWS, FEW_ROWS, WIDTH, USED = 1_000_000, 100_000, 64, 1024


def report_steps(tf: Any, name: str, impl: str, make_train: Callable[..., Any]) -> None:
    """Times steps of `make_train(table, gradient)` on the table and on a smaller one."""
    seconds = []
    for rows in (ROWS, FEW_ROWS):
        with tf.Graph().as_default():
            seconds.append(step_seconds(tf, make_train, rows))
    report(name, impl, seconds[0], small_table=seconds[1])


def step_seconds(tf: Any, make_train: Callable[..., Any], rows: int) -> float:
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
