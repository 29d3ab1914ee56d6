"""tf.keras: models made of layers, and what trains them."""

from typing import Any

from weft.core import first_use


def __getattr__(name: str) -> Any:
    """`from weft.keras import Sequential`, as from `tf.keras`."""
    if name in ("Input", "Model", "Sequential"):
        return getattr(first_use.module("weft.lib.keras.models"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
