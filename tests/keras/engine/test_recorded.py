"""Models give TensorFlow's losses, metrics and predictions, under TensorFlow's names."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.keras.engine.programs import PROGRAMS
from tests.keras.played import RECORDED
from weft.core import flags

EXPECTED = json.loads((RECORDED / "engine.json").read_text())


def check(found: Any, expected: Any, where: str) -> None:
    """Equal; numbers nearly."""
    if isinstance(expected, dict):
        assert sorted(found) == sorted(expected), where
        for key, value in expected.items():
            check(found[key], value, f"{where}.{key}")
    elif isinstance(expected, list) and not _is_numbers(expected):
        assert len(found) == len(expected), where
        for i, value in enumerate(expected):
            check(found[i], value, f"{where}[{i}]")
    elif isinstance(expected, (int, float, list)) and not isinstance(expected, bool):
        np.testing.assert_allclose(found, expected, rtol=3e-5, atol=2e-6, err_msg=where)
    else:
        assert found == expected, where


def _is_numbers(values: list[Any]) -> bool:
    try:
        return np.asarray(values).dtype.kind in "fi"
    except ValueError:
        return False


# Compiling takes longer than such small models do; some are compiled all the same.
COMPILED = ("normalized",)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program: Any) -> None:
    with flags.XLA.override(program.__name__ in COMPILED):
        found = json.loads(json.dumps(program(tf, tf.keras)))
    check(found, EXPECTED[program.__name__], program.__name__)
