"""Profiles of XLA are read also where warnings are errors."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import warnings
import numpy as np, weft as tf
from weft.lib.summary import profile
x = tf.placeholder(tf.float32, [300, 300])
y = tf.matmul(x, x)
with tf.Session() as session:
    for _ in range(3):
        session.run(y, {x: np.ones([300, 300])})
    profile.start()
    session.run(y, {x: np.ones([300, 300])})
    warnings.simplefilter("error")
    print("bytes", len(profile.stop()))
"""


def test_warnings_that_are_errors_do_not_end_the_process():
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[1]) > 0
