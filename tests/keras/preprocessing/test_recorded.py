"""Texts, sequences and images come out as from keras_preprocessing 1.1.2 (TensorFlow 1.15's)."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.keras import preprocessing_cases as cases
from weft.lib.keras.preprocessing import affine, image_generator, pictures, sequence, text

RECORDED = Path(__file__).parents[1] / "recorded" / "preprocessing.npz"


@pytest.fixture(scope="module")
def ours() -> dict[str, np.ndarray]:
    image: Any = types.SimpleNamespace(**vars(affine), **vars_of(pictures))
    image.ImageDataGenerator = image_generator.ImageDataGenerator
    return cases.results(text, sequence, image)


def vars_of(module: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not hasattr(affine, name)}


@pytest.mark.parametrize("name", np.load(RECORDED).files)
def test_as_recorded(name: str, ours: dict[str, np.ndarray]) -> None:
    with np.load(RECORDED) as recorded:
        expected = recorded[name]
    assert ours[name].shape == expected.shape
    if expected.dtype.kind in "fiu":
        np.testing.assert_allclose(ours[name], expected, rtol=1e-4, atol=1e-3)
    else:
        assert ours[name].tolist() == expected.tolist()
