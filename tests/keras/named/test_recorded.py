"""Activations, initializers, regularizers and constraints give what TensorFlow's do."""

from __future__ import annotations

import pytest

import weft as tf
from tests.keras.named.cases import CASES
from tests.keras.namespace import keras
from tests.keras.played import Recorded, play

RECORDED = Recorded("named")


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name: str) -> None:
    RECORDED.check(name, play(tf, keras, CASES[name]))
