"""TensorFlow reads weft's checkpoints."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from tests.parity.checkpoints import every_dtype, large_index, many
from tests.parity.test_graphdef import ROOT, TENSORFLOW
from tests.storage.test_bundle import write
from tests.train.test_saver import initialized, model, on_two_devices, partitioned


def save(prefix: Path, build: Any, steps: int = 0, **options: Any) -> None:
    with tf.Graph().as_default():
        train = build()
        saver = tf.train.Saver(**options)
        with initialized() as sess:
            for _ in range(steps):
                sess.run(train)
            saver.save(sess, str(prefix))


def save_objects(prefix: Path) -> None:
    with tf.Graph().as_default(), tf.Session():
        w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]), use_resource=True)
        b = tf.get_variable("b", initializer=tf.constant(3.0), use_resource=True)
        checkpoint = tf.train.Checkpoint(w=w, inner=tf.train.Checkpoint(b=b))
        checkpoint.restore(None).initialize_or_restore()
        checkpoint.write(str(prefix))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_tensorflow_reads_them(tmp_path: Path) -> None:
    if not TENSORFLOW.exists():
        pytest.skip("no .venv-tf: TensorFlow is not installed to read weft's checkpoints")
    for content in (every_dtype, many, large_index):
        write(tmp_path / content.__name__, content())
    save(tmp_path / "partitioned", partitioned)
    save(tmp_path / "sharded", on_two_devices, sharded=True)
    save(tmp_path / "adam", model, steps=3)
    save(tmp_path / "v1", model, steps=1, write_version=tf.train.SaverDef.V1)
    save_objects(tmp_path / "objects")
    module = "tests.parity.check_checkpoints_in_tensorflow"
    done = subprocess.run(
        [str(TENSORFLOW), "-m", module, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
