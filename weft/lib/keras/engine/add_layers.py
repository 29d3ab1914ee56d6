"""Layers that add their inputs to the losses or metrics of a model made of layers."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.engine.base_layer import Layer


class AddLoss(Layer):
    """Passes its inputs on, and adds them as a loss."""

    def __init__(self, unconditional: bool, **kwargs: Any) -> None:
        super().__init__(**{**kwargs, "autocast": False})
        self.unconditional = unconditional

    def call(self, inputs: Any) -> Any:
        self.add_loss(inputs, inputs=None if self.unconditional else inputs)
        return inputs

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "unconditional": self.unconditional}


class AddMetric(Layer):
    """Passes its inputs on, and adds them as a metric."""

    def __init__(
        self, aggregation: str | None = None, metric_name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.aggregation, self.metric_name = aggregation, metric_name

    def call(self, inputs: Any) -> Any:
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs

    def get_config(self) -> dict[str, Any]:
        own = {"aggregation": self.aggregation, "metric_name": self.metric_name}
        return {**super().get_config(), **own}
