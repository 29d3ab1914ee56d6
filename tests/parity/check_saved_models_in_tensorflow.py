"""Loads weft's SavedModels with TensorFlow, in both of its ways, and compares what they compute.

    .venv-tf/bin/python -m tests.parity.check_saved_models_in_tensorflow FOLDER

FOLDER is as `tests/saved_model/test_in_tensorflow.py` writes it. Exits with 1 and one line per
difference.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf2

from tests.saved_model.models import CASES, DATA, EXAMPLES, ROWS, answers

RECORDED = json.loads((DATA / "answers.json").read_text())


def loaded_as_objects(folder: Path) -> list[tuple[str, Any, Any]]:
    """(what, found, wanted) of tf.saved_model.load and its callable signatures."""
    simple = tf2.saved_model.load(str(folder / "simple")).signatures["serving_default"]
    words = tf2.saved_model.load(str(folder / "words"), tags=["serve"]).signatures["regress"]
    y = simple(x=tf2.constant(ROWS))["y"].numpy().tolist()
    score = words(inputs=tf2.constant(EXAMPLES))["outputs"].numpy().tolist()
    return [
        ("simple", y, RECORDED["simple"][0]["y"]),
        ("regress", score, RECORDED["words"][0]["outputs"]),
    ]


def main(folder: str) -> int:
    rows = loaded_as_objects(Path(folder))
    tf = tf2.compat.v1
    tf.disable_v2_behavior()
    for name, (_, asks) in CASES.items():
        found = json.loads(
            json.dumps(answers(tf, Path(folder) / name, asks), default=lambda b: b.decode())
        )
        rows.append((name, found, RECORDED[name]))
    problems = [f"{what}: {found}, not {wanted}" for what, found, wanted in rows if found != wanted]
    sys.stdout.write("\n".join(problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
