"""Batch normalization as TensorFlow 2 has it: a layer that is not trainable uses its averages."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.layers import normalization


class BatchNormalization(normalization.BatchNormalization):
    """Normalizes by the moments of the batch where it is trained *and* trainable."""

    def call(self, inputs: Any, training: Any = None) -> Any:
        return super().call(inputs, training if self.trainable else False)
