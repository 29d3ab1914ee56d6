"""tf.estimator.Head: what any head can do, and how most of them do it."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.estimator.heads import measures
from weft.lib.estimator.heads.keys import MetricKeys
from weft.lib.estimator.heads.measures import Metric, Ops
from weft.lib.estimator.heads.shapes import call_loss_fn, check_logits, check_loss_fn, weights_of
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.saved_model.export_outputs import ExportOutput, PredictOutput
from weft.lib.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from weft.lib.summary import summary
from weft.ops.control.control import group
from weft.ops.math.math import add_n
from weft.ops.scores.losses import Reduction, compute_weighted_loss
from weft.ops.state.global_step import get_global_step

DEFAULT_SERVING_KEY = DEFAULT_SERVING_SIGNATURE_DEF_KEY
CLASSIFY_SERVING_KEY = "classification"
REGRESS_SERVING_KEY = "regression"
PREDICT_SERVING_KEY = "predict"

# The names that TensorFlow 2 has for reductions, which heads take too.
REDUCTIONS = {"sum": Reduction.SUM, "sum_over_batch_size": Reduction.SUM_OVER_BATCH_SIZE}
SUM_OVER_BATCH_SIZE = "sum_over_batch_size"


class Head(metaclass=abc.ABCMeta):
    """From logits and labels to predictions, loss, metrics and a training operation."""

    @property
    @abc.abstractmethod
    def name(self) -> str | None:
        """The name of this head among those of the same model."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """The size of the last dimension of logits."""

    @property
    @abc.abstractmethod
    def loss_reduction(self) -> str:
        """How the losses of examples become one."""

    @abc.abstractmethod
    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> Tensor:
        """The loss of a batch, as a scalar."""

    @abc.abstractmethod
    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Tensor]:
        """Predictions by name; all of them, or those in `keys`."""

    @abc.abstractmethod
    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """Metrics by name, not updated by anything yet."""

    @abc.abstractmethod
    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        """The metrics, to be updated by these labels and logits."""

    def _summary_key(self, key: str) -> str:
        return f"{key}/{self.name}" if self.name else key

    def create_estimator_spec(
        self,
        features: Any,
        mode: Any,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """The EstimatorSpec that a model function returns."""
        raise NotImplementedError("Subclasses of Head must implement `create_estimator_spec()`.")


class Losses(NamedTuple):
    """The loss of each example, with what it was computed from and what comes of it."""

    training_loss: Any
    unreduced_loss: Any
    weights: Any
    processed_labels: Any


def train_op_of(
    loss: Any,
    optimizer: Any,
    variables: Any,
    train_op_fn: Callable[[Any], Any] | None,
    update_ops: Any,
) -> Any:
    """One step of training, by an optimizer or by a program's own function, with its updates."""
    if (optimizer is None) == (train_op_fn is None):
        both = "None" if optimizer is None else "set"
        raise ValueError(f"train_op_fn and optimizer cannot both be {both}.")
    if train_op_fn is not None:
        train_op = train_op_fn(loss)
    else:
        train_op = optimizer.minimize(loss, global_step=get_global_step(), var_list=variables)
    return group(train_op, *update_ops) if update_ops else train_op


class StandardHead(Head):
    """A head that is told by four methods: labels, the loss of examples, metrics, exports."""

    # Whether metrics are computed as TensorFlow 2's metric objects do it.
    _careful = True

    def __init__(
        self,
        weight_column: Any = None,
        loss_reduction: str = SUM_OVER_BATCH_SIZE,
        loss_fn: Any = None,
        name: str | None = None,
    ) -> None:
        self._check_reduction(loss_reduction)
        if loss_fn:
            check_loss_fn(loss_fn, also=("loss_reduction",))
        self._weight_column, self._loss_reduction = weight_column, loss_reduction
        self._loss_fn, self._name = loss_fn, name

    def _check_reduction(self, reduction: str) -> None:
        known = (*REDUCTIONS, *Reduction.all())
        if reduction not in known or reduction == Reduction.NONE:
            raise ValueError(
                f"Invalid loss_reduction: {reduction}. See `tf.losses.Reduction` for valid options."
            )

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def loss_reduction(self) -> str:
        return self._loss_reduction

    # ---- what makes a head ----

    @abc.abstractmethod
    def _labels(self, logits: Tensor, labels: Any) -> Tensor:
        """Labels, checked and as numbers."""

    @abc.abstractmethod
    def _default_loss(self, labels: Tensor, logits: Tensor) -> Tensor:
        """The loss of each example, unless a program brings its own."""

    @abc.abstractmethod
    def _metric_ops(
        self, labels: Tensor, predictions: dict[str, Tensor], loss: Tensor, weights: Any
    ) -> dict[str, Ops]:
        """Metrics by name, apart from the losses."""

    @abc.abstractmethod
    def _metric_names(self) -> list[str]:
        """The names that `_metric_ops` uses."""

    @abc.abstractmethod
    def _answers(self, predictions: dict[str, Tensor]) -> dict[str, ExportOutput]:
        """The export outputs, the default one included, besides plain predictions."""

    _loss_dimension = 1
    _per_logit_weights = False

    # ---- the rest follows ----

    def _losses(self, features: Any, logits: Tensor, labels: Any) -> Losses:
        labels = self._labels(logits, labels)
        if self._loss_fn:
            loss = call_loss_fn(self._loss_fn, labels, logits, features, self._loss_dimension)
        else:
            loss = self._default_loss(labels, logits)
        weights = weights_of(features, self._weight_column, logits, self._per_logit_weights)
        reduction = REDUCTIONS.get(self._loss_reduction, self._loss_reduction)
        total = compute_weighted_loss(loss, weights=weights, reduction=reduction)
        return Losses(total, loss, weights, labels)

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> Tensor:
        with name_scope(None, "losses", (logits,)):
            logits = check_logits(logits, self.logits_dimension)
            total = self._losses(features, logits, labels).training_loss
            if not regularization_losses:
                return total
            return add_n([total, add_n(regularization_losses)])

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        names = [MetricKeys.LOSS_MEAN, *self._metric_names()]
        if regularization_losses is not None:
            names.append(MetricKeys.LOSS_REGULARIZATION)
        return {self._summary_key(name): Metric(name) for name in names}

    def update_metrics(  # type: ignore[override]
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        logits = check_logits(logits, self.logits_dimension)
        losses = self._losses(features, logits, labels)
        regularization = add_n(regularization_losses) if regularization_losses else None
        ops = self._eval_metric_ops(self.predictions(logits), losses, regularization)
        return measures.add_all(eval_metrics, ops)

    def _eval_metric_ops(
        self, predictions: dict[str, Tensor], losses: Losses, regularization: Any
    ) -> dict[str, Ops]:
        with name_scope(None, "metrics"):
            name = MetricKeys.LOSS_MEAN
            ops = {name: measures.mean(losses.unreduced_loss, losses.weights, name)}
            ops |= self._metric_ops(
                losses.processed_labels, predictions, losses.unreduced_loss, losses.weights
            )
            if regularization is not None:
                name = MetricKeys.LOSS_REGULARIZATION
                ops[name] = measures.mean(regularization, name=name)
        return {self._summary_key(key): each for key, each in ops.items()}

    def create_estimator_spec(
        self,
        features: Any,
        mode: Any,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        if update_ops is not None and not isinstance(update_ops, (list, tuple)):
            raise ValueError(
                f"update_ops should be a list or a tuple. Given type: {type(update_ops)}."
            )
        with name_scope(self._name, "head"):
            logits = check_logits(logits, self.logits_dimension)
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                answers = self._answers(predictions)
                answers[PREDICT_SERVING_KEY] = PredictOutput(predictions)
                return EstimatorSpec(mode, predictions=predictions, export_outputs=answers)
            losses = self._losses(features, logits, labels)
            loss, regularization = losses.training_loss, None
            if regularization_losses:
                regularization = add_n(regularization_losses)
                loss = add_n([loss, regularization])
            if mode == ModeKeys.EVAL:
                ops = self._eval_metric_ops(predictions, losses, regularization)
                return EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops=ops)
            train_op = train_op_of(loss, optimizer, trainable_variables, train_op_fn, update_ops)
            summaries = self._summaries(loss, losses, regularization)
        with name_scope(""):
            for key, value in summaries.items():
                summary.scalar(self._summary_key(key), value)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _summaries(self, loss: Any, losses: Losses, regularization: Any) -> dict[str, Any]:
        """Scalars to write while training."""
        found = {MetricKeys.LOSS: loss}
        if regularization is not None:
            found[MetricKeys.LOSS_REGULARIZATION] = regularization
        return found
