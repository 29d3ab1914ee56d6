"""Calls of the core API make TensorFlow 1.15's nodes, values and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.parity import calls

CASES = [(group, text) for group in calls.groups() for text in calls.programs(group)]
RECORDED = {group: calls.recorded(group) for group in calls.groups()}


@pytest.mark.parametrize(("group", "program"), CASES, ids=[text for _, text in CASES])
def test_call(group: str, program: str) -> None:
    wanted, found = RECORDED[group][program], calls.play(tf, program)
    values = wanted.pop("values", None), found.pop("values", None)
    assert found == wanted
    _assert_close(*values)


def _assert_close(wanted: Any, found: Any) -> None:
    if not isinstance(wanted, list) or not wanted or not isinstance(wanted[0], str):
        assert isinstance(wanted, list) == isinstance(found, list)
        for pair in zip(wanted or [], found or [], strict=True):
            _assert_close(*pair)
        return
    assert found[:2] == wanted[:2]
    if wanted[0] == "string":
        assert found == wanted
    else:
        rough = wanted[0] in ("float16", "bfloat16")
        numbers = [np.array(few[2], np.float64) for few in (found, wanted)]
        np.testing.assert_allclose(*numbers, rtol=1e-2 if rough else 1e-4, atol=1e-5)
