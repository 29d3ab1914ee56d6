"""Networks of many layers, trained as TensorFlow trains them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.keras.layers.networks import NETWORKS, train

RECORDED = np.load(Path(__file__).parent.parent / "recorded" / "layer_networks.npz")


@pytest.mark.parametrize("name", NETWORKS)
def test_as_recorded(name) -> None:
    found = train(tf, name)
    wanted = {k.partition("|")[2] for k in RECORDED if k.startswith(f"{name}|")}
    assert found.keys() == wanted
    for key, value in found.items():
        expected = RECORDED[f"{name}|{key}"]
        np.testing.assert_allclose(value, expected, rtol=1e-3, atol=1e-4, err_msg=key)
