"""How a node finds the object it stands for, by container and shared name."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

_serial = itertools.count()


def find_or_make(
    ctx: Any, kind: str, container: str, shared_name: str, make: Callable[[str], Any]
) -> tuple[Any, bool]:
    """The resource of this node, and whether it was there before.

    Without a shared name it belongs to the node of this session, under a name of its own.
    """
    made: list[Any] = []

    def create() -> Any:
        made.append(make(shared_name or f"_{next(_serial)}_{ctx.node.name}"))
        return made[0]

    if shared_name:
        return ctx.resources.get_or_make(container, kind, shared_name, create), not made
    return ctx.resources.get_or_make_private(container, kind, ctx.node.name, create), not made


def named_or_node(
    ctx: Any, kind: str, container: str, shared_name: str, make: Callable[[], Any]
) -> Any:
    """As above where the node's name stands in for a missing shared name."""
    return ctx.resources.get_or_make(container, kind, shared_name or ctx.node.name, make)
