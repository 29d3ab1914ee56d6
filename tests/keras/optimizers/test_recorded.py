"""Optimizers go where TensorFlow's do, in ten steps of dense and sparse gradients."""

from __future__ import annotations

import pytest

import weft as tf
from tests.keras.namespace import keras
from tests.keras.optimizers.cases import CASES
from tests.keras.played import Recorded, play

RECORDED = Recorded("optimizers")
# The ops of the others are compiled in tests of their own.
COMPILED = ("adam", "sgd_nesterov")


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.core.flags.XLA.value", name in COMPILED, raising=False)
    RECORDED.check(name, play(tf, keras, CASES[name]))
