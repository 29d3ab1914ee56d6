"""A network that is trained beside trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.graph.graph import get_collection
from weft.graph.keys import GraphKeys
from weft.graph.tensor import Tensor
from weft.lib.contrib.layers.arrays import dropout
from weft.lib.contrib.layers.dense import fully_connected
from weft.lib.contrib.layers.feature_column_ops import input_from_feature_columns
from weft.lib.contrib.layers.optimizers import optimize_loss
from weft.lib.feature_column.input_layer import input_layer
from weft.lib.summary import summary
from weft.ops.nn.zero_fraction import zero_fraction
from weft.ops.state.global_step import get_global_step
from weft.ops.state.variable_scope import variable_scope

DNN_LEARNING_RATE = 0.001
SCOPE = "dnn"


@dataclass
class Network:
    """The part of the model that is a network."""

    hidden_units: Any
    feature_columns: Any
    optimizer: Any
    activation_fn: Any
    dropout: float | None
    partitioner: Any
    core_columns: bool

    def read(self, features: dict[str, Any], partitioner: Any) -> Tensor:
        """The features as one matrix."""
        given = tuple(features.values())
        with variable_scope(
            "input_from_feature_columns", values=given, partitioner=partitioner
        ) as scope:
            among = [SCOPE]
            if self.core_columns:
                return input_layer(features, self.feature_columns, weight_collections=among)
            return input_from_feature_columns(
                features, self.feature_columns, weight_collections=among, scope=scope
            )

    def logits(self, net: Any, width: int, training: bool) -> Tensor:
        for number, size in enumerate(self.hidden_units):
            net = self._layer(net, f"hiddenlayer_{number}", size, self.activation_fn, training)
        return self._layer(net, "logits", width, None, False)

    def _layer(self, net: Any, name: str, size: int, activation: Any, training: bool) -> Tensor:
        with variable_scope(name, values=(net,)) as scope:
            net = fully_connected(
                net, size, activation_fn=activation, variables_collections=[SCOPE], scope=scope
            )
            if self.dropout is not None and training:
                net = dropout(net, keep_prob=1.0 - self.dropout)
        summary.scalar(f"{scope.name}_fraction_of_zero_values", zero_fraction(net))
        summary.histogram(f"{scope.name}_activation", net)
        return net

    def train(self, loss: Any) -> Any:
        optimizer = self.optimizer() if callable(self.optimizer) else self.optimizer
        return optimize_loss(
            loss,
            get_global_step(),
            DNN_LEARNING_RATE,
            optimizer,
            name=SCOPE,
            variables=get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=SCOPE),
            summaries=[],
        )
