"""Operations that networks consist of: convolutions, pooling, norms, products, losses, cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from operation_cases.case import Case, below, floats, of


@dataclass(frozen=True)
class Convolution:
    """A convolution of some network; `depth` is the multiplier of a depthwise one."""

    title: str
    batch: int
    size: int
    inner: int
    outer: int
    window: int
    stride: int = 1
    depthwise: bool = False
    layout: str = "NHWC"

    def image(self, size: int, channels: int) -> tuple[int, ...]:
        if self.layout == "NCHW":
            return (self.batch, channels, size, size)
        return (self.batch, size, size, channels)

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Of the images, the filters and the result."""
        last = 1 if self.depthwise else self.outer
        filters = (self.window, self.window, self.inner, last)
        made = -(-self.size // self.stride)
        return self.image(self.size, self.inner), filters, self.image(made, self.outer)

    def apply(self, tf: Any, x: Any, w: Any) -> Any:
        strides = [1, self.stride, self.stride, 1]
        if self.depthwise:
            return tf.nn.depthwise_conv2d(x, w, strides, "SAME")
        if self.layout == "NCHW":
            strides = [1, 1, self.stride, self.stride]
        return tf.nn.conv2d(x, w, strides, "SAME", data_format=self.layout)

    def forward(self, tf: Any, x: Any, w: Any, g: Any) -> Any:
        return self.apply(tf, x, w)

    def input_gradient(self, tf: Any, x: Any, w: Any, g: Any) -> Any:
        return tf.gradients(self.apply(tf, x, w), x, g)[0]

    def filter_gradient(self, tf: Any, x: Any, w: Any, g: Any) -> Any:
        return tf.gradients(self.apply(tf, x, w), w, g)[0]

    def cases(self, tasks: str) -> list[Case]:
        """A row for each of f (forward), i (gradient of the images), w (of the filters)."""
        found = {
            "f": ("", self.forward),
            "i": (", images' gradient", self.input_gradient),
            "w": (", filters' gradient", self.filter_gradient),
        }
        values = floats(*self.shapes)
        return [Case(self.title + found[t][0], values, found[t][1]) for t in tasks]


CONVOLUTIONS = [
    (Convolution("conv 3x3, 64, 56x56, batch 1", 1, 56, 64, 64, 3), "fiw"),
    (Convolution("conv 3x3, 64, 56x56, batch 1, NCHW", 1, 56, 64, 64, 3, layout="NCHW"), "f"),
    (Convolution("conv 3x3, 256, 14x14, batch 1", 1, 14, 256, 256, 3), "f"),
    (Convolution("conv 3x3, 32, 16x16, batch 64", 64, 16, 32, 32, 3), "fiw"),
    (Convolution("conv 3x3/2, 64-128, 56x56, batch 1", 1, 56, 64, 128, 3, 2), "fiw"),
    (Convolution("conv 3x3/2, 32-64, 16x16, batch 64", 64, 16, 32, 64, 3, 2), "f"),
    (Convolution("conv 1x1, 256-64, 56x56, batch 1", 1, 56, 256, 64, 1), "fiw"),
    (Convolution("conv 1x1, 64-256, 8x8, batch 64", 64, 8, 64, 256, 1), "f"),
    (Convolution("conv 5x5, 32-64, 14x14, batch 64", 64, 14, 32, 64, 5), "fiw"),
    (Convolution("conv 7x7/2, 3-64, 224x224, batch 1", 1, 224, 3, 64, 7, 2), "fw"),
    (Convolution("depthwise 3x3, 128, 56x56, batch 1", 1, 56, 128, 128, 3, depthwise=True), "fiw"),
    (Convolution("depthwise 3x3/2, 64, 16x16, batch 64", 64, 16, 64, 64, 3, 2, True), "f"),
]


def _pool(kind: str, size: int, stride: int, with_gradient: bool) -> Any:
    def compute(tf: Any, x: Any) -> Any:
        pool = tf.nn.max_pool if kind == "max" else tf.nn.avg_pool
        y = pool(x, [1, size, size, 1], [1, stride, stride, 1], "SAME")
        return tf.gradients(y, x)[0] if with_gradient else y

    return compute


def _batch_norm(is_training: bool, with_gradient: bool) -> Any:
    def compute(tf: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
        given = {} if is_training else {"mean": mean, "variance": tf.abs(variance)}
        norm = tf.nn.fused_batch_norm(x, scale, offset, is_training=is_training, **given)
        y = norm[0]
        return tf.gradients(tf.nn.relu(y), [x, scale, offset]) if with_gradient else y

    return compute


def _layer_norm(tf: Any, x: Any, scale: Any, offset: Any) -> Any:
    mean, variance = tf.nn.moments(x, [-1], keep_dims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-6) * scale + offset


def _lstm(tf: Any, x: Any, c: Any, h: Any, kernel: Any, bias: Any) -> Any:
    gates = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), kernel), bias)
    i, j, f, o = tf.split(gates, 4, axis=1)
    c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
    return c, tf.tanh(c) * tf.sigmoid(o)


def _gru(tf: Any, x: Any, h: Any, gates: Any, candidate: Any) -> Any:
    r, u = tf.split(tf.sigmoid(tf.matmul(tf.concat([x, h], 1), gates)), 2, axis=1)
    c = tf.tanh(tf.matmul(tf.concat([x, r * h], 1), candidate))
    return u * h + (1 - u) * c


def _attention(tf: Any, q: Any, k: Any, v: Any) -> Any:
    weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * 0.125)
    return tf.matmul(weights, v)


def _cross_entropy(tf: Any, logits: Any, labels: Any) -> Any:
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.gradients(loss, logits)[0]


def _dense_cross_entropy(tf: Any, logits: Any, labels: Any) -> Any:
    ones = tf.one_hot(labels, 1000)
    return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=ones, logits=logits))


def _embedding_gradient(tf: Any, table: Any, ids: Any, g: Any) -> Any:
    slices = tf.gradients(tf.nn.embedding_lookup(table, ids), table, g)[0]
    return tf.convert_to_tensor(slices)


def _matmul(tf: Any, a: Any, b: Any) -> Any:
    return tf.matmul(a, b)


_NORM = ((64,),) * 4
NETWORKS = [
    *(case for convolution, tasks in CONVOLUTIONS for case in convolution.cases(tasks)),
    Case("max pool 3x3/2, 112x112x64", floats((1, 112, 112, 64)), _pool("max", 3, 2, False)),
    Case("max pool 3x3/2, its gradient", floats((1, 112, 112, 64)), _pool("max", 3, 2, True)),
    Case("max pool 2x2/2, 28x28x32, batch 64", floats((64, 28, 28, 32)), _pool("max", 2, 2, False)),
    Case("max pool 2x2/2, its gradient", floats((64, 28, 28, 32)), _pool("max", 2, 2, True)),
    Case("average pool 3x3, 28x28x192", floats((4, 28, 28, 192)), _pool("avg", 3, 1, False)),
    Case(
        "mean over 7x7, 2048, batch 64",
        floats((64, 7, 7, 2048)),
        lambda tf, x: tf.reduce_mean(x, [1, 2]),
    ),
    Case("batch norm, training", floats((8, 56, 56, 64), *_NORM), _batch_norm(True, False)),
    Case(
        "batch norm and relu, gradients", floats((8, 56, 56, 64), *_NORM), _batch_norm(True, True)
    ),
    Case("batch norm, inference", floats((8, 56, 56, 64), *_NORM), _batch_norm(False, False)),
    Case("layer norm, 4096x768", floats((4096, 768), (768,), (768,)), _layer_norm),
    Case(
        "LSTM step, 512, batch 32",
        floats((32, 512), (32, 512), (32, 512), (1024, 2048), (2048,)),
        _lstm,
    ),
    Case("GRU step, 512, batch 32", floats((32, 512), (32, 512), (1024, 1024), (1024, 512)), _gru),
    Case("attention, 8x12 heads, 128x64", floats(*((8, 12, 128, 64),) * 3), _attention),
    Case(
        "embedding, 4096 of 30000x512",
        of((30000, 512), below(30000, 32, 128)),
        lambda tf, table, ids: tf.nn.embedding_lookup(table, ids),
    ),
    Case(
        "embedding's gradient, dense",
        of((30000, 128), below(30000, 2048), (2048, 128)),
        _embedding_gradient,
    ),
    Case("softmax, 1024x8192", floats((1024, 8192)), lambda tf, x: tf.nn.softmax(x)),
    Case(
        "cross entropy 1024x8192, gradient",
        of((1024, 8192), below(8192, 1024)),
        _cross_entropy,
    ),
    Case(
        "one-hot cross entropy, 256x1000", of((256, 1000), below(1000, 256)), _dense_cross_entropy
    ),
    Case("matmul 128x784 by 784x512", floats((128, 784), (784, 512)), _matmul),
    Case("matmul 1024 cubed", floats((1024, 1024), (1024, 1024)), _matmul),
    Case("matmul 1x4096 by 4096x4096", floats((1, 4096), (4096, 4096)), _matmul),
    Case("matmul 64x64", floats((64, 64), (64, 64)), _matmul),
    Case("matmul 96 of 128x64 by 64x128", floats((96, 128, 64), (96, 64, 128)), _matmul),
    Case(
        "Adam's update, 1M",
        lambda random: [np.abs(random.standard_normal(1_000_000, np.float32)) for _ in range(4)],
        lambda tf, w, m, v, g: (
            w - 1e-3 * (0.9 * m + 0.1 * g) / (tf.sqrt(0.999 * v + 0.001 * tf.square(g)) + 1e-8)
        ),
    ),
]
