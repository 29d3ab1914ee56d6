"""Lets TensorFlow go on with what weft trained: evaluates checkpoints, serves an export.

    python -m tests.estimator.tensorflow_reads write FOLDER            with weft's interpreter
    VENV/bin/python -m tests.estimator.tensorflow_reads read FOLDER    with TensorFlow's (record.py)

The second prints what differs, and fails if anything does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from tests.estimator import programs

NAMES = ("dnn_classifier", "linear_classifier", "combined", "custom", "kmeans_whole")


def estimator_of(tf: Any, name: str, folder: Path) -> Any:
    config = tf.estimator.RunConfig(model_dir=str(folder / name))
    return programs.ESTIMATORS[name][0](tf, config)


def evaluated(tf: Any, name: str, folder: Path) -> dict[str, Any]:
    kind = programs.ESTIMATORS[name][1]
    found = estimator_of(tf, name, folder).evaluate(programs.input_fn(tf, kind, 1))
    return {key: programs.plain(value) for key, value in found.items()}


def receiver(tf: Any) -> Any:
    a = tf.placeholder(tf.float32, [None, 3], name="a")
    return tf.estimator.export.ServingInputReceiver({"a": a}, {"a": a})


def served(tf: Any, path: str) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.load(session, ["serve"], path).signature_def["serving_default"]
        feeds = {signature.inputs["a"].name: programs.data()["a"]}
        return session.run(signature.outputs["p"].name, feeds).tolist()


def write(folder: Path) -> None:
    import weft as tf

    told: dict[str, Any] = {}
    for name in NAMES:
        kind = programs.ESTIMATORS[name][1]
        estimator_of(tf, name, folder).train(programs.input_fn(tf, kind, None), steps=10)
        told[name] = evaluated(tf, name, folder)
    path = estimator_of(tf, "custom", folder).export_saved_model(
        str(folder / "export"), lambda: receiver(tf)
    )
    told["export"] = {"path": path.decode(), "p": served(tf, path.decode())}
    (folder / "told.json").write_text(json.dumps(told))


def read(folder: Path) -> None:
    import tensorflow

    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    told = json.loads((folder / "told.json").read_text())
    export = told.pop("export")
    np.testing.assert_allclose(served(tf, export["path"]), export["p"], rtol=1e-5)
    for name, ours in told.items():
        theirs = evaluated(tf, name, folder)
        assert sorted(ours) == sorted(theirs), name
        for key in ours:
            np.testing.assert_allclose(theirs[key], ours[key], rtol=1e-4, err_msg=f"{name} {key}")
    sys.stdout.write(f"TensorFlow {tensorflow.__version__} reads all of {NAMES} and the export\n")


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](Path(sys.argv[2]))
