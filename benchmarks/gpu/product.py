"""The product of two square bfloat16 matrices that are on the device, put into a third."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from ml_dtypes import bfloat16

TITLE = "bfloat16 matrix product, 8192 x 8192 x 8192"
VARIANTS = ("resident",)
OPTIMIZER = None


@dataclass(frozen=True)
class Size:
    side: int = 8192
    steps: int = 50


FULL = Size()
TINY = Size(side=16, steps=3)


def parameters(size: Size) -> dict[str, Any]:
    return {}


def state(size: Size) -> dict[str, Any]:
    return {"product": np.zeros((size.side, size.side), bfloat16)}


def batch(size: Size) -> dict[str, Any]:
    random = np.random.default_rng(0)
    shape = (size.side, size.side)
    return {name: random.standard_normal(shape, np.float32).astype(bfloat16) for name in "ab"}


def in_weft(tf: Any, p: Any, state: Any, batch: Any, size: Size) -> tuple[Any, list[Any]]:
    product = tf.matmul(batch["a"], batch["b"])
    return product[0, 0], [tf.assign(state["product"], product)]


def in_jax(p: Any, state: Any, batch: Any, size: Size) -> tuple[Any, Any]:
    product = batch["a"] @ batch["b"]
    return product[0, 0], {"product": product}


def in_torch(p: Any, state: Any, batch: Any, size: Size) -> Any:
    import torch

    torch.matmul(batch["a"], batch["b"], out=state["product"])
    return state["product"][0, 0]
