"""Every layer against TensorFlow's: weights, shapes, values, masks, losses, updates, settings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.keras.layers.observe import observe
from tests.keras.layers.samples import SAMPLES

RECORDED = Path(__file__).parent.parent / "recorded"
SEEN = json.loads((RECORDED / "layers.json").read_text())
VALUES = np.load(RECORDED / "layers.npz")
# Settings that came after 1.15, to these layers at least.
LATER = {"groups", "keepdims", "dropout", "score_mode", "seed"}
# Layers that compute by other operations in a later version.
OTHER_OPERATIONS = ("dot", "elu", "embedding", "layer_normalization")


def of_1_15(config, ours):
    """What there is in a record of a later version that ours could have."""
    if not isinstance(config, dict) or not isinstance(ours, dict):
        return config
    return {k: of_1_15(v, ours.get(k)) for k, v in config.items() if k in ours or k not in LATER}


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.name for sample in SAMPLES])
def test_as_recorded(sample) -> None:
    found = observe(tf, sample)
    values, wanted = found.pop("values"), SEEN[sample.name]
    if sample.name.startswith(OTHER_OPERATIONS):
        del found["name"], wanted["name"]
    # An argument of the call, later on.
    found["config"].pop("causal", None)
    wanted["config"] = of_1_15(wanted["config"], found["config"])
    if "virtual" in sample.name:
        # TensorFlow writes the axis that it has once the batch is two axes, and cannot read that.
        assert [axis + 1 for axis in found["config"]["axis"]] == wanted["config"]["axis"]
        wanted["config"]["axis"] = found["config"]["axis"]
    if sample.name == "lambda":
        # Code as the version of Python has it that wrote it.
        del found["config"]["function"], wanted["config"]["function"]
    assert found == wanted
    assert values.keys() == {k.partition("|")[2] for k in VALUES if k.startswith(f"{sample.name}|")}
    half = found["dtype"] == "float16"
    for key, value in values.items():
        expected = VALUES[f"{sample.name}|{key}"]
        assert value.dtype == expected.dtype
        tolerance = 5e-3 if half else 2e-5
        np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance, err_msg=key)
