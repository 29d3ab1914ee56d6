"""tf.contrib.learn.ops: parts of models, as they were before layers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.nn import activations
from weft.ops.nn.embedding import embedding_lookup as lookup
from weft.ops.scores import losses
from weft.ops.state import variable_scope as vs


def embedding_lookup(params: Any, ids: Any, name: str = "embedding_lookup") -> Tensor:
    """Rows of a matrix, by numbers in a tensor of any shape."""
    with name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = convert_to_tensor(params), convert_to_tensor(ids)
        shape = array.shape(ids)
        rows = lookup(params, array.reshape(ids, math.reduce_prod(shape, keepdims=True)))
        width = params.shape.as_list()[1]
        return array.reshape(rows, array.concat([shape, [width]], 0))


def categorical_variable(tensor_in: Any, n_classes: int, embedding_size: int, name: str) -> Tensor:
    """Vectors of classes, which are learnt."""
    with vs.variable_scope(name):
        table = vs.get_variable(name + "_embeddings", [n_classes, embedding_size])
        return embedding_lookup(table, tensor_in)


def mean_squared_error_regressor(
    tensor_in: Any, labels: Any, weights: Any, biases: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(predictions, loss) of a linear model."""
    scope = name_scope(name, "mean_squared_error_regressor", [tensor_in, labels])
    return _linear(scope, (tensor_in, weights, biases), labels, _by_squares)


def softmax_classifier(
    tensor_in: Any,
    labels: Any,
    weights: Any,
    biases: Any,
    class_weight: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """(probabilities, loss) of a linear classifier; labels are rows of zeros and a one."""
    scope = name_scope(name, "softmax_classifier", [tensor_in, labels])
    finish = functools.partial(_by_classes, class_weight)
    return _linear(scope, (tensor_in, weights, biases), labels, finish)


def _linear(scope: Any, factors: Sequence[Any], labels: Any, finish: Callable[..., Any]) -> Any:
    """What `finish` makes of labels and of the outputs of a linear model."""
    with scope:
        return finish(labels, activations.xw_plus_b(*factors))


def _by_squares(labels: Any, outputs: Tensor) -> tuple[Tensor, Tensor]:
    if (len(labels.shape), len(outputs.shape)) == (1, 2):
        outputs = array.squeeze(outputs, axis=[1])
    return outputs, losses.mean_squared_error(labels, outputs)


def _by_classes(class_weight: Any, labels: Any, outputs: Tensor) -> tuple[Tensor, Tensor]:
    weighted = outputs if class_weight is None else math.multiply(outputs, class_weight)
    return activations.softmax(weighted), losses.softmax_cross_entropy(labels, weighted)
