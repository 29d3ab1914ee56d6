"""tf.keras.experimental.WideDeepModel."""

from __future__ import annotations

from typing import Any

from weft.lib.keras import activations
from weft.lib.keras.engine.base_layer import Layer
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers.serialization import deserialize, serialize
from weft.lib.keras.premade.linear import LinearModel


class WideDeepModel(Model):
    """The mean of what a linear and a deep model say, trained together.

    Two inputs go to one model each; two optimizers train one model each.
    """

    def __init__(
        self, linear_model: Any, dnn_model: Any, activation: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.linear_model, self.dnn_model = linear_model, dnn_model
        self.activation = activations.get(activation)

    def call(self, inputs: Any) -> Any:
        both = isinstance(inputs, (tuple, list)) and len(inputs) == 2
        wide, deep = inputs if both else (inputs, inputs)
        output = 0.5 * (self.linear_model(wide) + self.dnn_model(deep))
        return output if self.activation is None else self.activation(output)

    def _optimizer_updates(self) -> list[Any]:
        optimizers = self.optimizer
        if not isinstance(optimizers, (tuple, list)):
            optimizers = [optimizers, optimizers]
        updates: list[Any] = []
        for optimizer, model in zip(optimizers, (self.linear_model, self.dnn_model), strict=True):
            updates += optimizer.get_updates(
                params=model._unique_trainable_weights, loss=self.total_loss
            )
        return updates

    def get_config(self) -> dict[str, Any]:
        return {
            **Layer.get_config(self),
            "linear_model": serialize(self.linear_model),
            "dnn_model": serialize(self.dnn_model),
            "activation": activations.serialize(self.activation),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        known = {"LinearModel": LinearModel, **(custom_objects or {})}
        models = [deserialize(config.pop(name), known) for name in ("linear_model", "dnn_model")]
        return cls(*models, **config)
