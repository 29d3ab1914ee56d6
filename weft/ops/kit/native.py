"""Kernels in C++ (folder `native` of the sources) for what XLA computes slowly on CPUs.

They are part of compiled programs, as calls of XLA's foreign functions. A kernel of weft's asks
whether there is one, and has a way without: where no compiler was at hand when weft was installed,
on other CPUs, and with WEFT_NATIVE=0.
"""

from __future__ import annotations

import functools
import importlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import flags, machine
from weft.ops.kit.target import target_platform

Array = Any
_lock = threading.Lock()


def offers(kernel: str, *arrays: Array) -> bool:
    """Whether the kernel is there for the program being traced, and these are 32-bit floats."""
    return (
        bool(flags.NATIVE)
        and target_platform() == "cpu"
        and all(a.dtype == np.float32 for a in arrays)
        and kernel in _offered()
    )


def call(
    kernel: str,
    shape: Sequence[int],
    *arrays: Array,
    sizes: Sequence[int],
    dtype: Any = np.float32,
) -> Array:
    """The result of a native kernel; `sizes` are numbers that it expects."""
    (result,) = results(kernel, [shape], *arrays, sizes=sizes, dtype=dtype)
    return result


def results(
    kernel: str,
    shapes: Sequence[Sequence[int]],
    *arrays: Array,
    sizes: Sequence[int],
    dtype: Any = np.float32,
) -> list[Array]:
    """As `call`, of a kernel that has several."""
    import jax

    wanted = [jax.ShapeDtypeStruct(tuple(shape), dtype) for shape in shapes]
    called = jax.ffi.ffi_call(target(kernel), wanted)
    return list(called(*arrays, sizes=np.array(sizes, np.int64)))


def function(name: str) -> Callable[..., Any] | None:
    """A function of the module for Python itself, if there is one."""
    return getattr(_module(), name, None) if flags.NATIVE else None


def has(kernel: str) -> bool:
    """Whether programs for the host can have the kernel."""
    return bool(flags.NATIVE) and kernel in _offered()


def target(kernel: str) -> str:
    """The name by which XLA knows a kernel."""
    return f"weft_{kernel}"


def _offered() -> frozenset[str]:
    with _lock:  # XLA takes no kernel twice
        return _kernels()


@functools.cache
def _kernels() -> frozenset[str]:
    """The kernels there are for this machine, which XLA knows from now on."""
    kernels = getattr(_module(), "kernels", None)
    if kernels is None:
        return frozenset()
    import jax

    try:
        for name, address in kernels.items():
            jax.ffi.register_ffi_target(target(name), address, platform="cpu")
    except Exception:  # for a jaxlib whose interface is another one
        return frozenset()
    return frozenset(kernels)


@functools.cache
def _module() -> Any:
    kind = _kind()
    try:
        return importlib.import_module(f"weft.ops.kit.native_{kind}") if kind else None
    except ImportError:  # not built
        return None


def _kind() -> str | None:
    if machine.IS_ARM:
        return "arm"
    return next((kind for kind in ("avx512", "avx2") if machine.computes_with(kind)), None)
