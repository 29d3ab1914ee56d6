"""The devices that one program is for, where it is for more than one.

Each of them has arrays of its own, and the values in these may differ. That they have one shape is
all that XLA needs to know, which takes them for copies.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from typing import Any


def _loaded() -> Any:
    return importlib.import_module("jax")


class Span:
    """Devices along one axis of a jax mesh. `can_stop`: whether its programs look at a switch."""

    can_stop = False
    options: Mapping[str, str] = {}  # for XLA's compiler

    def __init__(self, mesh: Any) -> None:
        self.mesh = mesh

    @functools.cached_property
    def sharding(self) -> Any:
        """The way an array of one device looks to a program over all of them."""
        jax = _loaded()
        return jax.sharding.NamedSharding(self.mesh, jax.sharding.PartitionSpec())

    def across(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """`run` as a function whose collectives reach the other devices."""
        jax = _loaded()
        anywhere = jax.sharding.PartitionSpec()
        wrapped: Callable[..., Any] = jax.shard_map(
            run, mesh=self.mesh, in_specs=anywhere, out_specs=anywhere, check_vma=False
        )
        return wrapped

    def agree(self, bit: Any) -> Any:
        """Whether `bit`, which says that a program has failed, is set anywhere."""
        return bit

    def program(self, compiled: Any) -> Any:
        """The compiled program as something to call."""
        return compiled
