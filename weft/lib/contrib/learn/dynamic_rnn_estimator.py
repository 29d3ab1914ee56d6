"""tf.contrib.learn.DynamicRnnEstimator: sequences of any length, with columns of 2016."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import dtypes, nest
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.tensor import Tensor
from weft.lib.contrib import layers
from weft.lib.contrib.layers import target_column as targets
from weft.lib.contrib.learn import rnn_common
from weft.lib.contrib.learn.estimator import Estimator
from weft.lib.contrib.learn.keys import ProblemType
from weft.lib.contrib.learn.model_fn import ModeKeys, ModelFnOps
from weft.lib.contrib.learn.rnn_common import PredictionType, RNNKeys
from weft.lib.rnn.cells import RNNCell
from weft.lib.rnn.dynamic import dynamic_rnn
from weft.lib.train.optimizers.momentum import MomentumOptimizer
from weft.ops.array import array
from weft.ops.control.check import assert_equal
from weft.ops.control.check_shapes import assert_rank
from weft.ops.control.check_types import assert_type
from weft.ops.control.control import with_dependencies

_NAMES = {
    PredictionType.MULTIPLE_VALUE: "MultiValueDynamicRNN",
    PredictionType.SINGLE_VALUE: "SingleValueDynamicRNN",
}


def _state_name(number: int) -> str:
    return f"{RNNKeys.STATE_PREFIX}_{number}"


def state_tuple_to_dict(state: Any) -> dict[str, Tensor | None]:
    """The parts of a cell's state by name."""
    with name_scope("state_tuple_to_dict"):
        return {
            name: None if part is None else array.identity(part, name=name)
            for name, part in ((_state_name(i), p) for i, p in enumerate(nest.flatten(state)))
        }


def dict_to_state_tuple(input_dict: dict[str, Any], cell: RNNCell) -> Any:
    """The state of a cell from its parts by name; None if there are none of them."""
    sizes = nest.flatten(cell.state_size)
    with name_scope("dict_to_state_tuple"):
        parts = [
            _checked(input_dict[_state_name(number)], size, number)
            for number, size in enumerate(sizes)
            if input_dict.get(_state_name(number)) is not None
        ]
    if not parts:
        return None
    if len(parts) < len(sizes):
        raise ValueError(
            "RNN state was partially specified."
            f"Expected zero or {len(sizes)} state Tensors; got {len(parts)}"
        )
    return nest.pack_sequence_as(cell.zero_state(batch_size=1, dtype=dtypes.bool), parts)


def _checked(part: Any, size: Any, number: int) -> Tensor:
    """One part of a state, which is a matrix as wide as the cell wants it."""
    about = f"check_state_{number}"
    is_matrix = assert_rank(part, 2, name=f"{about}_rank")
    fits = assert_equal(array.shape(part)[1], size, name=f"{about}_shape")
    return with_dependencies([is_matrix, fits], part, name=_state_name(number))


def build_sequence_input(
    features: dict[str, Any],
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    weight_collections: Any = None,
    scope: Any = None,
) -> Tensor:
    """[batch, steps, width]: columns of steps, and beside each step those of the whole sequence."""
    columns = [*sequence_feature_columns, *(context_feature_columns or ())]
    given = {
        "columns_to_tensors": features | layers.transform_features(features.copy(), columns),
        "weight_collections": weight_collections,
        "scope": scope,
    }
    steps = layers.sequence_input_from_feature_columns(
        feature_columns=sequence_feature_columns, **given
    )
    if context_feature_columns is None:
        return steps
    context = layers.input_from_feature_columns(feature_columns=context_feature_columns, **given)
    return _beside_each_step(steps, context)


def _beside_each_step(steps: Tensor, context: Tensor) -> Tensor:
    checks = []
    for name, tensor, rank in (("sequence", steps, 3), ("context", context, 2)):
        wrong_rank = f"{name}_input must have rank {rank}"
        wrong_type = f"{name}_input must have dtype float32; got {tensor.dtype}."
        data = [array.shape(tensor)]
        checks += [
            assert_rank(tensor, rank, message=wrong_rank, data=data),
            assert_type(tensor, dtypes.float32, message=wrong_type),
        ]
    with control_dependencies(checks):
        times = array.concat([[1], [array.shape(steps)[1]], [1]], 0)
        tiled = array.tile(array.expand_dims(context, 1), times)
    return array.concat([steps, tiled], 2)


def construct_rnn(
    initial_state: Any,
    sequence_input: Any,
    cell: RNNCell,
    num_label_columns: int,
    dtype: Any = dtypes.float32,
    parallel_iterations: int | None = 32,
    swap_memory: bool = True,
) -> tuple[Tensor, Any]:
    """Logits of every step, and the last state."""
    with name_scope("RNN"):
        outputs, state = dynamic_rnn(
            cell,
            sequence_input,
            initial_state=initial_state,
            dtype=dtype,
            parallel_iterations=parallel_iterations,
            swap_memory=swap_memory,
        )
        return layers.fully_connected(outputs, num_label_columns, activation_fn=None), state


class _Kind(NamedTuple):
    """What is predicted, for what."""

    problem_type: int
    prediction_type: int
    target: Any
    name: str
    probabilities: bool

    def predictions(self, logits: Any, lengths: Any) -> dict[str, Any]:
        options = self.target, self.problem_type, self.probabilities
        if self.prediction_type == PredictionType.MULTIPLE_VALUE:
            return dict(rnn_common.multi_value_predictions(logits, *options))
        with name_scope("SingleValuePrediction"):
            last = rnn_common.select_last_activations(logits, lengths)
            return dict(rnn_common.flat_predictions(last, *options))

    def loss(self, logits: Any, labels: Any, lengths: Any, features: Any) -> Tensor:
        if self.prediction_type == PredictionType.MULTIPLE_VALUE:
            with name_scope("MultiValueLoss"):
                logits, labels = rnn_common.mask_activations_and_labels(logits, labels, lengths)
                return self.target.loss(logits, labels, features)
        with name_scope("SingleValueLoss"):
            last = rnn_common.select_last_activations(logits, lengths)
            return self.target.loss(last, labels, features)

    def alternatives(self, predictions: dict[str, Any]) -> Any:
        """What is exported: without states; nothing of models of every step."""
        if self.prediction_type == PredictionType.MULTIPLE_VALUE:
            return None
        shown = {n: v for n, v in predictions.items() if RNNKeys.STATE_PREFIX not in n}
        return {"dynamic_rnn_output": (self.problem_type, shown)}


def _kind_of(problem_type: Any, prediction_type: Any, classes: Any, probabilities: bool) -> _Kind:
    if prediction_type not in _NAMES:
        raise ValueError(
            "prediction_type must be one of PredictionType.MULTIPLE_VALUE or "
            f"PredictionType.SINGLE_VALUE; got {prediction_type}"
        )
    name = _NAMES[prediction_type]
    target: Any = None
    if problem_type == ProblemType.LINEAR_REGRESSION:
        name, target = f"{name}Regressor", targets.regression_target()
        if probabilities:
            raise ValueError(
                "predict_probabilities can only be set to True for problem_type"
                f" ProblemType.CLASSIFICATION; got {problem_type}."
            )
    elif problem_type == ProblemType.CLASSIFICATION:
        if not classes:
            raise ValueError("For CLASSIFICATION problem_type, num_classes must be specified.")
        name, target = f"{name}Classifier", targets.multi_class_target(n_classes=classes)
    else:
        raise ValueError(
            "problem_type must be either ProblemType.LINEAR_REGRESSION or "
            f"ProblemType.CLASSIFICATION; got {problem_type}"
        )
    return _Kind(problem_type, prediction_type, target, name, probabilities)


def _model_fn(
    kind: _Kind,
    columns: tuple[Any, Any],
    cell_of: Callable[[Any], RNNCell],
    train: Callable[[Any], Any],
) -> Callable[..., ModelFnOps]:
    def model_fn(features: Any, labels: Any, mode: Any) -> ModelFnOps:
        with name_scope(kind.name):
            lengths = features.get(RNNKeys.SEQUENCE_LENGTH_KEY)
            inputs = build_sequence_input(features, *columns)
            cell = cell_of(mode)
            start = dict_to_state_tuple(features, cell)
            width = kind.target.num_label_columns
            logits, state = construct_rnn(start, inputs, cell, width, parallel_iterations=None)
            predictions = kind.predictions(logits, lengths)
            loss = metrics = None
            if mode != ModeKeys.INFER:
                loss = kind.loss(logits, labels, lengths, features)
            predictions |= state_tuple_to_dict(state)
            if mode != ModeKeys.INFER:
                metrics = rnn_common.get_eval_metric_ops(
                    kind.problem_type, kind.prediction_type, lengths, predictions, labels
                )
            train_op = train(loss) if mode == ModeKeys.TRAIN else None
        alternatives = kind.alternatives(predictions)
        return ModelFnOps(mode, predictions, loss, train_op, metrics, alternatives)

    return model_fn


class DynamicRnnEstimator(Estimator):
    """A recurrent network over sequences: one prediction for each, or one for each step.

    The features may have `sequence_length`, and parts of the first state as `rnn_cell_state_0`
    and so on; predictions have those of the last.

    Args:
        problem_type: `ProblemType.CLASSIFICATION` or `ProblemType.LINEAR_REGRESSION`.
        prediction_type: one of `PredictionType`.
        sequence_feature_columns: columns of steps.
        context_feature_columns: columns of whole sequences.
        num_classes: of a classification.
        num_units: the sizes of the cells, one upon the other.
        cell_type: a class of cells, or "basic_rnn", "lstm" or "gru".
        optimizer: as `tf.contrib.layers.optimize_loss` takes it.
        learning_rate: of an optimizer that is given by its name.
        predict_probabilities: of all classes.
        momentum: of the optimizer "Momentum".
        gradient_clipping_norm: gradients are not longer; None: they are as they are.
        dropout_keep_probabilities: one for each cell's input, and one for the last one's output.
        model_dir: for checkpoints and summaries.
        feature_engineering_fn: from features and labels to others.
        config: a RunConfig.

    Raises:
        ValueError: there is no such type, or a classification without a number of classes.
    """

    def __init__(
        self,
        problem_type: Any,
        prediction_type: Any,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_classes: int | None = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer: Any = "SGD",
        learning_rate: Any = 0.1,
        predict_probabilities: bool = False,
        momentum: Any = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Any = None,
        model_dir: Any = None,
        feature_engineering_fn: Any = None,
        config: Any = None,
    ) -> None:
        kind = _kind_of(problem_type, prediction_type, num_classes, predict_probabilities)
        if optimizer == "Momentum":
            optimizer = MomentumOptimizer(learning_rate, momentum)

        def cell_of(mode: Any) -> RNNCell:
            dropout = dropout_keep_probabilities if mode == ModeKeys.TRAIN else None
            return rnn_common.construct_rnn_cell(num_units, cell_type, dropout)

        def train(loss: Any) -> Any:
            return layers.optimize_loss(
                loss,
                None,
                learning_rate,
                optimizer,
                clip_gradients=gradient_clipping_norm,
                summaries=layers.OPTIMIZER_SUMMARIES,
            )

        columns = sequence_feature_columns, context_feature_columns
        model_fn = _model_fn(kind, columns, cell_of, train)
        super().__init__(
            model_fn=model_fn,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )
