"""How many tensors a node may have: sixty bytes of a NodeDef may ask for two billion."""

from __future__ import annotations

from typing import Any

from weft.core import flags
from weft.core.errors import InvalidArgumentError


def checked_count(attr: str, value: Any) -> int:
    """The value of an attribute that counts tensors, before any are made."""
    count = int(value)
    if count > flags.MAX_NODES.value:
        raise InvalidArgumentError(
            None, None, f"Attr {attr} asks for {count} tensors, more than the"
            f" {flags.MAX_NODES.value} that a node may have. {flags.MAX_NODES.name} sets the limit",
        )  # fmt: skip
    return count
