"""Batch normalization whose updates are in `UPDATE_OPS`."""

from __future__ import annotations

from typing import Any

from weft.core.signatures import with_parameters_of
from weft.graph.graph import Tensor
from weft.lib.keras.layers import normalization as keras
from weft.lib.layers.base import Layer
from weft.ops.state.initializers import ones_initializer, zeros_initializer

_ZEROS, _ONES = zeros_initializer(), ones_initializer()


class BatchNormalization(keras.BatchNormalization, Layer):
    """`(inputs - mean) / sqrt(variance + epsilon) * gamma + beta`, per entry of `axis`.

    The updates of the moving averages are in `UPDATE_OPS`; they must run with each training step.
    """

    @with_parameters_of(
        keras.BatchNormalization.__init__,
        beta_initializer=_ZEROS,
        gamma_initializer=_ONES,
        moving_mean_initializer=_ZEROS,
        moving_variance_initializer=_ONES,
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)

    def call(self, inputs: Any, training: Any = False) -> Any:
        return super().call(inputs, training=training)


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: Any = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = _ZEROS,
    gamma_initializer: Any = _ONES,
    moving_mean_initializer: Any = _ZEROS,
    moving_variance_initializer: Any = _ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: dict[str, Any] | None = None,
    renorm_momentum: Any = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Tensor:
    """Batch normalization applied to `inputs`."""
    settings = dict(locals())
    for own in ("inputs", "training", "reuse"):
        del settings[own]
    layer = BatchNormalization(**settings, _reuse=reuse, _scope=name)
    return layer.apply(inputs, training=training)
