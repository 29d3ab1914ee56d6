"""Programs as users write them give what TensorFlow 1.15 gave, and leave as many nodes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.keras.written import PROGRAMS, observe

PATH = Path(__file__).parent / "recorded" / "written.json.gz"
RECORDED = json.loads(gzip.decompress(PATH.read_bytes()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_recorded(name: str) -> None:
    found, wanted = observe(tf, name), RECORDED[name]
    np.testing.assert_allclose(found["numbers"], wanted["numbers"], rtol=2e-5, atol=1e-6)
    assert found["texts"] == wanted["texts"]
    assert found["printed"] == wanted["printed"]
    assert found["nodes"] == wanted["nodes"]
