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
    """Batch normalization applied to `inputs`.

    Args:
        inputs: a tensor.
        axis: the dimension of the features, normally the channels.
        momentum: how slowly the moving averages forget.
        epsilon: added to the variance, so that it is not zero.
        center, scale: whether there are variables `beta` and `gamma`.
        beta_initializer, gamma_initializer, moving_mean_initializer, moving_variance_initializer:
            first values of the variables.
        beta_regularizer, gamma_regularizer: functions whose results join `REGULARIZATION_LOSSES`.
        beta_constraint, gamma_constraint: project the variables after updates.
        training: a bool or tensor: whether to use the moments of the batch, or the averages.
        trainable: whether optimizers update the variables.
        name: of the layer.
        reuse: whether to share the variables of a layer of that name.
        renorm, renorm_clipping, renorm_momentum: batch renormalization.
        fused: whether to use the one fast operation; None: where it can.
        virtual_batch_size: normalize parts of the batch by themselves.
        adjustment: a function of the shape that gives a random scale and bias, for training.

    Returns:
        A tensor like `inputs`. The operations that update the averages are in the collection
        `UPDATE_OPS`: make the training step depend on them.

    Raises:
        ValueError: arguments do not fit together.

    Example:
        >>> x = tf.constant([[1.0], [3.0]])
        >>> y = tf.layers.batch_normalization(x, training=True, epsilon=0.0)
        >>> session.run(tf.global_variables_initializer())
        >>> session.run(y)
        array([[-1.],
               [ 1.]], dtype=float32)
    """
    settings = dict(locals())
    for own in ("inputs", "training", "reuse"):
        del settings[own]
    layer = BatchNormalization(**settings, _reuse=reuse, _scope=name)
    return layer.apply(inputs, training=training)
