"""Programs on ragged tensors compute what they compute in TensorFlow."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ragged.programs import DATA, PROGRAMS, values

RECORDED = json.loads(DATA.read_text())


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, list):
        pairs = isinstance(found, list) and len(found) == len(wanted)
        return pairs and all(map(same, found, wanted))
    if isinstance(wanted, float):
        return bool(np.isclose(found, wanted, rtol=1e-5, equal_nan=True))
    return type(found) is type(wanted) and found == wanted


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str) -> None:
    found = values(tf, PROGRAMS[name])
    assert same(found, RECORDED[name]), f"{found}, not {RECORDED[name]}"
