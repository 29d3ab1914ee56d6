"""Losses compute what TensorFlow's do, reduced and weighted in all ways."""

from __future__ import annotations

import pytest

import weft as tf
from tests.keras.losses.cases import CASES
from tests.keras.namespace import keras
from tests.keras.played import Recorded, play

RECORDED = Recorded("losses")


@pytest.mark.parametrize("name", CASES)
def test_as_recorded(name: str) -> None:
    RECORDED.check(name, play(tf, keras, CASES[name]))
