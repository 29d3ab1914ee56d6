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


def program_of(compute: Callable[[Any], Any], value: np.ndarray) -> str:
    """What XLA is given to compile for `compute` of a placeholder."""
    programs: list[str] = []
    lower = jax.stages.Traced.lower

    def noted(self: Any, *args: Any, **given: Any) -> Any:
        lowered = lower(self, *args, **given)
        programs.append(lowered.as_text())
        return lowered

    with tf.Graph().as_default(), tf.Session() as sess, pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax.stages.Traced, "lower", noted)
        given = tf.placeholder(value.dtype, value.shape)
        call = sess.make_callable(compute(given), [given])
        call(value)
        call(value)
    return "\n".join(programs)
