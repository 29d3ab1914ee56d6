"""A decoder-only transformer as GPT-2 small: bfloat16 arithmetic, single-precision variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

TITLE = "12-layer transformer, 16 x 1024 tokens, bfloat16, Adam"
VARIANTS = ("resident",)
OPTIMIZER = ("adam", 1e-4)
EPSILON = 1e-5


@dataclass(frozen=True)
class Size:
    layers: int = 12
    width: int = 768
    heads: int = 12
    length: int = 1024
    vocabulary: int = 50257
    batch: int = 16
    steps: int = 10


FULL = Size()
TINY = Size(layers=1, width=16, heads=2, length=8, vocabulary=40, batch=3, steps=2)


def parameters(size: Size) -> dict[str, Any]:
    random = np.random.default_rng(0)
    d = size.width
    shapes: dict[str, tuple[int, ...]] = {
        "tokens": (size.vocabulary, d),
        "positions": (size.length, d),
    }
    for i in range(size.layers):
        shapes |= {
            f"{i}/qkv/w": (d, 3 * d),
            f"{i}/out/w": (d, d),
            f"{i}/up/w": (d, 4 * d),
            f"{i}/down/w": (4 * d, d),
        }
    found = {n: random.standard_normal(s, np.float32) * np.float32(0.02) for n, s in shapes.items()}
    for name, shape in shapes.items():
        if name.endswith("/w"):
            found[name[:-1] + "b"] = np.zeros(shape[1], np.float32)
    norms = [f"{i}/{which}" for i in range(size.layers) for which in ("norm1", "norm2")]
    for name in [*norms, "norm"]:
        found[f"{name}/g"], found[f"{name}/b"] = np.ones(d, np.float32), np.zeros(d, np.float32)
    return found


def state(size: Size) -> dict[str, Any]:
    return {}


def batch(size: Size) -> dict[str, Any]:
    random = np.random.default_rng(1)
    shape = (size.batch, size.length + 1)
    tokens = random.integers(0, size.vocabulary, shape).astype(np.int32)
    return {"tokens_in": tokens[:, :-1].copy(), "tokens_out": tokens[:, 1:].copy()}


# ---- weft -------------------------------------------------------------------------------------


class Weft:
    def __init__(self, tf: Any, p: Any, size: Size) -> None:
        self.tf, self.p, self.size = tf, p, size

    def half(self, name: str) -> Any:
        return self.tf.cast(self.p[name], self.tf.bfloat16)

    def dense(self, name: str, x: Any) -> Any:
        return self.tf.nn.bias_add(
            self.tf.matmul(x, self.half(f"{name}/w")), self.half(f"{name}/b")
        )

    def norm(self, name: str, x: Any) -> Any:
        tf = self.tf
        x = tf.cast(x, tf.float32)
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), axis=-1, keepdims=True)
        x = (x - mean) * tf.rsqrt(variance + EPSILON)
        return tf.cast(x * self.p[f"{name}/g"] + self.p[f"{name}/b"], tf.bfloat16)

    def heads(self, x: Any) -> Any:
        size, depth = self.size, self.size.width // self.size.heads
        x = self.tf.reshape(x, [size.batch, size.length, size.heads, depth])
        return self.tf.transpose(x, [0, 2, 1, 3])

    def attention(self, name: str, x: Any, mask: Any) -> Any:
        tf, size = self.tf, self.size
        q, k, v = (self.heads(part) for part in tf.split(self.dense(f"{name}/qkv", x), 3, axis=1))
        scores = tf.matmul(q, k, transpose_b=True) * (size.width // size.heads) ** -0.5
        mixed = tf.matmul(tf.nn.softmax(scores + mask), v)
        mixed = tf.reshape(tf.transpose(mixed, [0, 2, 1, 3]), [-1, size.width])
        return self.dense(f"{name}/out", mixed)

    def gelu(self, x: Any) -> Any:
        tf = self.tf
        return 0.5 * x * (1 + tf.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * tf.pow(x, 3))))

    def logits(self, tokens: Any) -> Any:
        tf, size = self.tf, self.size
        rows = tf.range(size.length)
        seen = tf.cast(rows[:, None] >= rows, tf.bfloat16)
        mask = (1 - seen) * -1e9
        x = tf.nn.embedding_lookup(self.p["tokens"], tokens) + self.p["positions"]
        x = tf.reshape(tf.cast(x, tf.bfloat16), [-1, size.width])
        for i in range(size.layers):
            x = x + self.attention(f"{i}", self.norm(f"{i}/norm1", x), mask)
            hidden = self.gelu(self.dense(f"{i}/up", self.norm(f"{i}/norm2", x)))
            x = x + self.dense(f"{i}/down", hidden)
        return tf.matmul(self.norm("norm", x), self.half("tokens"), transpose_b=True)


def in_weft(tf: Any, p: Any, state: Any, batch: Any, size: Size) -> tuple[Any, list[Any]]:
    logits = tf.cast(Weft(tf, p, size).logits(batch["tokens_in"]), tf.float32)
    labels = tf.reshape(batch["tokens_out"], [-1])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    return tf.reduce_mean(losses), []


# ---- JAX --------------------------------------------------------------------------------------


class Jax:
    def __init__(self, p: Any, size: Size) -> None:
        self.p, self.size = p, size

    def half(self, name: str) -> Any:
        return self.p[name].astype("bfloat16")

    def dense(self, name: str, x: Any) -> Any:
        return x @ self.half(f"{name}/w") + self.half(f"{name}/b")

    def norm(self, name: str, x: Any) -> Any:
        from jax import lax

        x = x.astype("float32")
        x = x - x.mean(-1, keepdims=True)
        x = x * lax.rsqrt((x * x).mean(-1, keepdims=True) + EPSILON)
        return (x * self.p[f"{name}/g"] + self.p[f"{name}/b"]).astype("bfloat16")

    def heads(self, x: Any) -> Any:
        size = self.size
        return x.reshape(size.batch, size.length, size.heads, -1).transpose(0, 2, 1, 3)

    def attention(self, name: str, x: Any, mask: Any) -> Any:
        import jax
        import jax.numpy as jnp

        size = self.size
        q, k, v = (self.heads(part) for part in jnp.split(self.dense(f"{name}/qkv", x), 3, axis=1))
        scores = q @ k.swapaxes(-1, -2) * (size.width // size.heads) ** -0.5
        mixed = jax.nn.softmax(scores + mask) @ v
        return self.dense(f"{name}/out", mixed.transpose(0, 2, 1, 3).reshape(-1, size.width))

    def logits(self, tokens: Any) -> Any:
        import jax
        import jax.numpy as jnp

        size = self.size
        rows = jnp.arange(size.length)
        mask = jnp.where(rows[:, None] >= rows, 0, -1e9).astype("bfloat16")
        x = self.p["tokens"][tokens] + self.p["positions"]
        x = x.astype("bfloat16").reshape(-1, size.width)
        for i in range(size.layers):
            x = x + self.attention(f"{i}", self.norm(f"{i}/norm1", x), mask)
            hidden = jax.nn.gelu(self.dense(f"{i}/up", self.norm(f"{i}/norm2", x)))
            x = x + self.dense(f"{i}/down", hidden)
        return self.norm("norm", x) @ self.half("tokens").T


def in_jax(p: Any, state: Any, batch: Any, size: Size) -> tuple[Any, Any]:
    import jax
    import jax.numpy as jnp

    logits = Jax(p, size).logits(batch["tokens_in"]).astype("float32")
    labels = batch["tokens_out"].reshape(-1, 1)
    right = jnp.take_along_axis(logits, labels, axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=1) - right), state


# ---- PyTorch ----------------------------------------------------------------------------------


def _torch_attention(p: Any, name: str, x: Any, size: Size) -> Any:
    import torch.nn.functional as F

    parts = F.linear(x, p[f"{name}/qkv/w"].T, p[f"{name}/qkv/b"]).split(size.width, dim=2)
    q, k, v = (t.unflatten(2, (size.heads, -1)).transpose(1, 2) for t in parts)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    mixed = mixed.transpose(1, 2).flatten(2)
    return F.linear(mixed, p[f"{name}/out/w"].T, p[f"{name}/out/b"])


def in_torch(p: Any, state: Any, batch: Any, size: Size) -> Any:
    import torch
    import torch.nn.functional as F

    def dense(name: str, x: Any) -> Any:
        return F.linear(x, p[f"{name}/w"].T, p[f"{name}/b"])

    def norm(name: str, x: Any) -> Any:
        return F.layer_norm(x, (size.width,), p[f"{name}/g"], p[f"{name}/b"], EPSILON)

    with torch.autocast(p["tokens"].device.type, torch.bfloat16):
        x = F.embedding(batch["tokens_in"], p["tokens"]) + p["positions"]
        x = x.bfloat16()
        for i in range(size.layers):
            x = x + _torch_attention(p, f"{i}", norm(f"{i}/norm1", x), size)
            hidden = F.gelu(dense(f"{i}/up", norm(f"{i}/norm2", x)), approximate="tanh")
            x = x + dense(f"{i}/down", hidden)
        logits = F.linear(norm("norm", x), p["tokens"])
    return F.cross_entropy(logits.float().flatten(0, 1), batch["tokens_out"].long().flatten())
