"""Saves models that parse examples with TensorFlow 2, and writes down what they compute.

    .venv-tf/bin/python -m tests.parity.record_parsing_models

`tests/saved_model/test_parsing_models.py` loads them into weft.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import tensorflow as tf

from tests.saved_model.parsing_models import (
    BATCHES,
    OTHERS,
    SERVED,
    STORED,
    answers,
    save_served,
)


def main() -> None:
    shutil.rmtree(STORED, ignore_errors=True)
    STORED.mkdir()
    os.chdir(STORED)  # so that no path of this machine is in a model
    found: dict[str, Any] = {}
    for name in BATCHES:
        if name in SERVED:
            save_served(tf, name, name)
        else:
            OTHERS[name](tf, name)
        Path(name, "fingerprint.pb").unlink(missing_ok=True)
        found[name] = [written(each) for each in answers(tf.compat.v1, name, name)]
        shutil.make_archive(name, "zip", name)
        shutil.rmtree(name)
    Path("answers.json").write_text(json.dumps(found, indent=1) + "\n")


def written(outputs: dict[str, Any]) -> dict[str, Any]:
    return {
        alias: {
            "dtype": str(value.dtype),
            "value": json.loads(json.dumps(value.tolist(), default=bytes.decode)),
        }
        for alias, value in sorted(outputs.items())
    }


if __name__ == "__main__":
    main()
