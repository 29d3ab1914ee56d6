"""tf.keras.experimental.LinearModel."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers.core import Dense
from weft.lib.keras.layers.settings import record, take_named
from weft.ops.nn import activations as nn_impl


class LinearModel(Model):
    """`activation(sum of inputs @ kernels + bias)`; each input has a kernel of its own."""

    units: int
    use_bias: bool
    activation: Any
    kernel_initializer: Any
    bias_initializer: Any
    kernel_regularizer: Any
    bias_regularizer: Any

    def __init__(
        self,
        units: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        take_named(self, locals())
        self.units, self.use_bias = units, use_bias

    def build(self, input_shape: Any) -> None:
        self.dense_layers = [
            Dense(
                self.units,
                use_bias=False,
                kernel_initializer=self.kernel_initializer,
                kernel_regularizer=self.kernel_regularizer,
                input_shape=shape,
            )
            for shape in (input_shape if isinstance(input_shape, list) else [input_shape])
        ]
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                dtype=self.dtype,
                trainable=True,
            )

    def call(self, inputs: Any) -> Any:
        given = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
        if len(given) != len(self.dense_layers):
            raise ValueError(
                f"Expected {len(self.dense_layers)} inputs, but got {len(given)} inputs"
            )
        result, *rest = (layer(x) for layer, x in zip(self.dense_layers, given, strict=True))
        for each in rest:
            result += each
        if self.bias is not None:
            result = nn_impl.bias_add(result, self.bias)
        return result if self.activation is None else self.activation(result)

    def get_config(self) -> dict[str, Any]:
        keys = (
            "units activation use_bias kernel_initializer bias_initializer kernel_regularizer "
            "bias_regularizer"
        )
        return {**Layer.get_config(self), **record(self, keys)}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        return cls(**config)
