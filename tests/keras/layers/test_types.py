"""Layers compute in the type of their inputs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.keras.layers.observe import observe
from tests.keras.layers.samples import SAMPLES

RECORDED = np.load(Path(__file__).parent.parent / "recorded" / "layers.npz")
# Of one type only, in TensorFlow too: operations, and layers that are built from a shape alone.
SINGLE_ONLY = (
    *("relu_all", "up_sampling2d_bilinear", "max_pooling3d", "time_distributed"),
    *("locally_connected1d_2", "locally_connected1d_first", "locally_connected2d_2"),
)
SINGLE = [
    s
    for s in SAMPLES
    if s.phases == (0,) and s.inputs[0].dtype == "float32" and not s.name.startswith(SINGLE_ONLY)
]


@pytest.mark.parametrize("sample", SINGLE, ids=[sample.name for sample in SINGLE])
def test_double(sample) -> None:
    inputs = [x.astype(np.float64) for x in sample.inputs]
    found = observe(tf, dataclasses.replace(sample, inputs=inputs))
    single = "embedding" in sample.name
    assert found["dtype"] == found["config"]["dtype"] == ("float32" if single else "float64")
    wanted = RECORDED[f"{sample.name}|output_0"]
    np.testing.assert_allclose(found["values"]["output_0"], wanted, rtol=1e-4, atol=1e-4)
