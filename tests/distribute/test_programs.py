"""Programs with strategies give what TensorFlow gave for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.distribute.programs import DATA_FILE, PROGRAMS

RECORDED = json.loads(DATA_FILE.read_text())


def assert_same(found: Any, wanted: Any, where: str = "") -> None:
    if isinstance(wanted, dict):
        assert sorted(found) == sorted(wanted), where
        for key in wanted:
            assert_same(found[key], wanted[key], f"{where}/{key}")
    elif isinstance(first(wanted), str):
        assert found == wanted, where
    elif isinstance(wanted, list) and any(isinstance(each, list) for each in wanted):
        assert len(found) == len(wanted), where
        for i, each in enumerate(wanted):
            assert_same(found[i], each, f"{where}[{i}]")
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6, err_msg=where)


def first(values: Any) -> Any:
    while isinstance(values, list) and values:
        values = values[0]
    return values


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_program(name: str) -> None:
    assert_same(PROGRAMS[name](tf), RECORDED[name], name)


def test_the_program_in_the_docs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "distribute.md").read_text()
    losses: list[Any] = []
    source = text.split("```python\n", 1)[1].split("```", 1)[0]
    exec(source, {"print": losses.append})
    assert len(losses) == 3 and losses[0] == 1.0
