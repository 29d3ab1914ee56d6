"""What tests of the kernels in C++ share."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import weft as tf
from weft.core import flags, machine
from weft.ops.kit import native

# Where there is a compiler and a CPU for them, they must have been built.
CAN_BE_BUILT = (
    sys.platform == "linux"
    and shutil.which("g++") is not None
    and (platform.machine() == "aarch64" or machine.computes_with("avx2"))
)
needs_native = pytest.mark.skipif(
    not flags.NATIVE or (not CAN_BE_BUILT and not native.offers("convolve")),
    reason="no C++ compiler, or no CPU, for weft's own kernels, or WEFT_NATIVE=0",
)


def computed(compute: Callable[..., Any], *values: np.ndarray) -> Any:
    """What a compiled step computes of placeholders with these values."""
    with tf.Graph().as_default(), tf.Session() as sess:
        given = [tf.placeholder(value.dtype, value.shape) for value in values]
        call = sess.make_callable(compute(*given), given)
        call(*values)
        return call(*values)  # compiled by now


def numbers(shape: Any, seed: int = 1) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal(shape).astype(np.float32)


def with_gradients(y: Any, *inputs: Any, seed: int = 7) -> list[Any]:
    """y, and the gradients of the inputs for random ones of y."""
    return [y, *tf.gradients(y, inputs, tf.constant(numbers(y.shape.as_list(), seed)))]


def assert_xlas(results: Callable[[], Any], atol: float = 1e-5) -> None:
    """The arrays are what XLA's kernels give, but for how sums are rounded."""
    with flags.NATIVE.override(False):
        wanted = results()
    for found, expected in zip(results(), wanted, strict=True):
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        scale = np.abs(expected[np.isfinite(expected)]).max(initial=0) or 1
        np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=atol)


def program_of(compute: Callable[..., Any], *values: np.ndarray) -> str:
    """What XLA is given to compile for `compute` of placeholders."""
    programs: list[str] = []
    lower = jax.stages.Traced.lower

    def noted(self: Any, *args: Any, **given: Any) -> Any:
        lowered = lower(self, *args, **given)
        programs.append(lowered.as_text())
        return lowered

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax.stages.Traced, "lower", noted)
        computed(compute, *values)
    return "\n".join(programs)
