"""What the recurrent models of tf.contrib.learn share: cells, last steps, steps that are there."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.contrib import metrics
from weft.lib.contrib.learn.keys import PredictionKey, ProblemType
from weft.lib.rnn.basic_cells import BasicRNNCell, GRUCell, LSTMCell
from weft.lib.rnn.cells import RNNCell
from weft.lib.rnn.wrappers import DropoutWrapper, MultiRNNCell
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.array.one_hot_search import boolean_mask, sequence_mask
from weft.ops.math import math


class RNNKeys:
    """Names of features and predictions."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


class PredictionType:
    """Whether a sequence has one prediction, for its last step, or one for each step."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


_CELLS: dict[Any, type[RNNCell]] = {"basic_rnn": BasicRNNCell, "lstm": LSTMCell, "gru": GRUCell}


def construct_rnn_cell(
    num_units: Any, cell_type: Any = "basic_rnn", dropout_keep_probabilities: Any = None
) -> RNNCell:
    """A cell for each size, one upon the other."""
    sizes = num_units if isinstance(num_units, (list, tuple)) else (num_units,)
    cells = [_cell(cell_type, size) for size in sizes]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else MultiRNNCell(cells)


def _cell(cell_type: Any, size: int) -> RNNCell:
    kind = _CELLS.get(cell_type, cell_type)
    if not kind or not issubclass(kind, RNNCell):
        raise ValueError(f"The supported cell types are {list(_CELLS)}; got {kind}")
    made: Any = kind
    return made(num_units=size)


def apply_dropout(
    cells: list[RNNCell], dropout_keep_probabilities: Any, random_seed: int | None = None
) -> list[RNNCell]:
    """The cells with dropout of their inputs; of the last one's outputs, too."""
    kept = list(dropout_keep_probabilities)
    if len(kept) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number of cells. "
            f"Got {len(cells)} cells and {len(kept)} dropout probabilities."
        )
    *lower, last = cells
    wrapped = [
        DropoutWrapper(cell, part, 1.0, seed=random_seed)
        for cell, part in zip(lower, kept, strict=False)
    ]
    return [*wrapped, DropoutWrapper(last, *kept[-2:])]


def select_last_activations(activations: Any, sequence_lengths: Any) -> Tensor:
    """The activations of each sequence's last step."""
    with name_scope("select_last_activations", values=[activations, sequence_lengths]):
        batch, steps, width = array.unstack(array.shape(activations), 3)
        lengths = steps if sequence_lengths is None else sequence_lengths
        rows = array.reshape(activations, [-1, width])
        last = gather(rows, math.range(batch) * steps + lengths - 1)
        last.set_shape([activations.shape[0], activations.shape[2]])
        return last


def mask_activations_and_labels(
    activations: Any, labels: Any, sequence_lengths: Any
) -> tuple[Tensor, Tensor]:
    """Activations and labels of the steps that are there, of all sequences one after the other."""
    values = [activations, labels, sequence_lengths]
    with name_scope("mask_activations_and_labels", values=values):
        shape = array.shape(labels)
        if sequence_lengths is not None:
            mask = sequence_mask(sequence_lengths, shape[1])
            return boolean_mask(activations, mask), boolean_mask(labels, mask)
        count = shape[1] * shape[0]
        return array.reshape(activations, [count, -1]), array.reshape(labels, [count])


def multi_value_predictions(
    activations: Any, target_column: Any, problem_type: int, predict_probabilities: bool
) -> dict[str, Tensor]:
    """Predictions of every step: [batch, steps]."""
    with name_scope("MultiValuePrediction"):
        shape = array.shape(activations)
        flat = array.reshape(activations, [-1, shape[2]])
        found = flat_predictions(flat, target_column, problem_type, predict_probabilities)
        shapes = {name: shape[:2] for name in found}
        if predict_probabilities:
            classes = max(2, target_column.num_label_columns)
            shapes[PredictionKey.PROBABILITIES] = array.concat([shape[:2], [classes]], 0)
        return {name: array.reshape(found[name], shapes[name], name=name) for name in found}


def flat_predictions(
    activations: Any, target_column: Any, problem_type: int, predict_probabilities: bool
) -> dict[str, Tensor]:
    """Classes or numbers, one for each row of activations; with probabilities if asked for."""
    is_classes = problem_type == ProblemType.CLASSIFICATION
    name = PredictionKey.CLASSES if is_classes else PredictionKey.SCORES
    if not predict_probabilities:
        return {name: target_column.logits_to_predictions(activations, proba=False)}
    probabilities = target_column.logits_to_predictions(activations, proba=True)
    return {PredictionKey.PROBABILITIES: probabilities, name: math.argmax(probabilities, 1)}


def get_eval_metric_ops(
    problem_type: int,
    prediction_type: int,
    sequence_length: Any,
    prediction_dict: dict[str, Any],
    labels: Any,
) -> dict[str, Any]:
    """The accuracy of classes; nothing of numbers."""
    if problem_type != ProblemType.CLASSIFICATION:
        return {}
    classes = prediction_dict[PredictionKey.CLASSES]
    if prediction_type == PredictionType.MULTIPLE_VALUE:
        classes, labels = mask_activations_and_labels(classes, labels, sequence_length)
    return {"accuracy": metrics.streaming_accuracy(predictions=classes, labels=labels)}
