"""tf.contrib.eager.Network: the model class that tf.keras.Model took the place of."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.models import Model


class Network(Model):
    """A model of layers that it was told of with `track_layer`, or that are its attributes."""

    def __init__(self, name: str | None = None) -> None:
        if isinstance(name, str) and "/" in name:
            raise ValueError(
                f"Forward slashes ('/') are not allowed in Network names (got {name!r})."
            )
        super().__init__(name=name)

    def track_layer(self, layer: Any) -> Any:
        """Makes the variables of `layer` variables of this network; returns it."""
        if not isinstance(layer, Layer):
            raise TypeError(
                f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer"
            )
        setattr(self, f"_tracked_{len(self.layers)}", layer)
        return layer
