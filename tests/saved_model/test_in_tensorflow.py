"""TensorFlow loads and runs weft's SavedModels."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import weft as tf
from tests.parity.test_graphdef import ROOT, TENSORFLOW
from tests.saved_model.models import CASES


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_tensorflow_runs_them(tmp_path: Path) -> None:
    if not TENSORFLOW.exists():
        pytest.skip("no .venv-tf: TensorFlow is not installed to load weft's models")
    for name, (export, _) in CASES.items():
        with tf.Graph().as_default():
            export(tf, tmp_path / name)
    (tmp_path / "words.txt").unlink()
    module = "tests.parity.check_saved_models_in_tensorflow"
    command = [str(TENSORFLOW), "-m", module, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
