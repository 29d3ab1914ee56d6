"""Metrics gather what TensorFlow's do, over several updates, with weights and resets."""

from __future__ import annotations

import pytest

import weft as tf
from tests.keras.metrics.cases import CASES
from tests.keras.namespace import keras
from tests.keras.played import Recorded, play

RECORDED = Recorded("metrics")
COMPILED = ("AUC_0", "MeanIoU_0", "own")


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.core.flags.XLA.value", name in COMPILED, raising=False)
    RECORDED.check(name, play(tf, keras, CASES[name]))
