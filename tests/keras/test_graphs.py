"""Models have the nodes, names and numbers that TensorFlow 1.15 gave them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.keras.graphs import names, observe

PATH = Path(__file__).parent / "recorded" / "graphs.json.gz"
RECORDED = json.loads(gzip.decompress(PATH.read_bytes()))


@pytest.mark.parametrize("case", names())
def test_as_recorded(case: str) -> None:
    found, wanted = observe(tf, case), RECORDED[case]
    assert found["nodes"] == wanted["nodes"]
    assert found["shapes"] == wanted["shapes"]
    assert found["weights"] == wanted["weights"]
    np.testing.assert_allclose(found["numbers"], wanted["numbers"], rtol=1e-4, atol=1e-5)
