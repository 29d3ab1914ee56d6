"""Layer normalization: every example by its own moments."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.layers.normalization import checked_axes
from weft.lib.keras.layers.settings import record, take_named, weight
from weft.ops.array import array
from weft.ops.math import moments as nn_moments


class LayerNormalization(Layer):
    """Mean 0 and variance 1 over `axis` in every example, then `* gamma + beta`."""

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 0.001,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but received "
                f"instead: {axis}"
            )
        self.axis: Any = axis if isinstance(axis, int) else list(axis)
        self.epsilon, self.center, self.scale = epsilon, center, scale
        take_named(self, locals())
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if shape.ndims is None:
            raise ValueError(f"Input shape {shape} has undefined rank.")
        self.axis = checked_axes(self.axis, shape.ndims)
        sizes = [shape.as_list()[axis] for axis in self.axis]
        plain: dict[str, Any] = {"experimental_autocast": False}
        self.gamma = weight(self, "gamma", sizes, **plain) if self.scale else None
        self.beta = weight(self, "beta", sizes, **plain) if self.center else None
        self.built = True

    def call(self, inputs: Any) -> Tensor:
        shape = inputs.shape
        mean, variance = nn_moments.moments(inputs, self.axis, keep_dims=True)
        wide = [size if i in self.axis else 1 for i, size in enumerate(shape.as_list())]

        def broadcast(v: Any) -> Any:
            lines_up = v is None or self.axis == [shape.ndims - 1] or v.shape.ndims == shape.ndims
            return v if lines_up else array.reshape(v, wide)

        outputs = nn_moments.batch_normalization(
            inputs, mean, variance, broadcast(self.beta), broadcast(self.gamma), self.epsilon
        )
        outputs.set_shape(shape)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        keys = (
            "axis epsilon center scale beta_initializer gamma_initializer beta_regularizer "
            "gamma_regularizer beta_constraint gamma_constraint"
        )
        return {**super().get_config(), **record(self, keys)}
