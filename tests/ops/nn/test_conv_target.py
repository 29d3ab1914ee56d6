"""Convolutions are written for the device that a program is compiled for."""

import jax
import jax.numpy as jnp

from weft.ops.kit.target import tracing_for
from weft.ops.nn.conv_lowering import convolve
from weft.ops.nn.windows import Window


def _operations(platform: str) -> set[str]:
    window = Window((3, 3), (1, 1), (1, 1), (1, 1), (28, 28), (28, 28))
    x, w = jnp.ones([8, 28, 28, 256]), jnp.ones([3, 3, 256, 256])
    with tracing_for(platform):
        made = jax.make_jaxpr(lambda x, w: convolve(x, w, window))(x, w)
    return {equation.primitive.name for equation in made.eqns}


def test_an_accelerator_gets_its_own_convolution() -> None:
    assert "conv_general_dilated" in _operations("gpu")
    assert "conv_general_dilated" not in _operations("cpu")
