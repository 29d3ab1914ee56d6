"""Hosts of one process: names for one CPU, each of which XLA can take for a device of its own.

It must know of them before its first program. So the largest number that a session asked for until
then counts; sessions that ask for more, later, do without programs over several hosts.
"""

from __future__ import annotations

import contextlib
from typing import Any

_wanted = 1


def want_hosts(count: int) -> None:
    """Notes that a session has so many hosts."""
    global _wanted
    _wanted = max(_wanted, count)


def use_several_hosts(jax: Any) -> None:
    """Tells jax how many devices the host is to have, unless somebody else has."""
    if _wanted > 1 and jax.config.jax_num_cpu_devices < 0:
        with contextlib.suppress(RuntimeError):  # it has computed something already
            jax.config.update("jax_num_cpu_devices", _wanted)
