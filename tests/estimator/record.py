"""Writes what TensorFlow's Estimators do: `recorded.json`, and a first checkpoint of each program.

    python -m venv VENV && VENV/bin/pip install tensorflow==2.15.1 tensorflow-estimator==2.15.0
    VENV/bin/python -m tests.estimator.record [names]

TensorFlow 2.15 is the last that has Estimators; it is asked through `tensorflow.compat.v1`.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

import tensorflow

from tests.estimator import programs

HERE = Path(__file__).parent


def main(names: list[str]) -> None:
    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    path = HERE / "recorded.json"
    recorded = json.loads(path.read_text()) if path.exists() else {}
    for name in names or programs.ESTIMATORS:
        with tempfile.TemporaryDirectory() as folder:
            recorded[name] = programs.run(tf, name, folder)
            first = HERE / "data" / name
            shutil.rmtree(first, ignore_errors=True)
            first.mkdir(parents=True)
            for each in Path(folder).glob("model.ckpt-0.*"):
                if each.suffix != ".meta":
                    shutil.copy(each, first)
    path.write_text(json.dumps(recorded, sort_keys=True))


if __name__ == "__main__":
    main(sys.argv[1:])
