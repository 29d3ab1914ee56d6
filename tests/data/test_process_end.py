"""A process that ends while a pipeline works ahead ends well."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np, weft as tf
rows = np.ones((8, 400, 400), np.float32)
data = tf.data.Dataset.from_tensor_slices(rows).repeat()
data = data.map(lambda x: tf.matmul(x, x) * tf.tanh(tf.matmul(x, x)), num_parallel_calls=4)
session = tf.Session()
iterator = tf.data.make_initializable_iterator(data.batch(2).prefetch(4))
element = iterator.get_next()
session.run(iterator.initializer)
for _ in range(6):
    session.run(element)
"""


@pytest.mark.parametrize("last", ["", "session.close()"])
def test_threads_leave_xla_before_it_is_taken_down(last):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + last], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
