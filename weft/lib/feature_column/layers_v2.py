"""tf.compat.v2.keras.layers.DenseFeatures: its variables are the layer's alone."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import name_scope
from weft.lib.feature_column import layers


class DenseFeatures(layers.DenseFeatures):
    """Feature columns as one dense tensor, for a dictionary of features.

    Variables are named by the name scopes of the layer and the column; variable scopes, their
    reuse and their partitioners do not concern them.
    """

    def build(self, input_shape: Any) -> None:
        for column in self._feature_columns:
            with name_scope(column.name):
                self._build_column(column)
        self.built = True

    def scoped_variable(self, trainable: bool, **settings: Any) -> Any:
        """A weight of the layer."""
        return self.add_weight(trainable=trainable, use_resource=True, **settings)
