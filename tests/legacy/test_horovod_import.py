"""Programs of Horovod find weft's under `weft run`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import horovod.tensorflow as hvd
import horovod.tensorflow.keras as hvd_keras
import tensorflow as tf
from horovod.keras.callbacks import MetricAverageCallback

try:
    hvd.rank()
except ValueError as error:
    print(error)
hvd.init()
print(hvd.rank(), hvd.size(), hvd.local_rank(), hvd.local_size(), hvd_keras.size())
optimizer = hvd.DistributedOptimizer(tf.train.GradientDescentOptimizer(0.5))
w = tf.get_variable("w", [], initializer=tf.ones_initializer())
train = optimizer.minimize(w * w)
with tf.train.MonitoredTrainingSession(hooks=[hvd.BroadcastGlobalVariablesHook(0)]) as session:
    session.run(train)
    print([float(session.run(w))])
"""


def test_a_program_of_horovod_alone(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "weft", "run", str(path)], cwd=ROOT, capture_output=True, text=True,
        timeout=110, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "Horovod has not been initialized; use hvd.init().",
        "0 1 0 1 1",
        "[0.0]",
    ]
