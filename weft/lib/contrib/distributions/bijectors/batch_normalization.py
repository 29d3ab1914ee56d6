"""Batch normalization as a transform: the inverse normalizes, `forward` undoes it."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.bijectors.base import Bijector
from weft.lib.layers import normalization
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.math.moments import moments
from weft.ops.nn.activations import relu


def _check_layer(layer: Any) -> None:
    if not isinstance(layer, normalization.BatchNormalization):
        raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
    if layer.renorm:
        raise ValueError("BatchNorm Bijector does not support renormalization.")
    if layer.virtual_batch_size:
        raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")


class BatchNormalization(Bijector):
    """x = (y - mean) / deviation * gamma + beta, with moments of the batch or moving ones."""

    def __init__(
        self, batchnorm_layer: Any = None, training: bool = True, validate_args: bool = False,
        name: str = "batch_normalization",
    ) -> None:  # fmt: skip
        self.batchnorm = batchnorm_layer or normalization.BatchNormalization(
            gamma_constraint=lambda x: relu(x) + 1e-6
        )
        _check_layer(self.batchnorm)
        self._training = training
        axis = self.batchnorm.axis
        super().__init__(
            forward_min_event_ndims=1 if isinstance(axis, int) else len(axis),
            validate_args=validate_args, name=name,
        )  # fmt: skip

    def _built(self, x: Tensor) -> list[int]:
        """Builds the layer for `x`; the axes that moments are taken over."""
        layer, shape = self.batchnorm, x.shape
        if not shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        if not layer.built:
            layer.build(shape)
        return sorted(set(range(len(shape))) - set(layer.axis))

    def _forward(self, x: Any) -> Tensor:
        axes, layer, rank = self._built(x), self.batchnorm, len(x.shape)
        shape = [1 if i in axes else int(x.shape[i]) for i in range(rank)]

        def across(value: Any) -> Any:
            plain = value is None or len(value.shape) == rank or axes == list(range(rank - 1))
            return value if plain else array.reshape(value, shape)

        offset = across(layer.beta) if layer.center else None
        with name_scope(None, "undo_batchnorm", [x]):
            factor = math.sqrt(across(layer.moving_variance) + layer.epsilon)
            factor = factor / across(layer.gamma) if layer.scale else factor
            mean = across(layer.moving_mean)
            return x * factor + (mean if offset is None else mean - offset * factor)

    def _inverse(self, y: Any) -> Tensor:
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        self._built(x)
        return -self._log_det(self.batchnorm.moving_variance)

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        axes = self._built(y)
        if not self._training:
            return self._log_det(self.batchnorm.moving_variance)
        return self._log_det(moments(y, axes=axes, keep_dims=True)[1])

    def _log_det(self, variance: Any) -> Tensor:
        logs = math.reduce_sum(math.log(variance + self.batchnorm.epsilon))
        return math.reduce_sum(math.log(self.batchnorm.gamma)) - 0.5 * logs
