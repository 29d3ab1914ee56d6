"""Calls of quantized ops, in either library. `tests/parity/record_quantized.py` keeps the results.

Inputs are given as real numbers and quantized by the program, so that both libraries start from
the same ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data" / "quantized.npz"
RANDOM = np.random.RandomState(5)


def _values(*shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    return RANDOM.uniform(low, high, shape).astype(np.float32)


IMAGE, FILTER, MATRIX = _values(2, 5, 4, 3), _values(3, 2, 3, 2), _values(3, 4, low=-0.5, high=2)
OTHER, VECTOR = _values(4, 5), _values(4)
SQUARES = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1]}


def results(tf: Any) -> dict[str, Any]:
    """Tensors by name: the numbers, and the ends of their range."""

    def quint8(x: np.ndarray, low: float, high: float) -> Any:
        return tf.quantization.quantize(x, low, high, tf.quint8, mode="MIN_FIRST")

    ops = tf.raw_ops
    image, weights = quint8(IMAGE, -1, 1), quint8(FILTER, -1, 1.5)
    matrix, other, vector = quint8(MATRIX, -1, 2), quint8(OTHER, -1, 1), quint8(VECTOR, -2, 1)

    def call(op: Any, *args: Any, **attrs: Any) -> Any:
        names = NAMES[op]
        return getattr(ops, op)(**dict(zip(names, args, strict=True)), **attrs)

    def pair(op: str, a: Any, b: Any, **attrs: Any) -> Any:
        return call(op, a[0], b[0], a[1], a[2], b[1], b[2], **attrs)

    found = {
        "matmul": pair("QuantizedMatMul", matrix, other, Toutput=tf.qint32, transpose_a=False,
                       transpose_b=False, Tactivation=tf.quint8),
        "mul": pair("QuantizedMul", matrix, vector, Toutput=tf.qint32),
        "add": pair("QuantizedAdd", matrix, vector, Toutput=tf.qint32),
        "bias": pair("QuantizedBiasAdd", matrix, vector, out_type=tf.qint32),
        "relu": call("QuantizedRelu", *matrix, out_type=tf.quint8),
        "relu6": call("QuantizedRelu6", *quint8(MATRIX * 9, -4, 20), out_type=tf.quint8),
        "reshape": call("QuantizedReshape", matrix[0], [4, 3], *matrix[1:]),
        "average": call("QuantizedAvgPool", *image, padding="SAME", **SQUARES),
        "largest": call("QuantizedMaxPool", *image, padding="VALID", **SQUARES),
    }  # fmt: skip
    for padding in ("SAME", "VALID"):
        found[f"conv_{padding}"] = pair(
            "QuantizedConv2D", image, weights, out_type=tf.qint32, strides=[1, 2, 2, 1],
            padding=padding, dilations=[1, 1, 1, 1],
        )  # fmt: skip
    product = found["matmul"]
    found["shrunk"] = call("QuantizeDownAndShrinkRange", *product, out_type=tf.quint8)
    used = call("RequantizationRange", *product)
    found["requantized"] = call("Requantize", *product, *used, out_type=tf.quint8)
    parts = [quint8(MATRIX, -1, 2), quint8(MATRIX, -3, 1)]
    found["concat"] = tf.quantization.quantized_concat(
        1, [part[0] for part in parts], [part[1] for part in parts], [part[2] for part in parts]
    )
    found |= _norms(tf, call, quint8) | _resized(call, image)
    return {name: _plain(tf, value) for name, value in found.items()}


def _norms(tf: Any, call: Any, quint8: Any) -> dict[str, Any]:
    ranges = [(-1, 1), (-0.5, 0.5), (0, 2), (-1, 1), (0.5, 1.5)]
    means, spread = np.float32([0.1, -0.2, 0.3]), np.float32([0.5, 1.5, 1.0])
    values = (IMAGE, means, spread, means[::-1].copy(), spread)
    parts = [part for x, ends in zip(values, ranges, strict=True) for part in quint8(x, *ends)]
    norm = "QuantizedBatchNormWithGlobalNormalization"
    own = quint8(IMAGE, -1, 1)
    given = {"output_range_given": True, "given_y_min": -1.5, "given_y_max": 2.0}
    more = {"variance_epsilon": 1e-3, "min_separation": 1e-3}
    plain = {"output_range_given": False, "given_y_min": 0.0, "given_y_max": 0.0}
    found = {
        f"norm_{scaled}": call(norm, *parts, out_type=tf.qint32, variance_epsilon=0.01,
                               scale_after_normalization=scaled)
        for scaled in (True, False)
    }  # fmt: skip
    found["instance"] = call("QuantizedInstanceNorm", *own, **plain, **more)
    found["instance_given"] = call("QuantizedInstanceNorm", *own, **given, **more)
    return found


def _resized(call: Any, image: Any) -> dict[str, Any]:
    found = {}
    for size, aligned, centers in (
        ([3, 7], False, False), ([9, 3], True, False), ([8, 8], False, True), ([5, 4], True, False),
    ):  # fmt: skip
        found[f"resized_{size}"] = call(
            "QuantizedResizeBilinear", image[0], size, *image[1:], align_corners=aligned,
            half_pixel_centers=centers,
        )  # fmt: skip
    found["resized_floats"] = call(
        "QuantizedResizeBilinear", IMAGE, [7, 3], -1.0, 1.0, align_corners=False,
        half_pixel_centers=False,
    )  # fmt: skip
    return found


def _plain(tf: Any, value: Any) -> Any:
    kind = {tf.quint8: tf.uint8, tf.qint32: tf.int32}.get(value[0].dtype, tf.int32)
    return [tf.bitcast(value[0], kind), *value[1:]]


_PAIR = {
    "QuantizedMatMul": "a b min_a max_a min_b max_b", "QuantizedMul": "x y min_x max_x min_y max_y",
    "QuantizedAdd": "x y min_x max_x min_y max_y",
    "QuantizedBiasAdd": "input bias min_input max_input min_bias max_bias",
    "QuantizedConv2D": "input filter min_input max_input min_filter max_filter",
    "QuantizedRelu": "features min_features max_features",
    "QuantizedRelu6": "features min_features max_features",
    "QuantizedReshape": "tensor shape input_min input_max",
    "QuantizedAvgPool": "input min_input max_input",
    "QuantizedMaxPool": "input min_input max_input",
    "QuantizeDownAndShrinkRange": "input input_min input_max",
    "RequantizationRange": "input input_min input_max",
    "QuantizedBatchNormWithGlobalNormalization": "t t_min t_max m m_min m_max v v_min v_max"
    " beta beta_min beta_max gamma gamma_min gamma_max",
    "QuantizedInstanceNorm": "x x_min x_max", "QuantizedResizeBilinear": "images size min max",
    "Requantize": "input input_min input_max requested_output_min requested_output_max",
}  # fmt: skip
NAMES = {op: names.split() for op, names in _PAIR.items()}


def answers(tf: Any) -> dict[str, np.ndarray]:
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(results(tf))
    parts = ("values", "low", "high")
    return {
        f"{name}/{part}": np.asarray(value)
        for name, values in found.items()
        for part, value in zip(parts, values, strict=True)
    }
