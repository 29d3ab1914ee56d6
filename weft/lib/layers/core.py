"""Fully connected, dropout and flattening layers."""

from __future__ import annotations

from typing import Any

from weft.core.signatures import with_parameters_of
from weft.graph.graph import Tensor
from weft.lib.keras.layers import core as keras
from weft.lib.keras.layers import dropout as keras_dropout
from weft.lib.layers.base import Layer
from weft.lib.layers.functional import functional
from weft.ops.state.initializers import zeros_initializer


class Dense(keras.Dense, Layer):
    """`activation(inputs @ kernel + bias)`, along the last axis of the inputs.

    Args:
        units: how many values come out.
        activation: a function, or None.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: first values; None: that of the variable scope.
        kernel_regularizer, bias_regularizer, activity_regularizer: penalties on weights and
            outputs.
        kernel_constraint, bias_constraint: project the weights after updates.
        trainable: whether optimizers update the variables.
        name: of the layer and its variables.
        **kwargs: further arguments of layers.

    Example:
        >>> layer = tf.layers.Dense(4)
        >>> layer(tf.ones([2, 3])).shape.as_list(), layer.kernel.name
        ([2, 4], 'dense/kernel:0')
    """

    @with_parameters_of(
        keras.Dense.__init__,
        extra={"trainable": ("bias_constraint", True), "name": ("trainable", None)},
        kernel_initializer=None,
        bias_initializer=zeros_initializer(),
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)


dense = functional(
    Dense, "dense", "A fully connected layer applied to `inputs`.",
    "tf.layers.dense(tf.ones([2, 3]), 4, activation=tf.nn.relu) -> [2, 4]",
)  # fmt: skip


class Dropout(keras_dropout.Dropout, Layer):
    """Zeroes a part `rate` of the inputs in training and scales up the rest."""

    @with_parameters_of(keras_dropout.Dropout.__init__, extra={"name": ("seed", None)}, rate=0.5)
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)

    def call(self, inputs: Any, training: Any = False) -> Tensor:
        return super().call(inputs, training=training)


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Tensor:
    """Dropout applied to `inputs` when `training`; otherwise they pass unchanged.

    Args:
        inputs: a tensor of floating-point numbers.
        rate: the fraction that becomes 0; the rest is scaled up.
        noise_shape: the shape in which it is decided what to drop.
        seed: makes the choice repeatable.
        training: a bool or a boolean scalar tensor.
        name: of the layer.

    Returns:
        A tensor of the type and shape of `inputs`.

    Raises:
        ValueError: `rate` is not between 0 and 1.

    Example:
        >>> session.run(tf.layers.dropout([1.0, 2.0], rate=0.5, training=False))
        array([1., 2.], dtype=float32)
    """
    layer = Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)
    return layer.apply(inputs, training=training)


class Flatten(keras.Flatten, Layer):
    """Makes all but the first axis into one; channels come last."""


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Tensor:
    """`inputs` with all but the first axis made into one.

    Args:
        inputs: a tensor [batch, ...].
        name: of the layer.
        data_format: "channels_first" moves the channels to the end before.

    Returns:
        A tensor [batch, features].

    Raises:
        ValueError: the inputs have no dimension.

    Example:
        >>> tf.layers.flatten(tf.zeros([2, 3, 4])).shape
        TensorShape([Dimension(2), Dimension(12)])
    """
    return Flatten(name=name, data_format=data_format).apply(inputs)
