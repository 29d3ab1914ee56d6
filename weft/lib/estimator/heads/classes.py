"""Classes by number and by name, as classifiers predict and export them."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.tensor import Tensor
from weft.lib.estimator.heads.keys import PredictionKeys
from weft.lib.saved_model.export_outputs import ClassificationOutput
from weft.ops.array.repeat import tile
from weft.ops.array.shape import expand_dims, shape
from weft.ops.lookup.vocabulary import index_table_from_tensor, index_to_string_table_from_tensor
from weft.ops.math.arg_extremes import argmax
from weft.ops.math.sequence import range as range_
from weft.ops.nn.activations import softmax
from weft.ops.strings.numbers import as_string


def _for_each_row(classes: Any, like: Tensor) -> Tensor:
    return tile(expand_dims(classes, axis=0), [shape(like)[0], 1])


def _names(n_classes: int, vocabulary: Any) -> Any:
    return vocabulary or as_string(range_(n_classes))


def class_predictions(logits: Tensor, n_classes: int, vocabulary: Any) -> dict[str, Tensor]:
    """Probabilities, the likeliest class, and all classes there are, by number and by name.

    The last dimension of `logits` has an entry for each class.
    """
    keys = PredictionKeys
    class_ids = expand_dims(argmax(logits, axis=-1, name=keys.CLASS_IDS), axis=-1)
    if vocabulary:
        table = index_to_string_table_from_tensor(
            vocabulary_list=vocabulary, name="class_string_lookup"
        )
        classes = table.lookup(class_ids)
    else:
        classes = as_string(class_ids, name="str_classes")
    return {
        keys.PROBABILITIES: softmax(logits, name=keys.PROBABILITIES),
        keys.CLASS_IDS: class_ids,
        keys.CLASSES: classes,
        keys.ALL_CLASS_IDS: _for_each_row(range_(n_classes), logits),
        keys.ALL_CLASSES: _for_each_row(_names(n_classes, vocabulary), logits),
    }


def classification_output(scores: Tensor, n_classes: int, vocabulary: Any) -> ClassificationOutput:
    """The score of every class, and what the classes are called."""
    classes = _for_each_row(_names(n_classes, vocabulary), scores)
    return ClassificationOutput(scores=scores, classes=classes)


def class_ids_of(labels: Tensor, vocabulary: Any) -> Tensor:
    """The numbers of classes that are given by name."""
    table = index_table_from_tensor(vocabulary_list=tuple(vocabulary), name="class_id_lookup")
    return table.lookup(labels)


def integer_labels(labels: Tensor, vocabulary: Any) -> Tensor:
    """Labels as numbers: integers already, or strings of the vocabulary."""
    if vocabulary is None:
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer. Instead got {labels.dtype}.")
        return labels
    if labels.dtype != dtypes.string:
        raise ValueError(
            f"Labels dtype should be string if there is a vocabulary. Instead got {labels.dtype}"
        )
    return class_ids_of(labels, vocabulary)


def selected(predictions: dict[str, Tensor], keys: Any) -> dict[str, Tensor]:
    """The predictions that `keys` names; all, if it names none."""
    for key in keys or ():
        if key not in predictions:
            raise ValueError(
                f"Prediction key must be in PredictionKeys, given: {key}.Valid prediction keys "
                f"include {list(predictions)}."
            )
    return {key: value for key, value in predictions.items() if not keys or key in keys}
