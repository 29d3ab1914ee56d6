"""Recurrent layers compute, differentiate, mask and remember as TensorFlow's do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.keras.recurrent.cases import CASES, play

RECORDED = Path(__file__).parent.parent / "recorded"


@pytest.fixture(scope="module")
def recorded() -> tuple[Any, Any]:
    facts = json.loads((RECORDED / "recurrent.json").read_text())
    with np.load(RECORDED / "recurrent.npz") as arrays:
        return dict(arrays), facts


@pytest.mark.parametrize("name", CASES)
def test_as_tensorflow(name: str, recorded: Any) -> None:
    found, facts = play(tf, tf.keras, CASES[name])
    assert facts == recorded[1][name]
    wanted, at = recorded[0][name], 0
    for what, array in found.items():
        part = wanted[at : at + array.size].reshape(array.shape)
        np.testing.assert_allclose(array, part, rtol=2e-5, atol=2e-6, err_msg=what)
        at += array.size
    assert at == wanted.size
