"""Functions of tf.keras.backend compute what TensorFlow's do."""

from __future__ import annotations

import pytest

import weft as tf
from tests.keras.backend.cases import CASES
from tests.keras.namespace import keras
from tests.keras.played import Recorded, play

RECORDED = Recorded("backend")


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name: str) -> None:
    RECORDED.check(name, play(tf, keras, CASES[name]))
