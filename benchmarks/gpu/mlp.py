"""A 784-512-512-10 network, batch of 128, gradient descent, single precision."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

TITLE = "MLP 784-512-512-10, batch 128, float32"
VARIANTS = ("resident", "fed")
OPTIMIZER = ("sgd", 0.1)


@dataclass(frozen=True)
class Size:
    layers: tuple[int, ...] = (784, 512, 512, 10)
    batch: int = 128
    steps: int = 500


FULL = Size()
TINY = Size(layers=(12, 8, 8, 4), batch=6, steps=3)


def parameters(size: Size) -> dict[str, Any]:
    random = np.random.default_rng(0)
    found = {}
    for i, (inner, outer) in enumerate(itertools.pairwise(size.layers)):
        weights = random.standard_normal((inner, outer), np.float32)
        found[f"w{i}"] = weights * np.float32((2 / inner) ** 0.5)
        found[f"b{i}"] = np.zeros(outer, np.float32)
    return found


def state(size: Size) -> dict[str, Any]:
    return {}


def batch(size: Size) -> dict[str, Any]:
    random = np.random.default_rng(1)
    return {
        "images": random.random((size.batch, size.layers[0]), np.float32),
        "labels": random.integers(0, size.layers[-1], size.batch).astype(np.int32),
    }


def in_weft(tf: Any, p: Any, state: Any, batch: Any, size: Size) -> tuple[Any, list[Any]]:
    hidden, last = tf.convert_to_tensor(batch["images"]), len(size.layers) - 2
    for i in range(last + 1):
        hidden = tf.nn.bias_add(tf.matmul(hidden, p[f"w{i}"]), p[f"b{i}"])
        hidden = hidden if i == last else tf.nn.relu(hidden)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=batch["labels"], logits=hidden)
    return tf.reduce_mean(losses), []


def in_jax(p: Any, state: Any, batch: Any, size: Size) -> tuple[Any, Any]:
    import jax
    import jax.numpy as jnp

    hidden, last = batch["images"], len(size.layers) - 2
    for i in range(last + 1):
        hidden = hidden @ p[f"w{i}"] + p[f"b{i}"]
        hidden = hidden if i == last else jax.nn.relu(hidden)
    right = jnp.take_along_axis(hidden, batch["labels"][:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(hidden, axis=1) - right), state


def in_torch(p: Any, state: Any, batch: Any, size: Size) -> Any:
    import torch
    import torch.nn.functional as F

    hidden, last = batch["images"], len(size.layers) - 2
    for i in range(last + 1):
        hidden = torch.addmm(p[f"b{i}"], hidden, p[f"w{i}"])
        hidden = hidden if i == last else F.relu(hidden)
    return F.cross_entropy(hidden, batch["labels"].long())
