"""Estimators that look at no feature: a bias alone, which learns how labels are distributed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import control_dependencies
from weft.graph.tensor import Tensor
from weft.lib.estimator.canned.optimizers import get_optimizer_instance
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.heads.canned import classification_head, regression_head
from weft.lib.estimator.spec import EstimatorSpec
from weft.lib.feature_column.numeric import NumericColumn
from weft.ops.array.fill import ones
from weft.ops.array.shape import shape
from weft.ops.control.check import assert_equal
from weft.ops.math.elementwise import multiply
from weft.ops.scores.losses import Reduction
from weft.ops.state.get_variable import get_variable
from weft.ops.state.global_step import get_global_step
from weft.ops.state.initializers import Zeros
from weft.ops.state.variable_scope import variable_scope

LEARNING_RATE = 0.3


def _key_of(weight_column: Any) -> Any:
    if weight_column is None or isinstance(weight_column, str):
        return weight_column
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(
            "Weight column must be either a string or _NumericColumn. Given type: "
            f"{type(weight_column)}."
        )
    return weight_column.key


def _logits(features: dict[str, Any], size: int, weight_column: Any) -> Tensor:
    """The bias, once for each example; all features must have as many."""
    weight_key = _key_of(weight_column)
    batches = [shape(each)[0] for key, each in features.items() if key != weight_key]
    checks = [assert_equal(batches[0], each) for each in batches[1:]]
    with control_dependencies(checks), variable_scope("baseline"):
        bias = get_variable("bias", shape=[size], initializer=Zeros)
        return multiply(bias, ones([batches[0], size]))


def model_fn_of(
    head: Any, optimizer: Any, weight_column: Any = None
) -> Callable[..., EstimatorSpec]:
    """The model function of a baseline."""

    def train(loss: Any) -> Any:
        trainer = get_optimizer_instance(optimizer, learning_rate=LEARNING_RATE)
        return trainer.minimize(loss, global_step=get_global_step())

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        logits = _logits(features, head.logits_dimension, weight_column)
        return head.create_estimator_spec(
            features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train
        )

    return model_fn


class BaselineClassifier(Estimator):
    """Predicts how frequent each class is."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        head = classification_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(model_fn_of(head, optimizer, weight_column), model_dir, config)


class BaselineRegressor(Estimator):
    """Predicts the mean of the labels."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = Reduction.SUM,
    ) -> None:
        head = regression_head(label_dimension, weight_column, loss_reduction)
        super().__init__(model_fn_of(head, optimizer, weight_column), model_dir, config)


class BaselineEstimator(Estimator):
    """A bias alone, under a head of the program's choice."""

    def __init__(
        self, head: Any, model_dir: Any = None, optimizer: Any = "Ftrl", config: Any = None
    ) -> None:
        super().__init__(model_fn_of(head, optimizer), model_dir, config)
