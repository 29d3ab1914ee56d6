"""TensorFlow 2 loads, calls, differentiates and saves the objects that weft saved."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.parity.test_graphdef import ROOT, TENSORFLOW
from tests.saved_model.objects import (
    ROWS,
    WORDS,
    keras_model,
    looping,
    signatures,
    toy,
    trained,
)
from weft.client.eager import EagerExecution


def write_toy_from_a_session(folder: Path) -> None:
    tf.enable_resource_variables()
    with tf.Graph().as_default(), tf.Session() as session:
        model = toy(tf, str(folder / "words.txt"))
        session.run(tf.global_variables_initializer())
        tf.saved_model.save(model, str(folder / "graphs"), signatures(model))
    tf.disable_resource_variables()


def write_eagerly(folder: Path) -> None:
    model = toy(tf, str(folder / "words.txt"))
    model.counts["calls"].assign(5)
    tf.saved_model.save(model, str(folder / "eagerly"), signatures(model))
    net = keras_model(tf)
    np.save(folder / "predicted.npy", net.predict(ROWS))
    tf.saved_model.save(net, str(folder / "keras"))
    module, x = trained(tf), tf.constant([1.0, -1.0])
    module.step(x)
    tf.saved_model.save(module, str(folder / "trained"))
    module.step(x)
    np.save(folder / "trained.npy", module.v.numpy())
    tf.saved_model.save(looping(tf), str(folder / "loops"))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_tensorflow_runs_them(tmp_path: Path) -> None:
    if not TENSORFLOW.exists():
        pytest.skip("no .venv-tf: TensorFlow is not installed to load weft's objects")
    (tmp_path / "words.txt").write_text(WORDS)
    write_toy_from_a_session(tmp_path)
    with EagerExecution().as_default():
        write_eagerly(tmp_path)
    (tmp_path / "words.txt").unlink()
    module = "tests.parity.check_saved_objects_in_tensorflow"
    command = [str(TENSORFLOW), "-m", module, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
