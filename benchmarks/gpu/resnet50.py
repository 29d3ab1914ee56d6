"""ResNet-50: bfloat16 activations, single-precision variables, batch norm in training, momentum.

The network is written once, over four layers; each implementation says what its layers are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

TITLE = "ResNet-50, 256 images of 224 x 224, bfloat16, momentum"
VARIANTS = ("resident",)
OPTIMIZER = ("momentum", 0.01)
EPSILON, DECAY = 1e-5, 0.9


@dataclass(frozen=True)
class Size:
    blocks: tuple[int, ...] = (3, 4, 6, 3)
    width: int = 64
    image: int = 224
    classes: int = 1000
    batch: int = 256
    steps: int = 10


FULL = Size()
TINY = Size(blocks=(1, 1), width=4, image=16, classes=10, batch=8, steps=2)


def network(net: Any, x: Any, size: Size) -> Any:
    """Logits. `net` has conv(name, x, outputs, window, stride), norm, relu, max_pool, dense."""
    x = net.relu(net.norm("stem", net.conv("stem", x, size.width, 7, 2)))
    x = net.max_pool(x)
    for stage, blocks in enumerate(size.blocks):
        for i in range(blocks):
            stride = 2 if stage and not i else 1
            x = _block(net, f"{stage}/{i}", x, size.width << stage, stride, project=not i)
    return net.dense("top", x, size.classes)


def _block(net: Any, name: str, x: Any, width: int, stride: int, project: bool) -> Any:
    def layer(part: str, x: Any, outputs: int, window: int, stride: int) -> Any:
        return net.norm(f"{name}/{part}", net.conv(f"{name}/{part}", x, outputs, window, stride))

    y = net.relu(layer("a", x, width, 1, 1))
    y = net.relu(layer("b", y, width, 3, stride))
    y = layer("c", y, 4 * width, 1, 1)
    return net.relu(y + (layer("skip", x, 4 * width, 1, stride) if project else x))


# ---- what there is to learn -------------------------------------------------------------------


class Channels(int):
    """All that is known of an activation while parameters are recorded."""

    def __add__(self, other: int) -> Channels:
        return self


class Recorder:
    """Layers that only take note of what they need."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)
        self.parameters: dict[str, Any] = {}
        self.state: dict[str, Any] = {}

    def _weights(self, *shape: int) -> Any:
        scale = np.float32((2 / np.prod(shape[:-1])) ** 0.5)
        return self.random.standard_normal(shape, np.float32) * scale

    def conv(self, name: str, x: Channels, outputs: int, window: int, stride: int) -> Channels:
        self.parameters[f"{name}/w"] = self._weights(window, window, x, outputs)
        return Channels(outputs)

    def norm(self, name: str, x: Channels) -> Channels:
        ones, zeros = np.ones(x, np.float32), np.zeros(x, np.float32)
        self.parameters |= {f"{name}/scale": ones, f"{name}/offset": zeros}
        self.state |= {f"{name}/mean": zeros.copy(), f"{name}/variance": ones.copy()}
        return x

    def relu(self, x: Channels) -> Channels:
        return x

    max_pool = relu

    def dense(self, name: str, x: Channels, outputs: int) -> Channels:
        self.parameters[f"{name}/w"] = self._weights(x, outputs)
        self.parameters[f"{name}/b"] = np.zeros(outputs, np.float32)
        return Channels(outputs)


def _recorded(size: Size) -> Recorder:
    recorder = Recorder()
    network(recorder, Channels(3), size)
    return recorder


def parameters(size: Size) -> dict[str, Any]:
    return _recorded(size).parameters


def state(size: Size) -> dict[str, Any]:
    return _recorded(size).state


def batch(size: Size) -> dict[str, Any]:
    random = np.random.default_rng(1)
    return {
        "images": random.standard_normal((size.batch, size.image, size.image, 3), np.float32),
        "labels": random.integers(0, size.classes, size.batch).astype(np.int32),
    }


# ---- weft -------------------------------------------------------------------------------------


class Weft:
    def __init__(self, tf: Any, p: Any, state: Any) -> None:
        self.tf, self.p, self.state = tf, p, state
        self.updates: list[Any] = []

    def half(self, name: str) -> Any:
        return self.tf.cast(self.p[name], self.tf.bfloat16)

    def conv(self, name: str, x: Any, outputs: int, window: int, stride: int) -> Any:
        edge = [window // 2] * 2
        padding = [[0, 0], edge, edge, [0, 0]]
        return self.tf.nn.conv2d(x, self.half(f"{name}/w"), [1, stride, stride, 1], padding)

    def norm(self, name: str, x: Any) -> Any:
        scale, offset = self.p[f"{name}/scale"], self.p[f"{name}/offset"]
        y, mean, variance = self.tf.nn.fused_batch_norm(x, scale, offset, epsilon=EPSILON)
        for which, found in (("mean", mean), ("variance", variance)):
            moving = self.state[f"{name}/{which}"]
            self.updates.append(self.tf.assign_sub(moving, (moving - found) * (1 - DECAY)))
        return y

    def relu(self, x: Any) -> Any:
        return self.tf.nn.relu(x)

    def max_pool(self, x: Any) -> Any:
        return self.tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME")

    def dense(self, name: str, x: Any, outputs: int) -> Any:
        tf = self.tf
        x = tf.reduce_mean(x, axis=[1, 2])
        return tf.nn.bias_add(tf.matmul(x, self.half(f"{name}/w")), self.half(f"{name}/b"))


def in_weft(tf: Any, p: Any, state: Any, batch: Any, size: Size) -> tuple[Any, list[Any]]:
    net = Weft(tf, p, state)
    logits = tf.cast(network(net, tf.cast(batch["images"], tf.bfloat16), size), tf.float32)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=batch["labels"], logits=logits)
    return tf.reduce_mean(losses), net.updates


# ---- JAX --------------------------------------------------------------------------------------


class Jax:
    def __init__(self, p: Any, state: Any) -> None:
        self.p, self.state, self.new_state = p, state, dict(state)

    def half(self, name: str) -> Any:
        return self.p[name].astype("bfloat16")

    def conv(self, name: str, x: Any, outputs: int, window: int, stride: int) -> Any:
        from jax import lax

        edges = [(window // 2, window // 2)] * 2
        layout = ("NHWC", "HWIO", "NHWC")
        filters = self.half(f"{name}/w")
        return lax.conv_general_dilated(
            x, filters, (stride, stride), edges, dimension_numbers=layout
        )

    def norm(self, name: str, x: Any) -> Any:
        from jax import lax

        wide = x.astype("float32")
        mean = wide.mean((0, 1, 2))
        variance = (wide * wide).mean((0, 1, 2)) - mean * mean
        count = x.size // x.shape[-1]
        for which, found in (("mean", mean), ("variance", variance * (count / (count - 1)))):
            moving = self.state[f"{name}/{which}"]
            self.new_state[f"{name}/{which}"] = moving - (moving - found) * (1 - DECAY)
        factor = self.p[f"{name}/scale"] * lax.rsqrt(variance + EPSILON)
        return ((wide - mean) * factor + self.p[f"{name}/offset"]).astype("bfloat16")

    def relu(self, x: Any) -> Any:
        import jax

        return jax.nn.relu(x)

    def max_pool(self, x: Any) -> Any:
        from jax import lax

        return lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")

    def dense(self, name: str, x: Any, outputs: int) -> Any:
        return x.mean((1, 2)) @ self.half(f"{name}/w") + self.half(f"{name}/b")


def in_jax(p: Any, state: Any, batch: Any, size: Size) -> tuple[Any, Any]:
    import jax
    import jax.numpy as jnp

    net = Jax(p, state)
    logits = network(net, batch["images"].astype("bfloat16"), size).astype("float32")
    right = jnp.take_along_axis(logits, batch["labels"][:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=1) - right), net.new_state


# ---- PyTorch ----------------------------------------------------------------------------------


class Torch:
    """Images are [batch, channels, height, width], in memory with the channels last."""

    def __init__(self, p: Any, state: Any) -> None:
        self.p, self.state = p, state

    def conv(self, name: str, x: Any, outputs: int, window: int, stride: int) -> Any:
        import torch.nn.functional as F

        return F.conv2d(x, self.p[f"{name}/w"], None, stride, window // 2)

    def norm(self, name: str, x: Any) -> Any:
        import torch.nn.functional as F

        moving = (self.state[f"{name}/mean"], self.state[f"{name}/variance"])
        vectors = (self.p[f"{name}/scale"], self.p[f"{name}/offset"])
        return F.batch_norm(x, *moving, *vectors, True, 1 - DECAY, EPSILON)

    def relu(self, x: Any) -> Any:
        import torch.nn.functional as F

        return F.relu(x)

    def max_pool(self, x: Any) -> Any:
        import torch.nn.functional as F

        # Windows that reach over the far edges only are what TensorFlow's SAME means here.
        return F.max_pool2d(x, 3, 2, ceil_mode=True)

    def dense(self, name: str, x: Any, outputs: int) -> Any:
        import torch.nn.functional as F

        return F.linear(x.mean((2, 3)), self.p[f"{name}/w"].T, self.p[f"{name}/b"])


def in_torch(p: Any, state: Any, batch: Any, size: Size) -> Any:
    import torch
    import torch.nn.functional as F

    images = batch["images"].permute(0, 3, 1, 2)
    with torch.autocast(images.device.type, torch.bfloat16):
        logits = network(Torch(p, state), images, size)
    return F.cross_entropy(logits.float(), batch["labels"].long())
