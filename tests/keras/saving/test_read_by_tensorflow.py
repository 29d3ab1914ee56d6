"""TensorFlow 2.15 reads our files. `WEFT_TF215` names a Python that has it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.keras.record_saving import build, data
from tests.keras.saving.test_hdf5 import keras

PYTHON = os.environ.get("WEFT_TF215", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON, reason="WEFT_TF215 names no Python with TensorFlow 2.15"),
]
ROOT = Path(__file__).parents[3]


def read(path: str) -> list[np.ndarray]:
    """What TensorFlow predicts with a model of ours, before and after one more step."""
    done = subprocess.run(
        [PYTHON, "-W", "ignore", "-m", "tests.keras.record_saving", path],
        cwd=ROOT,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [np.array(each) for each in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.parametrize("name", ["model.h5", "objects"])
def test_tensorflow_goes_on_where_we_stopped(name: str, tmp_path: Path) -> None:
    x, y = data()
    model = build(keras())
    model.fit(x, y, batch_size=6, epochs=1, verbose=0)
    path = str(tmp_path / name)
    if name.endswith(".h5"):
        model.save(path)
    else:
        model.save_weights(path)
    expected = [model.predict(x)]
    model.train_on_batch(x, y)
    expected.append(model.predict(x))
    for theirs, ours in zip(read(path), expected, strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-6)
