"""Fused quantized ops give oneDNN's numbers, and those of TensorFlow 1.15's formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops import fused_programs as programs
from weft.core import errors

RECORDED = dict(np.load(programs.DATA))


def test_results_are_tensorflows() -> None:
    found = programs.answers(tf)
    assert set(found) == set(RECORDED)
    for name, value in found.items():
        expected = RECORDED[name]
        assert (value.dtype, value.shape) == (expected.dtype, expected.shape), name
        if value.dtype.kind == "f":
            np.testing.assert_allclose(value, expected, rtol=1e-6, err_msg=name)
        else:
            # A half may be rounded to either side: scales are multiplied in another order.
            apart = np.abs(value.astype(np.int64) - expected.astype(np.int64))
            assert apart.max() <= 1 and apart.sum() <= max(1, apart.size // 50), name


def run(op: str, given: dict[str, Any]) -> list[np.ndarray]:
    outputs = [programs._plain(tf, each) for each in getattr(tf.raw_ops, op)(**given)]
    with tf.Session() as session:
        found = session.run(outputs)
    for tensor, value in zip(outputs, found, strict=True):
        assert tensor.shape.is_compatible_with(np.shape(value))
    return found


def products() -> np.ndarray:
    """The plain sums of products of levels."""
    plain = tf.nn.conv2d(
        tf.constant(programs.IMAGE, tf.float64), tf.constant(programs.FILTER, tf.float64),
        strides=[1, 1, 1, 1], padding="SAME",
    )  # fmt: skip
    with tf.Session() as session:
        return session.run(plain)


def reach(per_channel: bool) -> Any:
    ranges = programs.PER_CHANNEL if per_channel else programs.NOT_PER_CHANNEL
    return np.maximum(*(np.abs(np.asarray(end, float).reshape(-1)[:3]) for end in ranges.values()))


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("op", ["QuantizedConv2DWithBiasAndRelu", "QuantizedConv2DWithBias"])
def test_a_bias_in_levels_of_each_channel(op: str, per_channel: bool) -> None:
    given = programs.convolution(tf, op, per_channel, False)
    levels, low, high = run(op, given)
    wanted = products() + programs.BIAS[:3] * 255 * 127 / (6 * reach(per_channel))
    wanted = np.maximum(wanted, 0) if op.endswith("Relu") else wanted
    np.testing.assert_allclose(levels, wanted, atol=0.51)
    assert low.shape == high.shape == ((3,) if per_channel else ())


@pytest.mark.parametrize("per_channel", [False, True])
def test_a_sum_of_floats(per_channel: bool) -> None:
    op = "QuantizedConv2DWithBiasSumAndRelu"
    given = programs.convolution(tf, op, per_channel, False)
    scale = 255 * 127 / (6 * reach(per_channel))
    wanted = products() + (programs.BIAS[:3] + given["summand"]) * scale
    np.testing.assert_allclose(run(op, given)[0], np.maximum(wanted, 0), atol=1.01)


@pytest.mark.parametrize("levels", [False, True])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("signed", [False, True])
def test_a_sum_of_levels(signed: bool, per_channel: bool, levels: bool) -> None:
    op = f"QuantizedConv2DWithBias{'Signed' * signed}SumAndReluAndRequantize"
    given = programs.convolution(tf, op, per_channel, levels)
    step = 6 * reach(per_channel) / (255 * 127)
    bias = programs.LEVELS[:3] * step if levels else programs.BIAS[:3]
    with tf.Session() as session:
        summand = session.run(programs._plain(tf, given["summand"])).astype(float)
    real = products() * step + bias + summand * 4.0 / (127 if signed else 255)
    found, low, high = run(op, given)
    np.testing.assert_allclose(found, np.clip(real * 255 / 14, 0, 255), atol=0.51)
    assert (low, high) == (-9.0, 14.0)


@pytest.mark.parametrize("op", programs.PRODUCTS)
def test_a_product_with_a_bias_of_floats(op: str) -> None:
    given = programs.product(tf, op, "MIN_FIRST", False)
    step = 4.0 / 255 * 1.5 / 127
    moved = programs.MATRIX.astype(float) + 255 * -1.0 / 4.0
    wanted = moved @ programs.OTHER.astype(float) + programs.BIAS[:3] / step
    if op.endswith("Requantize"):
        wanted = wanted * (4.0 / 255 * 3.0 / 254 * 2**31) / 14.0 / 2**23
    if "Relu" in op:
        wanted = np.maximum(wanted, 0)
    found = run(op, given)[0]
    limits = np.iinfo(found.dtype)
    np.testing.assert_allclose(found, np.clip(wanted, limits.min, limits.max), atol=0.6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"input_max": np.float32([1, 2])}, "input_min has incorrect size, expected 2 was 3"),
        ({"input_min": np.float32([1]), "input_max": np.float32([1])}, "3 vs 1"),
    ],
)
def test_ranges_that_do_not_fit(change: dict[str, Any], message: str) -> None:
    op, given = programs.calls(tf)["range/6.0"]
    with pytest.raises(errors.InvalidArgumentError, match=message):
        run(op, {**given, **change})


def test_edges_that_are_listed() -> None:
    op = "QuantizedConv2DWithBias"
    given = programs.convolution(tf, op, False, False)
    # What "SAME" adds for a window of 3 by 2.
    explicit = {**given, "padding": "VALID", "padding_list": [0, 0, 1, 1, 0, 1, 0, 0]}
    np.testing.assert_array_equal(run(op, explicit)[0], run(op, given)[0])
