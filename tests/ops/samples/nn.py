"""Samples of nn.py, top_k.py and batch_norm.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import Sample, Skip, bf16, f16, f32, f64, i8, i32, i64, ramp, skip, u8

nan, inf = float("nan"), float("inf")
X = [-7.5, -1.0, -0.25, 0.0, 0.5, 2.0, 6.0, 8.0]
G = [1.0, -2.0, 0.5, 3.0, -1.0, 2.0, 0.25, -0.5]
FLOATS = (f16, bf16, f32, f64)

ACTIVATIONS: list[Sample] = [
    *[
        Sample(op, make(X))
        for op in (
            "Relu Relu6 LeakyRelu Elu Selu Softplus Softsign Softmax LogSoftmax L2Loss".split()
        )
        for make in FLOATS
    ],
    *[
        Sample(op, make(G), make(X))
        for op in "ReluGrad Relu6Grad LeakyReluGrad SoftplusGrad SoftsignGrad".split()
        for make in FLOATS
    ],
    *[
        Sample(op, make(G), make([-0.99, -0.5, -0.25, 0.0, 0.5, 2.0, 6.0, 8.0]))
        for op in ("EluGrad", "SeluGrad")
        for make in FLOATS
    ],
    *[Sample(op, make([[-3, 0], [2, 9]])) for op in ("Relu", "Relu6") for make in (i8, i32, i64)],
    *[Sample(op, u8([0, 5, 250])) for op in ("Relu", "Relu6")],
    *[Sample(op, i32([1, 2, 3]), i32([-1, 3, 7])) for op in ("ReluGrad", "Relu6Grad")],
    *[  # a unit that is off multiplies its gradient by zero
        Sample(op, make([inf, -inf, nan, -1.0, inf, nan]), make([-1, 0, -1, -1, 3, 7]), grad=False)
        for op in ("ReluGrad", "Relu6Grad")
        for make in FLOATS
    ],
    *[Sample(op, f32(-0.5)) for op in "Relu Relu6 LeakyRelu Elu Selu Softplus Softsign".split()],
    *[Sample(op, f32([], (0, 3))) for op in ("Relu", "Elu", "Softplus", "Softmax", "L2Loss")],
    *[Sample(op, f32([nan, inf, -inf]), grad=False) for op in ("Relu", "Relu6", "LeakyRelu")],
    Sample("Softplus", f64([-800.0, -40.0, 40.0, 800.0])),
    Sample("Softplus", f32([-100.0, -20.0, 20.0, 100.0])),
    Sample("LeakyRelu", f32(X), alpha=0.5),
    Sample("LeakyRelu", f64(X), alpha=0.0),
    Sample("LeakyReluGrad", f32(G), f32(X), alpha=0.01),
    Sample("ReluGrad", f32([1.0, 2.0]), f32([1.0, 2.0, 3.0])),
]

MATRIX = [[1.0, -2.0, 0.5], [4.0, 3.5, -1.0]]
SOFT = [[0.25, 0.5, 0.25], [1.0, 0.0, 0.0]]
SOFTMAX: list[Sample] = [
    *[Sample(op, make(MATRIX)) for op in ("Softmax", "LogSoftmax") for make in FLOATS],
    *[Sample(op, ramp("float32", (2, 2, 3))) for op in ("Softmax", "LogSoftmax")],
    *[Sample(op, f32([1e4, -1e4, 0.0])) for op in ("Softmax", "LogSoftmax")],
    *[Sample(op, f32([], (2, 0)), grad=False) for op in ("Softmax", "LogSoftmax")],
    *[Sample(op, f32(1.0)) for op in ("Softmax", "LogSoftmax")],
    *[Sample("SoftmaxCrossEntropyWithLogits", make(MATRIX), make(SOFT)) for make in FLOATS],
    Sample("SoftmaxCrossEntropyWithLogits", f32(MATRIX), f32([[0.2, 0.3, 0.5]]), grad=False),
    Sample("SoftmaxCrossEntropyWithLogits", f32(MATRIX), f32([1.0, 0.0, 0.0]), grad=False),
    Sample("SoftmaxCrossEntropyWithLogits", f64(MATRIX), f64([[3.0, -1.0, 2.0], [0, 0, 0]])),
    Sample("SoftmaxCrossEntropyWithLogits", f32([], (0, 3)), f32([], (0, 3)), grad=False),
    Sample("SoftmaxCrossEntropyWithLogits", f32(MATRIX), f32([[1.0, 2.0]])),
    Sample("SoftmaxCrossEntropyWithLogits", f32([1.0, 2.0]), f32([1.0, 2.0])),
    *[
        Sample("SparseSoftmaxCrossEntropyWithLogits", make(MATRIX), label([2, 0]))
        for make in FLOATS
        for label in (i32, i64)
    ],
    Sample("SparseSoftmaxCrossEntropyWithLogits", f32([], (0, 3)), i32([]), grad=False),
    Sample("SparseSoftmaxCrossEntropyWithLogits", f32([[1e4, -1e4]]), i64([1])),
    Sample("SparseSoftmaxCrossEntropyWithLogits", f32(MATRIX), i32([0])),
    Sample("SparseSoftmaxCrossEntropyWithLogits", f32(MATRIX), i32([[0], [1]])),
]

IMAGES = np.arange(24).reshape(2, 2, 3, 2) * 0.25 - 2.5
BIASES: list[Sample] = [
    *[Sample("BiasAdd", make(IMAGES), make([1.0, -2.0])) for make in FLOATS],
    *[Sample("BiasAddV1", make(IMAGES), make([1.0, -2.0])) for make in (f32, f64)],
    *[Sample("BiasAddGrad", make(IMAGES)) for make in FLOATS],
    *[Sample("BiasAdd", make([[1, 2], [3, 4]]), make([10, 20])) for make in (i32, i64)],
    Sample("BiasAdd", f32(IMAGES), f32([1.0, -2.0]), data_format="NCHW"),
    Sample("BiasAdd", f64(IMAGES[0]), f64([1.0, -2.0]), data_format="NCHW"),
    Sample("BiasAdd", f32(IMAGES[0, 0]), f32([1.0, -2.0])),
    Sample("BiasAdd", f32(np.zeros((1, 2, 1, 2, 3))), f32([1.0, 2.0, 3.0])),
    Sample("BiasAdd", f32([], (0, 2)), f32([1.0, 2.0])),
    Sample("BiasAdd", f32([[1.0, 2.0]]), f32([1.0])),
    Sample("BiasAdd", f32([1.0, 2.0]), f32([1.0, 2.0])),
    Sample("BiasAddGrad", f32(IMAGES), data_format="NCHW"),
    Sample("BiasAddGrad", f32(IMAGES[0, 0])),
    Sample("BiasAddGrad", f32([], (0, 2))),
    Sample("BiasAddGrad", f32([1.0, 2.0])),
]

DEEP = np.linspace(-2.0, 3.0, 2 * 2 * 1 * 7).reshape(2, 2, 1, 7)
NORMS: list[Sample] = [
    *[Sample("LRN", make(DEEP)) for make in (f16, bf16, f32)],
    Sample("LRN", f32(DEEP), depth_radius=2, bias=2.0, alpha=0.5, beta=0.75),
    Sample("LRN", f32(DEEP), depth_radius=1, bias=1.5, alpha=1e-2, beta=1.0),
    Sample("LRN", f32(DEEP), depth_radius=0),
    Sample("LRN", f32([1.0, 2.0])),
    *[Sample("LRNGrad", make(DEEP), make(DEEP * 0.5), make(DEEP * 0.25)) for make in (f16, f32)],
    Sample(
        "LRNGrad", f32(DEEP), f32(DEEP + 1), f32(DEEP * 0.3), depth_radius=2, alpha=0.1, beta=0.75
    ),
    *[Sample("L2Loss", make(MATRIX)) for make in FLOATS],
]

TIES = [[1.0, 5.0, 3.0, 5.0, -2.0], [0.0, 0.0, 4.0, 0.0, 1.0]]
TOP: list[Sample] = [
    *[Sample("TopKV2", make(TIES), i32(3)) for make in FLOATS],
    *[Sample("TopKV2", make([[3, 9, 9, 1], [0, 5, 5, 7]]), i32(2)) for make in (i8, u8, i32, i64)],
    Sample("TopKV2", f32(TIES), i32(0)),
    Sample("TopKV2", f32(TIES), i32(5)),
    Sample("TopKV2", f32(TIES[0]), i32(1)),
    Sample("TopKV2", f32(np.arange(12).reshape(2, 2, 3) % 5), i32(2)),
    Sample("TopKV2", f32([[4.0, 1.0, 3.0]]), i32(1), sorted=False),
    Sample("TopKV2", f32([], (0, 3)), i32(2)),
    Sample("TopKV2", f32([1.0]), i32(2)),
    Sample("TopKV2", f32([1.0]), i32(-1)),
    Sample("TopKV2", f32(1.0), i32(1)),
    *[
        Sample("InTopK", f32([[0.1, 0.3, 0.2], [0.5, 0.5, 0.1], [nan, 1, 2]]), t([2, 1, 2]), k=k)
        for t in (i32, i64)
        for k in (1, 2)
    ],
    Sample("InTopK", f32([[0.1, 0.3], [inf, 0.5]]), i32([5, 1]), k=1),
    *[
        Sample("InTopKV2", f32([[0.1, 0.3, 0.2], [0.5, 0.5, 0.1]]), i32([2, 1]), i32(k))
        for k in (1, 2)
    ],
    Sample("InTopKV2", f32([[0.1, 0.3, 0.2], [0.5, 0.5, 0.1]]), i64([2, -1]), i64(3)),
    Sample("InTopK", f32([0.1, 0.3]), i32([0]), k=1),
    Sample("InTopK", f32([[0.1, 0.3]]), i32([0, 1]), k=1),
    *[Sample("NthElement", make(TIES), i32(n)) for make in (f32, f64) for n in (0, 2, 4)],
    Sample("NthElement", f32(TIES), i32(1), reverse=True),
    Sample("NthElement", i32([[3, 1, 2], [6, 5, 4]]), i32(1)),
    Sample("NthElement", f32(TIES[0]), i32(3)),
    Sample("NthElement", f32(TIES), i32(5)),
]


def norm_inputs(make: Any, shape: tuple[int, ...], channels: int) -> tuple[Any, ...]:
    x = (np.arange(np.prod(shape)) * 7 % 13 * 0.5 - 2.0).reshape(shape)
    scale, offset = np.linspace(0.5, 1.5, channels), np.linspace(-1.0, 1.0, channels)
    return make(x), f32(scale), f32(offset)


GIVEN = f32([0.5, -0.25]), f32([1.5, 0.75])
EMPTY = f32([], (0,))
BATCH_NORM: list[Sample | Skip] = [
    Sample("FusedBatchNorm", *norm_inputs(f32, (2, 2, 3, 2), 2), EMPTY, EMPTY, rtol=2e-5),
    Sample("FusedBatchNorm", *norm_inputs(f32, (1, 1, 1, 2), 2), EMPTY, EMPTY, grad=False),
    Sample("FusedBatchNormV2", *norm_inputs(f32, (2, 2, 3, 2), 2), EMPTY, EMPTY, epsilon=0.01),
    Sample("FusedBatchNormV3", *norm_inputs(f32, (2, 2, 3, 2), 2), EMPTY, EMPTY, epsilon=0.01),
    Sample("FusedBatchNormV3", *norm_inputs(f32, (2, 2, 3, 2), 2), f32([1.0]), EMPTY),
    Sample("FusedBatchNorm", *norm_inputs(f32, (2, 2, 3, 2), 3), EMPTY, EMPTY),
    Sample("FusedBatchNorm", *norm_inputs(f32, (2, 2, 3), 3), EMPTY, EMPTY),
    *[
        Sample(
            f"FusedBatchNormGrad{version}",
            f32(IMAGES),
            f32(IMAGES * IMAGES),
            f32([0.5, 1.5]),
            *GIVEN,
            *more,
            epsilon=0.01,
            is_training=training,
            grad=False,  # FusedBatchNorm's samples look at its second gradient
            rtol=1e-4,
        )
        for version, more in (("", []), ("V2", []), ("V3", [f32(0.0)]))
        for training in (True, False)
    ],
    skip(
        "BatchNormWithGlobalNormalization",
        "no longer runs in TensorFlow 2; checked in tests/ops/nn/test_batch_norm.py",
    ),
    skip(
        "BatchNormWithGlobalNormalizationGrad",
        "no longer runs in TensorFlow 2; checked in tests/ops/nn/test_batch_norm.py",
    ),
    skip("TopK", "no longer runs in TensorFlow 2; shares its kernel with TopKV2"),
]

SAMPLES: list[Sample | Skip] = [
    *ACTIVATIONS,
    *SOFTMAX,
    *BIASES,
    *NORMS,
    *TOP,
    *BATCH_NORM,
]
