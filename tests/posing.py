"""A plugin of pytest's (`-p tests.posing`): the second of two host devices passes for a GPU.

It has memory of its own as far as jax knows, so that all of weft that deals with two memories runs
as it would with a GPU, on any machine.
"""

from __future__ import annotations

import os
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"

from weft.runtime.devices import device as devices
from weft.runtime.devices import kinds

_is_host = kinds.is_host


def _poses(device: Any) -> bool:
    return device is not None and device.platform == "cpu" and device.id == 1


kinds.is_host = lambda device: _is_host(device) and not _poses(device)
kinds.kind_of = lambda device: "GPU" if _poses(device) else None
devices.may_have_accelerators = lambda: True
