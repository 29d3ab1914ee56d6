"""Estimators with a seed begin, go on and end as in TensorFlow 1.15."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from tests.estimator import seeded_programs

RECORDED = json.loads((Path(__file__).parent / "seeded.json").read_text())


@pytest.mark.parametrize("name", seeded_programs.ESTIMATORS)
def test_a_seeded_estimator(name: str, tmp_path: Path) -> None:
    tf.logging.set_verbosity(tf.logging.INFO)
    try:
        found = seeded_programs.run(tf, name, str(tmp_path))
    finally:
        tf.logging.set_verbosity(tf.logging.WARN)
    wanted = RECORDED[name]
    for key in ("metrics", "variables"):
        assert list(found[key]) == list(wanted[key]) or sorted(found[key]) == sorted(wanted[key])
        for each, value in wanted[key].items():
            assert found[key][each] == pytest.approx(value, rel=1e-3, abs=1e-4), each
    assert close(found["predicted"], wanted["predicted"])
    assert [line for line in found["lines"] if "AutoGraph" not in line] == wanted["lines"]


def close(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(close(found[k], wanted[k]) for k in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(close, found, wanted))
    return found == (pytest.approx(wanted, rel=1e-3, abs=1e-4) if type(wanted) is float else wanted)
