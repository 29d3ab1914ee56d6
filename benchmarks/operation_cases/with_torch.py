"""The rows of the table that PyTorch has an operation for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from operation_cases.networks import CONVOLUTIONS, Convolution

Function = Callable[..., Any]


def prepare(function: Function, arrays: list[Any]) -> Callable[[], Any]:
    """The function, with its arguments as tensors."""
    held = [torch.from_numpy(array) for array in arrays]

    def call() -> Any:
        with torch.no_grad():
            made = function(*held)
            return [each.numpy() for each in made] if _several(made) else made.numpy()

    return call


def _several(made: Any) -> bool:
    return isinstance(made, (tuple, list))


def convolution_functions(convolution: Convolution, tasks: str) -> dict[str, Function]:
    """Images lie channels-last in memory, as they do for the others."""
    groups = convolution.inner if convolution.depthwise else 1
    stride, pad = convolution.stride, convolution.window // 2

    def images(x: Any) -> Any:
        return x if convolution.layout == "NCHW" else x.permute(0, 3, 1, 2)

    def filters(w: Any) -> Any:
        return w.permute(2, 3, 0, 1) if convolution.depthwise else w.permute(3, 2, 0, 1)

    def back(x: Any, w: Any, g: Any, which: int) -> Any:
        mask = [which == 0, which == 1, False]
        return torch.ops.aten.convolution_backward(
            images(g), images(x), filters(w), None, [stride] * 2, [pad] * 2, [1, 1], False,
            [0, 0], groups, mask,
        )[which]  # fmt: skip

    functions = {
        "f": lambda x, w, g: functional.conv2d(
            images(x), filters(w), stride=stride, padding=pad, groups=groups
        ),
        "i": lambda x, w, g: back(x, w, g, 0),
        "w": lambda x, w, g: back(x, w, g, 1),
    }
    names = [case.name for case in convolution.cases(tasks)]
    return dict(zip(names, (functions[task] for task in tasks), strict=True))


def _lstm(x: Any, c: Any, h: Any, kernel: Any, bias: Any) -> Any:
    i, j, f, o = (torch.cat([x, h], 1) @ kernel + bias).chunk(4, 1)
    c = c * torch.sigmoid(f + 1) + torch.sigmoid(i) * torch.tanh(j)
    return c, torch.tanh(c) * torch.sigmoid(o)


def _chain(x: Any) -> Any:
    y = x
    for _ in range(5):
        y = torch.clamp(y * 0.5 + x, min=-1.0) - torch.tanh(y)
    return y


FUNCTIONS: dict[str, Function] = {
    **{
        name: function
        for convolution, tasks in CONVOLUTIONS
        for name, function in convolution_functions(convolution, tasks).items()
    },
    "max pool 3x3/2, 112x112x64": lambda x: functional.max_pool2d(x.permute(0, 3, 1, 2), 3, 2, 1),
    "max pool 2x2/2, 28x28x32, batch 64": lambda x: functional.max_pool2d(x.permute(0, 3, 1, 2), 2),
    "mean over 7x7, 2048, batch 64": lambda x: x.mean((1, 2)),
    "layer norm, 4096x768": lambda x, s, o: functional.layer_norm(x, (768,), s, o),
    "LSTM step, 512, batch 32": _lstm,
    "attention, 8x12 heads, 128x64": functional.scaled_dot_product_attention,
    "embedding, 4096 of 30000x512": lambda table, ids: functional.embedding(ids, table),
    "softmax, 1024x8192": lambda x: torch.softmax(x, -1),
    "matmul 128x784 by 784x512": torch.matmul,
    "matmul 1024 cubed": torch.matmul,
    "matmul 1x4096 by 4096x4096": torch.matmul,
    "matmul 64x64": torch.matmul,
    "matmul 96 of 128x64 by 64x128": torch.matmul,
    "sum of tanh and exp, 1000x1000": lambda z: torch.sum(torch.tanh(z) * 2 + torch.exp(-z * z)),
    "gelu, 4096x1024": lambda x: functional.gelu(x, approximate="tanh"),
    "chain of 20 operations, 1M": _chain,
    "add and relu, 1M": lambda a, b: torch.relu(a + b),
    "sigmoid, 1M": torch.sigmoid,
    "log of exp, 256x1000": lambda x: torch.logsumexp(x, 1),
    "sum of 4M": torch.sum,
    "mean over rows, 4096x1024": lambda x: torch.mean(x, 0),
    "mean over columns, 4096x1024": lambda x: torch.mean(x, 1),
    "max of the middle, 64x512x64": lambda x: torch.amax(x, 1),
    "argmax, 64x30000": lambda x: torch.argmax(x, 1),
    "cumulative sum, 1000x1000": lambda x: torch.cumsum(x, 1),
    "top 10 of 64x30000": lambda x: tuple(torch.topk(x, 10)),
    "top 200 of 9000": lambda x: tuple(torch.topk(x, 200)),
    "sort 1M": lambda x: torch.sort(x)[0],
    "sort 1000x1000": lambda x: torch.sort(x)[0],
    "argsort 100000": torch.argsort,
    "gather 20000 rows of 64": lambda x, i: x[i],
    "segment sum, 20000 rows of 64": lambda x, i: torch.zeros(1000, 64).index_add_(0, i, x),
    "transpose heads, 32x128x12x64": lambda x: x.permute(0, 2, 1, 3).contiguous(),
    "transpose 1000x1000": lambda x: x.T.contiguous(),
    "concat of 8, 512x256": lambda *parts: torch.cat(parts, 1),
    "where, 1M": lambda a, b: torch.where(a > b, a, b * 0.1),
    "random normal, 1M": lambda: torch.randn(1_000_000),
}
