"""tf.contrib.learn's heads: from logits to predictions, losses, metrics and a training step."""

from __future__ import annotations

import abc
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft.core import dtypes
from weft.core.shapes import dimension_at_index
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.slices import SparseTensor, convert_to_tensor_or_sparse_tensor
from weft.graph.tensor import Tensor
from weft.lib.contrib.layers.dense import linear
from weft.lib.contrib.learn import head_losses, head_metrics
from weft.lib.contrib.learn.keys import MetricKey, PredictionKey, ProblemType
from weft.lib.contrib.learn.model_fn import ModeKeys, ModelFnOps
from weft.lib.platform import tf_logging as logging
from weft.lib.summary import summary
from weft.lib.train.optimizers.adagrad import AdagradOptimizer
from weft.ops.array import array
from weft.ops.control.control import group, no_op
from weft.ops.lookup.vocabulary import index_table_from_tensor, index_to_string_table_from_tensor
from weft.ops.math import math
from weft.ops.nn import activations as nn
from weft.ops.scores import metrics as metrics_ops
from weft.ops.sparse.convert import sparse_to_indicator
from weft.ops.sparse.select import sparse_reshape
from weft.ops.state import variable_scope as vs
from weft.ops.state.variables import Variable
from weft.ops.strings.numbers import as_string

TrainOpFn = Callable[[Any], Any]


class Head(abc.ABC):
    """The last part of a model, which knows what its outputs mean."""

    @property
    @abc.abstractmethod
    def logits_dimension(self) -> int:
        """How many outputs of the model it wants for each example."""

    @abc.abstractmethod
    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """The operations of the model for one mode, of its logits or of the layer before them."""


def no_op_train_fn(loss: Any) -> Any:
    """No training at all."""
    return no_op()


class _SingleHead(Head):
    """A head for one problem. Derived ones say what labels, predictions and metrics are."""

    scope: str
    problem: int

    def __init__(
        self,
        dimension: int | None,
        loss_fn: head_losses.LossFn,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
    ) -> None:
        if dimension is None or dimension < 1:
            raise ValueError(f"Invalid logits_dimension {dimension}.")
        self._dimension, self._loss_fn = dimension, loss_fn
        self.label_name, self.head_name = label_name, head_name
        self.weight_column_name = weight_column_name
        self._has_centered_bias = enable_centered_bias

    @property
    def logits_dimension(self) -> int:
        return self._dimension

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        values = (*features.values(), labels, logits, logits_input)
        with vs.variable_scope(scope, self.head_name or self.scope, values):
            if mode == ModeKeys.INFER:
                labels = None
            labels = None if labels is None else self._as_labels(labels)
            logits = _checked_logits(logits_input, logits, self._dimension)
            return self._ops(features, mode, labels, train_op_fn, logits)

    def _ops(
        self, features: Any, mode: str, labels: Any, train_op_fn: TrainOpFn | None, logits: Tensor
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        bias = self._centered_bias() if self._has_centered_bias else None
        if bias is not None:
            logits = nn.bias_add(logits, bias)
        with name_scope(None, "predictions", (logits,)):
            predictions = self._predictions(logits)
        loss = train_op = found = None
        if labels is not None:
            weights = _weights(features, self.weight_column_name)
            loss, average = self._loss(labels, logits, weights)
            with name_scope(""):
                summary.scalar(self._key(MetricKey.LOSS), array.identity(average))
            step = self._bias_step(bias, labels, logits, weights) if mode == ModeKeys.TRAIN else []
            train_op = _training(mode, loss, train_op_fn, step)
            with name_scope("metrics", values=[average, *predictions.values()]):
                found = {self._key(MetricKey.LOSS): metrics_ops.mean(average)}
                own = self._metrics(predictions, labels, weights)
                found |= {self._key(key): metric for key, metric in own.items()}
        return ModelFnOps(mode, predictions, loss, train_op, found, self._alternatives(predictions))

    def _key(self, key: str) -> str:
        return f"{key}/{self.head_name}" if self.head_name else key

    def _loss(self, labels: Any, logits: Any, weights: Any) -> head_losses.Losses:
        return self._loss_fn(labels, logits, weights)

    def _as_labels(self, labels: Any) -> Any:
        labels = _one_of(labels, self.label_name)
        if isinstance(labels, SparseTensor):
            raise ValueError("SparseTensor is not supported.")
        return labels

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        raise NotImplementedError

    def _metrics(self, predictions: Any, labels: Any, weights: Any) -> head_metrics.Metrics:
        return {}

    def _alternatives(self, predictions: dict[str, Any]) -> dict[Any, Any]:
        return {self.head_name: (self.problem, predictions)}

    # ---- a bias that is trained by itself, on the labels alone ----

    def _centered_bias(self) -> Any:
        zeros = array.zeros([self._dimension])
        bias = Variable(zeros, trainable=True, name="centered_bias_weight")
        for place in range(self._dimension):
            name = f"centered_bias/bias_{place}"
            summary.scalar(f"{name}/{self.head_name}" if self.head_name else name, bias[place])
        return bias

    def _bias_step(self, bias: Any, labels: Any, logits: Tensor, weights: Any) -> list[Any]:
        if bias is None:
            return []
        with name_scope(None, "centered_bias_step") as name:
            rows = array.shape(logits)[0]
            same = array.reshape(array.tile(bias, [rows]), [rows, self._dimension])
            with name_scope(None, "centered_bias", (same,)):
                losses = self._loss(labels, same, weights)
                loss = math.reduce_mean(losses, name="training_loss")
        return [AdagradOptimizer(0.1).minimize(loss, var_list=(bias,), name=name)]


class _RegressionHead(_SingleHead):
    scope, problem = "regression_head", ProblemType.LINEAR_REGRESSION
    link_fn: Callable[[Tensor], Tensor] = staticmethod(array.identity)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        key = PredictionKey.SCORES
        scores = array.squeeze(logits, [1], name=key) if self._dimension == 1 else logits
        return {key: self.link_fn(scores)}


def _two_logits(logits: Tensor) -> Tensor:
    return array.concat((array.zeros_like(logits), logits), 1)


class _Classifying(_SingleHead):
    """A head whose export tells the names of classes and their probabilities."""

    label_keys: Any = None

    def _alternatives(self, predictions: dict[str, Any]) -> dict[Any, Any]:
        probabilities = predictions[PredictionKey.PROBABILITIES]
        with name_scope(None, "_classification_output_alternatives", (probabilities,)):
            rows, columns = (array.shape(probabilities)[i] for i in (0, 1))
            names: Any = self.label_keys or as_string(math.range(columns))
            classes = array.tile(array.expand_dims(names, 0), [rows, 1], name="classes_tensor")
        exported = {PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes}
        return {self.head_name: (self.problem, exported)}


class _BinaryLogisticHead(_Classifying):
    scope, problem = "binary_logistic_head", ProblemType.LOGISTIC_REGRESSION
    thresholds: Sequence[float] = (0.5,)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        both, key = _two_logits(logits), PredictionKey
        return {
            key.LOGITS: logits,
            key.LOGISTIC: math.sigmoid(logits, name=key.LOGISTIC),
            key.PROBABILITIES: nn.softmax(both, name=key.PROBABILITIES),
            key.CLASSES: math.argmax(both, 1, name=key.CLASSES),
        }

    def _metrics(self, predictions: Any, labels: Any, weights: Any) -> head_metrics.Metrics:
        logistic, classes = (predictions[key] for key in ("logistic", "classes"))
        return head_metrics.of_two_classes(logistic, classes, labels, weights, self.thresholds)


class _BinarySvmHead(_SingleHead):
    scope, problem = "binary_svm_head", ProblemType.LOGISTIC_REGRESSION

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        classes = math.argmax(_two_logits(logits), 1, name=PredictionKey.CLASSES)
        return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: classes}

    def _metrics(self, predictions: Any, labels: Any, weights: Any) -> head_metrics.Metrics:
        accuracy = metrics_ops.accuracy(labels, predictions[PredictionKey.CLASSES], weights)
        return {MetricKey.ACCURACY: accuracy}


class _MultiClassHead(_Classifying):
    """Labels are (as given, as numbers): they may be words of `label_keys`."""

    scope, problem = "multi_class_head", ProblemType.CLASSIFICATION
    metric_class_ids: Sequence[int] = ()

    def _as_labels(self, labels: Any) -> tuple[Tensor, Tensor]:
        labels = super()._as_labels(labels)
        if not self.label_keys:
            return labels, labels
        return labels, index_table_from_tensor(self.label_keys, name="label_id_lookup").lookup(
            labels
        )

    def _loss(self, labels: Any, logits: Any, weights: Any) -> head_losses.Losses:
        return self._loss_fn(labels[1], logits, weights=weights)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        key = PredictionKey
        likeliest = math.argmax(logits, 1, name=key.CLASSES)
        chances = nn.softmax(logits, name=key.PROBABILITIES)
        classes = self._words(likeliest) if self.label_keys else likeliest
        return {key.LOGITS: logits, key.PROBABILITIES: chances, key.CLASSES: classes}

    def _words(self, class_ids: Tensor) -> Tensor:
        table = index_to_string_table_from_tensor(self.label_keys, name="class_string_lookup")
        return table.lookup(class_ids)

    def _metrics(self, predictions: Any, labels: Any, weights: Any) -> head_metrics.Metrics:
        accuracy = metrics_ops.accuracy(labels[0], predictions[PredictionKey.CLASSES], weights)
        ids = () if self.label_keys else self.metric_class_ids
        more = head_metrics.of_classes(predictions, labels[1], weights, ids)
        return {MetricKey.ACCURACY: accuracy, **more}


class _MultiLabelHead(_Classifying):
    scope, problem = "multi_label_head", ProblemType.CLASSIFICATION
    metric_class_ids: Sequence[int] = ()

    def _as_labels(self, labels: Any) -> Tensor:
        labels = _one_of(labels, self.label_name)
        if not isinstance(labels, SparseTensor):
            return labels
        if self._dimension < 2:
            raise ValueError("Must set num_classes >= 2 when passing labels as a SparseTensor.")
        return math.cast(sparse_to_indicator(labels, self._dimension), dtypes.int64)

    def _predictions(self, logits: Tensor) -> dict[str, Any]:
        key = PredictionKey
        return {
            key.LOGITS: logits,
            key.PROBABILITIES: math.sigmoid(logits, name=key.PROBABILITIES),
            key.CLASSES: math.cast(math.greater(logits, 0), dtypes.int64, name=key.CLASSES),
        }

    def _metrics(self, predictions: Any, labels: Any, weights: Any) -> head_metrics.Metrics:
        return head_metrics.of_labels(predictions, labels, weights, self.metric_class_ids)


class _LossOnlyHead(Head):
    """A head without logits, whose loss is a function of nothing: a regularization, say."""

    def __init__(self, loss_fn: Callable[[], Any], head_name: str | None = None) -> None:
        self._loss_fn, self.head_name = loss_fn, head_name or "loss_only_head"

    @property
    def logits_dimension(self) -> int:
        return 0

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if mode == ModeKeys.INFER:
            return ModelFnOps(mode, {}, eval_metric_ops={})
        with vs.variable_scope(scope, self.head_name):
            made = self._loss_fn()
            loss = math.add_n(made) if isinstance(made, list) else made
            return ModelFnOps(mode, {}, loss, _training(mode, loss, train_op_fn), {})


class _MultiHead(Head):
    """Several heads over one model; their losses are added up."""

    def __init__(self, heads: Sequence[Any], loss_weights: Sequence[float] | None) -> None:
        if any(not head.head_name for head in heads):
            raise ValueError("Members of MultiHead must have names.")
        self._heads, self._loss_weights = list(heads), loss_weights

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: TrainOpFn | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if mode == ModeKeys.TRAIN and train_op_fn is None:
            raise ValueError("train_op_fn can not be None in TRAIN mode.")
        made = [
            head.create_model_fn_ops(
                features, mode, labels, no_op_train_fn, own, logits_input, scope
            )
            for head, own in zip(self._heads, self._split(logits), strict=True)
        ]
        named = list(zip(self._heads, made, strict=True))
        predictions = {
            (head.head_name, key): value
            for head, ops in named
            for key, value in (ops.predictions or {}).items()
        }
        if mode == ModeKeys.INFER:
            alternatives: dict[Any, Any] = {}
            for _, ops in named:
                alternatives |= ops.output_alternatives or {}
            return ModelFnOps(mode, predictions, output_alternatives=alternatives)
        loss = self._total([ops.loss for ops in made])
        found = {key: metric for ops in made for key, metric in ops.eval_metric_ops.items()}
        if mode == ModeKeys.EVAL:
            return ModelFnOps(mode, predictions, loss, eval_metric_ops=found)
        assert train_op_fn is not None
        step = group(train_op_fn(loss), *(ops.train_op for ops in made))
        return ModelFnOps(mode, None, loss, step, found)

    def _split(self, logits: Any) -> Iterator[Any]:
        begin = 0
        if logits is not None and not isinstance(logits, dict):
            logits = convert_to_tensor(logits)
        for head in self._heads:
            if logits is None or isinstance(head, _LossOnlyHead):
                yield None
            elif isinstance(logits, dict):
                yield logits[head.head_name]
            else:
                yield logits[:, begin : begin + head.logits_dimension]
            begin += head.logits_dimension

    def _total(self, losses: list[Any]) -> Any:
        weights = self._loss_weights
        if weights:
            losses = [math.multiply(one, by) for one, by in zip(losses, weights, strict=True)]
        return math.add_n(losses)


# ---- the functions that make them ----


def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[Tensor], Tensor] | None = None,
) -> Head:
    """A head that predicts numbers, by squared differences."""
    made = _RegressionHead(
        label_dimension, head_losses.mean_squared, label_name, weight_column_name,
        enable_centered_bias, head_name,
    )  # fmt: skip
    if link_fn is not None:
        made.link_fn = link_fn
    return made


def poisson_regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """A head that predicts the means of counts; its logits are their logarithms."""
    made = _RegressionHead(
        label_dimension, head_losses.poisson, label_name, weight_column_name,
        enable_centered_bias, head_name,
    )  # fmt: skip
    made.link_fn = math.exp
    return made


def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
    label_keys: Any = None,
) -> Head:
    """A head that tells classes apart: one logit if there are two, else one for each."""
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    custom = _custom_loss(loss_fn)
    common = label_name, weight_column_name, enable_centered_bias, head_name
    if n_classes == 2:
        if metric_class_ids:
            raise ValueError("metric_class_ids invalid for n_classes==2.")
        if label_keys:
            raise ValueError("label_keys is not supported for n_classes=2.")
        binary = _BinaryLogisticHead(1, custom or head_losses.two_classes, *common)
        binary.thresholds = thresholds or (0.5,)
        return binary
    if label_keys and len(label_keys) != n_classes:
        raise ValueError("Length of label_keys must equal n_classes.")
    many = _MultiClassHead(n_classes, custom or head_losses.many_classes, *common)
    many.metric_class_ids = _checked_classes(metric_class_ids, n_classes)
    many.label_keys = label_keys
    return many


def binary_svm_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
) -> Head:
    """A head that tells two classes apart, by the hinge loss."""
    return _BinarySvmHead(
        1, head_losses.hinge, label_name, weight_column_name, enable_centered_bias, head_name
    )


def multi_label_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Callable[..., Any] | None = None,
) -> Head:
    """A head for classes of which an example may have none, or several."""
    if n_classes < 2:
        raise ValueError("n_classes must be > 1 for classification.")
    made = _MultiLabelHead(
        n_classes, _custom_loss(loss_fn) or head_losses.many_labels, label_name,
        weight_column_name, enable_centered_bias, head_name,
    )  # fmt: skip
    made.metric_class_ids = _checked_classes(metric_class_ids, n_classes)
    return made


def loss_only_head(loss_fn: Callable[[], Any], head_name: str | None = None) -> Head:
    """A head without logits: its loss is what a function gives."""
    return _LossOnlyHead(loss_fn, head_name)


def multi_head(heads: Sequence[Any], loss_weights: Sequence[float] | None = None) -> Head:
    """Several heads, each with a name; their losses are added, with weights if there are any."""
    if loss_weights and len(loss_weights) != len(heads):
        raise ValueError("heads and loss_weights must have same size")
    return _MultiHead(heads, loss_weights)


def _custom_loss(loss_fn: Callable[..., Any] | None) -> head_losses.LossFn | None:
    if not loss_fn:
        return None
    for wanted in ("labels", "logits", "weights"):
        if wanted not in inspect.signature(loss_fn).parameters:
            raise ValueError(f"Argument {wanted} not found in loss_fn.")
    return head_losses.custom(loss_fn)


def _checked_classes(class_ids: Sequence[int] | None, n_classes: int) -> tuple[int, ...]:
    for each in class_ids or ():
        if not 0 <= each < n_classes:
            raise ValueError(f"Class ID {each} not in [0, {n_classes}).")
    return tuple(class_ids or ())


def _one_of(labels: Any, name: str | None) -> Any:
    labels = labels[name] if isinstance(labels, dict) else labels
    return convert_to_tensor_or_sparse_tensor(labels)


def _checked_logits(logits_input: Any, logits: Any, dimension: int) -> Tensor:
    given = [each for each in (logits, logits_input) if each is not None]
    if len(given) != 1:
        which = "Both logits and" if given else "Neither logits nor"
        raise ValueError(f"{which} logits_input supplied.")
    if logits_input is not None:
        return linear(logits_input, dimension, scope="logits")
    tensor = convert_to_tensor(logits, name="logits")
    dimension_at_index(tensor.shape, -1).assert_is_compatible_with(dimension)
    return tensor


def _training(
    mode: str, loss: Any, train_op_fn: TrainOpFn | None, others: Sequence[Any] = ()
) -> Any:
    """The operation of a training step, together with others; None in other modes."""
    if mode != ModeKeys.TRAIN:
        return None
    if train_op_fn is None:
        raise ValueError("train_op_fn can not be None in TRAIN mode")
    with name_scope(None, "train_op", (loss,)):
        step = train_op_fn(loss)
        return group(step, *others) if others else step


def _weights(features: Any, column: str | None) -> Any:
    if not column:
        return None
    if column not in features:
        raise ValueError(f"Weights {column} missing from features.")
    with name_scope(None, "weight_tensor", tuple(features.values())):
        weights = math.cast(features[column], dtypes.float32)
        if weights.shape.ndims != 1:
            return weights
        logging.warning(f"Weights {column} has shape {weights.shape}, expanding to make it 2d.")
        sparse = isinstance(weights, SparseTensor)
        return sparse_reshape(weights, (-1, 1)) if sparse else array.reshape(weights, (-1, 1))


# Before they were public, programs took them by these names.
_regression_head = regression_head
_poisson_regression_head = poisson_regression_head
_multi_class_head = multi_class_head
_binary_svm_head = binary_svm_head
_multi_label_head = multi_label_head
_multi_head = multi_head
_Head = Head
