"""The rows of the table that plain JAX has an operation for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from operation_cases.networks import CONVOLUTIONS, Convolution

Function = Callable[..., Any]


def prepare(function: Function, arrays: list[Any]) -> Callable[[], Any]:
    """The function compiled, with its arguments on the device."""
    compiled, held = jax.jit(function), jax.device_put(arrays)
    return lambda: jax.tree.map(np.asarray, compiled(*held))


def convolution_functions(convolution: Convolution, tasks: str) -> dict[str, Function]:
    layout = convolution.layout
    filters = "HWIO"
    strides = (convolution.stride,) * 2

    def apply(x: Any, w: Any) -> Any:
        if convolution.depthwise:
            w = w.reshape(*w.shape[:2], 1, -1)
        groups = convolution.inner if convolution.depthwise else 1
        return lax.conv_general_dilated(
            x, w, strides, "SAME", dimension_numbers=(layout, filters, layout),
            feature_group_count=groups,
        )  # fmt: skip

    functions = {
        "f": lambda x, w, g: apply(x, w),
        "i": lambda x, w, g: jax.vjp(lambda x: apply(x, w), x)[1](g)[0],
        "w": lambda x, w, g: jax.vjp(lambda w: apply(x, w), w)[1](g)[0],
    }
    names = [case.name for case in convolution.cases(tasks)]
    return dict(zip(names, (functions[task] for task in tasks), strict=True))


def _max_pool(size: int, stride: int) -> Function:
    window, strides = (1, size, size, 1), (1, stride, stride, 1)
    return lambda x: lax.reduce_window(x, -jnp.inf, lax.max, window, strides, "SAME")


def _average_pool(x: Any) -> Any:
    window, ones = (1, 3, 3, 1), (1, 1, 1, 1)
    total = lax.reduce_window(x, 0.0, lax.add, window, ones, "SAME")
    return total / lax.reduce_window(jnp.ones_like(x), 0.0, lax.add, window, ones, "SAME")


def _sum_gradient(function: Function, *numbers: int) -> Function:
    return jax.grad(lambda *given: function(*given).sum(), numbers or 0)


def _batch_norm(x: Any, scale: Any, offset: Any, *rest: Any) -> Any:
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) * lax.rsqrt(variance + 1e-3) * scale + offset


def _layer_norm(x: Any, scale: Any, offset: Any) -> Any:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-6) * scale + offset


def _lstm(x: Any, c: Any, h: Any, kernel: Any, bias: Any) -> Any:
    i, j, f, o = jnp.split(jnp.concatenate([x, h], 1) @ kernel + bias, 4, axis=1)
    c = c * jax.nn.sigmoid(f + 1) + jax.nn.sigmoid(i) * jnp.tanh(j)
    return c, jnp.tanh(c) * jax.nn.sigmoid(o)


def _gru(x: Any, h: Any, gates: Any, candidate: Any) -> Any:
    r, u = jnp.split(jax.nn.sigmoid(jnp.concatenate([x, h], 1) @ gates), 2, axis=1)
    c = jnp.tanh(jnp.concatenate([x, r * h], 1) @ candidate)
    return u * h + (1 - u) * c


def _attention(q: Any, k: Any, v: Any) -> Any:
    return jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) * 0.125) @ v


def _cross_entropy(logits: Any, labels: Any) -> Any:
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
    return -chosen.sum()


def _chain(x: Any) -> Any:
    y = x
    for _ in range(5):
        y = jnp.maximum(y * 0.5 + x, -1.0) - jnp.tanh(y)
    return y


FUNCTIONS: dict[str, Function] = {
    **{
        name: function
        for convolution, tasks in CONVOLUTIONS
        for name, function in convolution_functions(convolution, tasks).items()
    },
    "max pool 3x3/2, 112x112x64": _max_pool(3, 2),
    "max pool 3x3/2, its gradient": _sum_gradient(_max_pool(3, 2)),
    "max pool 2x2/2, 28x28x32, batch 64": _max_pool(2, 2),
    "max pool 2x2/2, its gradient": _sum_gradient(_max_pool(2, 2)),
    "average pool 3x3, 28x28x192": _average_pool,
    "mean over 7x7, 2048, batch 64": lambda x: x.mean((1, 2)),
    "batch norm, training": _batch_norm,
    "batch norm and relu, gradients": _sum_gradient(
        lambda *given: jax.nn.relu(_batch_norm(*given)), 0, 1, 2
    ),
    "layer norm, 4096x768": _layer_norm,
    "LSTM step, 512, batch 32": _lstm,
    "GRU step, 512, batch 32": _gru,
    "attention, 8x12 heads, 128x64": _attention,
    "embedding, 4096 of 30000x512": lambda table, ids: table[ids],
    "embedding's gradient, dense": lambda table, ids, g: jnp.zeros_like(table).at[ids].add(g),
    "softmax, 1024x8192": jax.nn.softmax,
    "cross entropy 1024x8192, gradient": jax.grad(_cross_entropy),
    "one-hot cross entropy, 256x1000": lambda x, i: _cross_entropy(x, i) / len(i),
    "matmul 128x784 by 784x512": jnp.matmul,
    "matmul 1024 cubed": jnp.matmul,
    "matmul 1x4096 by 4096x4096": jnp.matmul,
    "matmul 64x64": jnp.matmul,
    "matmul 96 of 128x64 by 64x128": jnp.matmul,
    "Adam's update, 1M": lambda w, m, v, g: (
        w - 1e-3 * (0.9 * m + 0.1 * g) / (jnp.sqrt(0.999 * v + 0.001 * jnp.square(g)) + 1e-8)
    ),
    "sum of tanh and exp, 1000x1000": lambda z: jnp.sum(jnp.tanh(z) * 2 + jnp.exp(-z * z)),
    "gelu, 4096x1024": lambda x: x * 0.5 * (1.0 + jnp.tanh(0.7978845608 * (x + 0.044715 * x**3))),
    "chain of 20 operations, 1M": _chain,
    "add and relu, 1M": lambda a, b: jax.nn.relu(a + b),
    "sigmoid, 1M": jax.nn.sigmoid,
    "log of exp, 256x1000": lambda x: jax.nn.logsumexp(x, 1),
    "sum of 4M": jnp.sum,
    "mean over rows, 4096x1024": lambda x: jnp.mean(x, 0),
    "mean over columns, 4096x1024": lambda x: jnp.mean(x, 1),
    "max of the middle, 64x512x64": lambda x: jnp.max(x, 1),
    "moments, 1000x1000": lambda x: (jnp.mean(x), jnp.var(x)),
    "argmax, 64x30000": lambda x: jnp.argmax(x, 1),
    "cumulative sum, 1000x1000": lambda x: jnp.cumsum(x, 1),
    "top 10 of 64x30000": lambda x: lax.top_k(x, 10),
    "top 200 of 9000": lambda x: lax.top_k(x, 200),
    "sort 1M": jnp.sort,
    "sort 1000x1000": jnp.sort,
    "argsort 100000": jnp.argsort,
    "gather 20000 rows of 64": lambda x, i: x[i],
    "gather_nd, 50000 numbers": lambda x, i: x[i[:, 0], i[:, 1]],
    "scatter_nd, 20000 rows of 64": lambda i, u: jnp.zeros((50_000, 64)).at[i[:, 0]].add(u),
    "segment sum, 20000 rows of 64": lambda x, i: jax.ops.segment_sum(x, i, 1000),
    "one-hot, 4096 of 1000": lambda i: jax.nn.one_hot(i, 1000),
    "transpose heads, 32x128x12x64": lambda x: x.transpose(0, 2, 1, 3),
    "transpose 1000x1000": jnp.transpose,
    "concat of 8, 512x256": lambda *parts: jnp.concatenate(parts, 1),
    "where, 1M": lambda a, b: jnp.where(a > b, a, b * 0.1),
    "random normal, 1M": lambda: jax.random.normal(jax.random.key(1), (1_000_000,)),
    "uint8 images to floats, 32x224x224x3": lambda x: (x.astype(np.float32) - 127.5) / 127.5,
}
