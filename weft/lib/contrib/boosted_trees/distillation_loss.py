"""Losses by which trees learn what a network has learned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.tensor import Tensor
from weft.lib.contrib.learn import head_losses
from weft.ops.math.math import sigmoid
from weft.ops.nn.activations import softmax

DistillationLoss = Callable[[Any, Any, Any], Tensor]


def _shares(logits: Any, n_classes: int) -> Tensor:
    return sigmoid(logits) if n_classes == 2 else softmax(logits)


def create_dnn_to_tree_squared_loss_fn(n_classes: int) -> DistillationLoss:
    """The squared distance between the probabilities that both tell."""

    def loss(dnn_logits: Any, tree_logits: Any, example_weights: Any) -> Tensor:
        told, learned = (_shares(each, n_classes) for each in (dnn_logits, tree_logits))
        return head_losses.mean_squared(told, learned, example_weights)[0]

    return loss


def create_dnn_to_tree_cross_entropy_loss_fn(n_classes: int) -> DistillationLoss:
    """The cross entropy of what the trees tell with what the network tells."""
    kind = head_losses.two_classes if n_classes == 2 else head_losses.many_classes

    def loss(dnn_logits: Any, tree_logits: Any, example_weights: Any) -> Tensor:
        return kind(_shares(dnn_logits, n_classes), tree_logits, example_weights)[0]

    return loss
