"""Quantized types, which samples cannot hold: values as TensorFlow 2.21 gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

X = np.array([-3, -1.5, -1, -0.4, 0, 0.3, 0.5, 1, 2.2, 9], np.float32)

# (type, mode, range): levels, the range they stand for
CASES: dict[Any, tuple[list[int], float, float]] = {
    ("qint8", "MIN_COMBINED", -1.0, 2.0): (
        [-128, -128, -128, -77, -43, -18, -1, 42, 127, 127],
        -1.0,
        2.0,
    ),
    ("quint8", "MIN_COMBINED", 0.5, 0.5001): ([0] * 5 + [153] + [255] * 4, 0.0, 0.5001),
    ("qint8", "MIN_FIRST", -2.0, -1.0): ([-128, -64, -1, 76] + [127] * 6, -2.0, 0.0),
    ("quint8", "MIN_FIRST", -1.0, 2.0): ([0, 0, 0, 51, 85, 111, 128, 170, 255, 255], -1.0, 2.0),
    ("qint8", "SCALED", -1.0, 2.0): (
        [-128, -95, -64, -25, 0, 19, 32, 64, 127, 127],
        -2.015748,
        2.0,
    ),
    ("quint16", "SCALED", 0.0, 3.0): ([0] * 5 + [6554, 10923, 21845, 48059, 65535], 0.0, 3.0),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_levels_and_back(case: Any) -> None:
    kind, mode, low, high = case
    levels, bottom, top = CASES[case]
    quantized = tf.quantize(X, low, high, getattr(tf, kind), mode=mode)
    back = tf.dequantize(quantized.output, quantized.output_min, quantized.output_max, mode=mode)
    with tf.Session() as session:
        found, found_bottom, found_top, restored = session.run([*quantized, back])
    assert quantized.output.dtype == getattr(tf, kind)
    np.testing.assert_array_equal(np.asarray(found).astype(np.int64), levels)
    np.testing.assert_allclose([found_bottom, found_top], [bottom, top], rtol=1e-6)
    step = (top - bottom) / (2 ** (16 if "16" in kind else 8) - 1)
    np.testing.assert_allclose(restored, np.clip(X, bottom, top), atol=step)
