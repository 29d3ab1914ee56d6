"""Packages of TensorFlow 1's time beside jax."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import weft as tf
x = tf.placeholder(tf.float32, [3])
print(tf.Session().run(tf.tanh(x) * 2.0 + x, {x: [0.0, 0.0, 0.0]}))
try:
    import cloudpickle
except TypeError as error:
    print(error)
"""


def test_a_cloudpickle_that_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "cloudpickle.py").write_text("raise TypeError('code() argument 13')\n")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.split("\n")[:2] == ["[0. 0. 0.]", "code() argument 13"], done.stderr
