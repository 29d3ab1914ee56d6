"""A model as plain JAX: one jitted function of parameters, slots, state and batch."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

Tree = Any


def peak_bytes() -> int:
    stats = jax.devices()[0].memory_stats() or {}
    return int(stats.get("peak_bytes_in_use", 0))


# ---- optimizers: (slots to begin with, (rate, parameters, slots, gradients) -> both, new) ------


def sgd(rate: float, p: Tree, slots: Tree, g: Tree) -> tuple[Tree, Tree]:
    return jax.tree.map(lambda p, g: p - rate * g, p, g), slots


def momentum(rate: float, p: Tree, slots: Tree, g: Tree) -> tuple[Tree, Tree]:
    slots = jax.tree.map(lambda m, g: 0.9 * m + g, slots, g)
    return jax.tree.map(lambda p, m: p - rate * m, p, slots), slots


def adam(rate: float, p: Tree, slots: Tree, g: Tree) -> tuple[Tree, Tree]:
    m, v, power1, power2 = slots
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
    alpha = rate * jnp.sqrt(1 - power2) / (1 - power1)
    p = jax.tree.map(lambda p, m, v: p - alpha * m / (jnp.sqrt(v) + 1e-8), p, m, v)
    return p, (m, v, power1 * 0.9, power2 * 0.999)


def clipped_adam(rate: float, p: Tree, slots: Tree, g: Tree) -> tuple[Tree, Tree]:
    """As BERT is trained: gradients of at most length 1, decaying weights, no correction."""
    m, v = slots
    length = jnp.sqrt(sum(jnp.sum(each * each) for each in jax.tree.leaves(g)))
    scale = 1 / jnp.maximum(length, 1)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * scale * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * (scale * g) ** 2, v, g)

    def moved(p: Any, m: Any, v: Any) -> Any:
        decay = 0.01 * p if p.ndim > 1 else 0
        return p - rate * (m / (jnp.sqrt(v) + 1e-6) + decay)

    return jax.tree.map(moved, p, m, v), (m, v)


def _zeros(p: Tree) -> Tree:
    return jax.tree.map(jnp.zeros_like, p)


OPTIMIZERS = {
    "sgd": (lambda p: (), sgd),
    "momentum": (_zeros, momentum),
    "adam": (lambda p: (_zeros(p), _zeros(p), jnp.float32(0.9), jnp.float32(0.999)), adam),
    "clipped adam": (lambda p: (_zeros(p), _zeros(p)), clipped_adam),
}


class JaxTraining:
    def __init__(self, model: Any, size: Any, variant: str) -> None:
        kind, self.rate = model.OPTIMIZER or ("sgd", 0.0)
        begin, self.update = OPTIMIZERS[kind]
        self.model, self.size = model, size
        parameters = jax.device_put(model.parameters(size))
        state = jax.device_put(model.state(size))
        self.training = (parameters, begin(parameters), state)
        batch = model.batch(size)
        self.batch = batch if variant == "fed" else jax.device_put(batch)
        self.train = jax.jit(self._train, donate_argnums=0)

    def _train(self, training: Tree, batch: Tree) -> tuple[Tree, Any]:
        parameters, slots, state = training

        def loss(parameters: Tree) -> tuple[Any, Tree]:
            return self.model.in_jax(parameters, state, batch, self.size)

        (found, state), gradients = jax.value_and_grad(loss, has_aux=True)(parameters)
        parameters, slots = self.update(self.rate, parameters, slots, gradients)
        return (parameters, slots, state), found

    def step(self) -> None:
        self.training, _ = self.train(self.training, self.batch)

    def step_and_loss(self) -> float:
        self.training, loss = self.train(self.training, self.batch)
        return float(loss)

    def peak_bytes(self) -> int:
        return peak_bytes()


def training(model: Any, size: Any, variant: str) -> JaxTraining:
    return JaxTraining(model, size, variant)
