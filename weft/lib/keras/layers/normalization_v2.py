"""Batch normalization as TensorFlow 2 has it: a layer that is not trainable uses its averages."""

from __future__ import annotations

from typing import Any

from weft.graph.tensor import Tensor
from weft.lib.keras import backend
from weft.lib.keras.layers import normalization
from weft.ops.math import math


class BatchNormalization(normalization.BatchNormalization):
    """Normalizes by the moments of the batch where it is trained *and* trainable."""

    def call(self, inputs: Any, training: Any = None) -> Any:
        if training is None:
            training = backend.learning_phase()
        if isinstance(training, Tensor):
            return super().call(inputs, math.logical_and(training, self.trainable))
        return super().call(inputs, training if self.trainable else False)
