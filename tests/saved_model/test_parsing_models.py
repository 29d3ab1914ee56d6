"""Models of TensorFlow 2 that parse the examples they are served: stored ones, loaded and run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.saved_model.parsing_models import BATCHES, SERVED, STORED, answers

RECORDED = json.loads((STORED / "answers.json").read_text())


def check(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert set(found) == set(wanted)
    for alias, value in found.items():
        expected = wanted[alias]["value"]
        assert str(value.dtype) == wanted[alias]["dtype"], alias
        if value.dtype == object:
            assert np.vectorize(bytes.decode, otypes=[object])(value).tolist() == expected
        else:
            np.testing.assert_allclose(value, np.array(expected, value.dtype), rtol=2e-6)


@pytest.mark.parametrize("name", BATCHES)
def test_a_session_serves_examples(name: str, tmp_path: Path) -> None:
    shutil.unpack_archive(STORED / f"{name}.zip", tmp_path)
    for found, wanted in zip(answers(tf, name, str(tmp_path)), RECORDED[name], strict=True):
        check(found, wanted)


@pytest.mark.parametrize("name", SERVED)
def test_a_loaded_object_serves_examples(name: str, tmp_path: Path) -> None:
    shutil.unpack_archive(STORED / f"{name}.zip", tmp_path)
    with tf.Graph().as_default(), tf.Session() as session:
        served = tf.saved_model.load_v2(str(tmp_path)).signatures["serving_default"]
        for batch, wanted in zip(BATCHES[name], RECORDED[name], strict=True):
            check(session.run(served(examples=tf.constant(batch))), wanted)
