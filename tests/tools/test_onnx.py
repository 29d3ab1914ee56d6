"""ONNX models of single operations and of small networks give in onnxruntime what weft gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.tools.inference_passes import optimize_signature
from weft.lib.tools.onnx_export import export_onnx, run_onnx
from weft.lib.tools.signature_graph import SignatureGraph, freeze_signature, run_signature

for _library in ("onnx", "onnxruntime"):
    pytest.importorskip(_library, reason="a library of the extra weft[onnx] is not installed")

RANDOM = np.random.default_rng(3)
ROWS = RANDOM.normal(size=[4, 6]).astype(np.float32)
OTHER = RANDOM.uniform(0.5, 2, size=[6, 5]).astype(np.float32)
IMAGES = RANDOM.normal(size=[2, 7, 8, 4]).astype(np.float32)
FILTERS = RANDOM.normal(size=[3, 3, 4, 2]).astype(np.float32)
CHANNELS = RANDOM.uniform(0.5, 1, size=[4]).astype(np.float32)


def _normalized(x: Any) -> Any:
    given = [tf.constant(CHANNELS + i) for i in range(4)]
    return tf.nn.fused_batch_norm(x, *given, is_training=False)[0]


CASES: dict[str, tuple[Callable[..., Any], np.ndarray]] = {
    "elements": (lambda x: tf.tanh(x) * tf.nn.sigmoid(x) - tf.exp(-tf.abs(x)) / 2.0, ROWS),
    "activations": (lambda x: tf.nn.elu(x) + tf.nn.relu6(x * 4) + tf.nn.leaky_relu(x, 0.3), ROWS),
    "roots": (lambda x: tf.rsqrt(tf.square(x) + 1.0) + tf.squared_difference(x, 2.0), ROWS),
    "error functions": (lambda x: tf.erf(x) - 2 * tf.erfc(x), ROWS),
    "where": (lambda x: tf.where_v2((x > 0) & ~(x >= 1), x, tf.zeros_like(OTHER[0, 0])), ROWS),
    "softmax": (lambda x: tf.nn.softmax(x) + tf.nn.log_softmax(x), ROWS),
    "matmul": (lambda x: tf.matmul(x, OTHER), ROWS),
    "matmul transposed": (lambda x: tf.matmul(x, ROWS[:3], transpose_b=True), ROWS),
    "batch matmul": (lambda x: tf.matmul(x, x, transpose_b=True), IMAGES),
    "mean": (lambda x: tf.reduce_mean(x, [1, 2]), IMAGES),
    "sum, kept": (lambda x: tf.reduce_sum(x, -1, keepdims=True) + tf.reduce_max(x), ROWS),
    "argmax": (lambda x: tf.argmax(x, 1, output_type=tf.int32), ROWS),
    "cast": (lambda x: tf.cast(tf.cast(x * 10, tf.int32), tf.float32), ROWS),
    "flatten": (lambda x: tf.layers.flatten(x), IMAGES),
    "pack": (lambda x: tf.stack([x, x + 1], 1), ROWS),
    "concat": (lambda x: tf.concat([x, tf.expand_dims(x[:, 0], 1)], 1), ROWS),
    "slices": (lambda x: x[1:, ::2] + x[:-1, 1:6:2] + x[-1, 0], ROWS),
    "transpose": (lambda x: tf.transpose(tf.squeeze(x[:, :1], [1]), [2, 0, 1]), IMAGES),
    "gather": (lambda x: tf.gather(x, [3, 0], axis=1), ROWS),
    "pad": (lambda x: tf.tile(tf.pad(x, [[0, 0], [1, 2]], constant_values=5.0), [1, 2]), ROWS),
    "convolution": (lambda x: tf.nn.conv2d(x, FILTERS, [1, 2, 2, 1], "SAME"), IMAGES),
    "dilated": (lambda x: tf.nn.conv2d(x, FILTERS, 1, "VALID", dilations=[1, 2, 2, 1]), IMAGES),
    "depthwise": (lambda x: tf.nn.depthwise_conv2d(x, FILTERS, [1, 1, 1, 1], "SAME"), IMAGES),
    "max pool": (lambda x: tf.nn.max_pool(x, 3, 2, "SAME"), IMAGES),
    "average pool": (lambda x: tf.nn.avg_pool(x, 3, 2, "SAME"), IMAGES),
    "bias": (lambda x: tf.nn.bias_add(x, CHANNELS), IMAGES),
    "batch norm": (_normalized, IMAGES),
}


def signature(build: Callable[..., Any], value: np.ndarray, folder: Path) -> SignatureGraph:
    """What `build` makes of a placeholder of any batch, saved and frozen."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(value.dtype, [None, *value.shape[1:]])
        tf.saved_model.simple_save(session, str(folder), {"x": x}, {"y": build(x)})
    with tf.Graph().as_default(), tf.Session() as session:
        model = tf.saved_model.loader.load(session, ["serve"], str(folder))
    return freeze_signature(str(folder), ["serve"], model.signature_def["serving_default"])


@pytest.mark.parametrize("case", CASES)
def test_onnx_gives_the_same(case: str, tmp_path: Path) -> None:
    build, value = CASES[case]
    frozen = signature(build, value, tmp_path / "model")
    content = export_onnx(optimize_signature(frozen)[0])
    found = run_onnx(content, {"x": value}, ["y"])["y"]
    wanted = run_signature(frozen, {"x": value})["y"]
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: tf.cumsum(tf.sinh(x)), "in ONNX: Cumsum, Sinh"),
        (lambda x: x[:, ::-1], "in ONNX: StridedSlice (a stride backwards)"),
    ],
)
def test_what_onnx_lacks_is_listed(build: Callable[..., Any], message: str, tmp_path: Path) -> None:
    frozen = signature(build, ROWS, tmp_path / "model")
    with pytest.raises(ValueError) as caught:
        export_onnx(frozen)
    assert message in str(caught.value)
