"""Calls of fused quantized ops, in either library; tests/parity/record_fused.py keeps the results.

Weights are constants: TensorFlow takes no others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data" / "fused.npz"
_RANDOM = np.random.RandomState(17)
IMAGE = _RANDOM.randint(0, 256, (2, 5, 6, 4)).astype(np.uint8)
FILTER = _RANDOM.randint(-63, 64, (3, 2, 4, 3)).astype(np.int8)
DEPTHWISE = _RANDOM.randint(-63, 64, (3, 2, 4, 1)).astype(np.int8)
BIAS = np.float32([0.5, -1.25, 2.0, 0.0])
LEVELS = np.int32([4000, -9000, 123, 0])
MATRIX, OTHER = IMAGE[0, 0], FILTER[0, 0]
NOT_PER_CHANNEL = dict(min_filter=-1.5, max_filter=1.0)
PER_CHANNEL = dict(
    min_filter=np.float32([-1, -2, -0.5, -1]), max_filter=np.float32([1.5, 1, 0.5, 0.1])
)
FROZEN = dict(min_freezed_output=-9.0, max_freezed_output=14.0)
OPS = """QuantizedConv2DAndRelu QuantizedConv2DAndReluAndRequantize QuantizedConv2DAndRequantize
    QuantizedConv2DPerChannel QuantizedConv2DWithBias QuantizedConv2DWithBiasAndRelu
    QuantizedConv2DWithBiasAndReluAndRequantize QuantizedConv2DWithBiasAndRequantize
    QuantizedConv2DWithBiasSignedSumAndReluAndRequantize QuantizedConv2DWithBiasSumAndRelu
    QuantizedConv2DWithBiasSumAndReluAndRequantize QuantizedDepthwiseConv2D
    QuantizedDepthwiseConv2DWithBias QuantizedDepthwiseConv2DWithBiasAndRelu
    QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize""".split()
PRODUCTS = """QuantizedMatMulWithBias QuantizedMatMulWithBiasAndRelu
    QuantizedMatMulWithBiasAndReluAndRequantize""".split()


# TensorFlow 2.21 ends the process for sums, takes the bits of a bias of floats in a product for an
# integer, and gives per channel what fits another range: of these, nothing is recorded.
def calls(tf: Any) -> dict[str, Any]:
    """(op, arguments) by name."""
    found: dict[str, Any] = {}
    for op in OPS:
        requantized = op.endswith("Requantize")
        for per_channel in (False, True) if requantized and "Bias" in op else (False,):
            for levels in (False, True) if requantized and "Bias" in op else (False,):
                if "Sum" not in op and not op.endswith("PerChannel"):
                    given = convolution(tf, op, per_channel, levels)
                    found[f"{op}/{'channels' * per_channel}/{'levels' * levels}"] = (op, given)
    for op in PRODUCTS:
        if op != "QuantizedMatMulWithBiasAndRelu":
            found[op] = (op, product(tf, op, "MIN_FIRST", True))
    return found | _requantized(tf)


def convolution(tf: Any, op: str, per_channel: bool, levels: bool) -> dict[str, Any]:
    """The arguments of a fused convolution."""
    requantized = op.endswith("Requantize")
    depthwise = "Depthwise" in op
    channels = 4 if depthwise else 3
    ranges = PER_CHANNEL if per_channel else NOT_PER_CHANNEL
    weights = DEPTHWISE if depthwise else FILTER
    given: dict[str, Any] = dict(
        input=tf.constant(IMAGE, tf.quint8), filter=tf.constant(weights, tf.qint8),
        min_input=0.0, max_input=6.0, strides=[1, 1, 1, 1], padding="SAME",
        **{key: v[:channels] if per_channel else v for key, v in ranges.items()},
    )  # fmt: skip
    if "Bias" in op:
        given["bias"] = tf.constant(LEVELS[:channels], tf.qint32) if levels else BIAS[:channels]
    if requantized:
        given |= FROZEN
    if "Sum" in op:
        shape = (*IMAGE.shape[:3], channels)
        given |= _summand(tf, op, shape, requantized)
    return given


def _summand(tf: Any, op: str, shape: tuple[int, ...], requantized: bool) -> dict[str, Any]:
    values = np.arange(np.prod(shape)).reshape(shape)
    if not requantized:
        return dict(summand=np.sin(values).astype(np.float32) * 5)
    signed = "Signed" in op
    kind = tf.qint8 if signed else tf.quint8
    levels = (values * 37 % 256 - (128 if signed else 0)).astype(np.int8 if signed else np.uint8)
    return dict(summand=tf.constant(levels, kind), min_summand=-3.0, max_summand=4.0)


def product(tf: Any, op: str, mode: str, levels: bool) -> dict[str, Any]:
    """The arguments of a fused product."""
    given: dict[str, Any] = dict(
        a=tf.constant(MATRIX, tf.quint8), b=tf.constant(OTHER, tf.qint8), min_a=-1.0, max_a=3.0,
        min_b=-1.5, max_b=1.5, input_quant_mode=mode,
        bias=tf.constant(LEVELS[:3], tf.qint32) if levels else BIAS[:3],
    )  # fmt: skip
    return given | (FROZEN if op.endswith("Requantize") else {})


def _requantized(tf: Any) -> dict[str, Any]:
    levels = (np.sin(np.arange(72)) * 2e8).astype(np.int32).reshape(2, 3, 4, 3)
    ends = dict(input_min=np.float32([-1, -8, -3]), input_max=np.float32([2, 4, 3]))
    ranged = dict(input=tf.constant(levels, tf.qint32), **ends)
    asked = dict(requested_output_min=-0.5, requested_output_max=0.9)
    found = {}
    for clip in (6.0, 0.2):
        found[f"range/{clip}"] = (
            "RequantizationRangePerChannel",
            ranged | {"clip_value_max": clip},
        )
    for kind in (tf.qint8, tf.quint8):
        found[f"per channel/{kind.name}"] = (
            "RequantizePerChannel", ranged | asked | {"out_type": kind},
        )  # fmt: skip
    return found


def answers(tf: Any) -> dict[str, np.ndarray]:
    """What each call gives."""
    found: dict[str, np.ndarray] = {}
    with tf.Graph().as_default(), tf.Session() as session:
        for name, (op, given) in calls(tf).items():
            outputs = [_plain(tf, each) for each in getattr(tf.raw_ops, op)(**given)]
            for i, value in enumerate(session.run(outputs)):
                found[f"{name}/{i}"] = np.asarray(value)
    return found


def _plain(tf: Any, value: Any) -> Any:
    kind = {tf.quint8: tf.uint8, tf.qint8: tf.int8, tf.qint32: tf.int32}.get(value.dtype)
    return value if kind is None else tf.bitcast(value, kind)
