"""The type of device that kernels are traced for: cpu, gpu, ..."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_target: ContextVar[str | None] = ContextVar("target", default=None)


@contextmanager
def tracing_for(platform: str | None) -> Iterator[None]:
    """Inside, kernels are traced for devices of this type; None is jax's default."""
    token = _target.set(platform)
    try:
        yield
    finally:
        _target.reset(token)


def target_platform() -> str:
    """The platform that the program being traced will run on."""
    import jax

    return _target.get() or jax.default_backend()
