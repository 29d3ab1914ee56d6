"""Connectionist temporal classification on dense labels and probabilities, batch first."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor
from weft.graph.slices import SparseTensor
from weft.lib.keras.backend.config import epsilon
from weft.ops.array import array, gather
from weft.ops.array import one_hot_search as select
from weft.ops.math import casts, unary
from weft.ops.nn import ctc
from weft.ops.nn import ctc_decode as decoding
from weft.ops.sparse import to_dense as sparse


def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> SparseTensor:
    """The first `label_lengths` labels of each row."""
    sizes = array.shape(labels)
    present = select.sequence_mask(label_lengths, sizes[1])
    indices = select.where(present)
    return SparseTensor(indices, gather.gather_nd(labels, indices), casts.cast(sizes, dtypes.int64))


def _log_probabilities(y_pred: Any) -> Tensor:
    """Time first, as the operations want them."""
    return unary.log(array.transpose(y_pred, perm=[1, 0, 2]) + epsilon())


def _lengths(lengths: Any) -> Tensor:
    return casts.cast(array.squeeze(lengths, axis=-1), dtypes.int32)


def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Tensor:
    """The loss of each example, of shape (examples, 1)."""
    labels = ctc_label_dense_to_sparse(y_true, _lengths(label_length))
    labels = SparseTensor(
        labels.indices, casts.cast(labels.values, dtypes.int32), labels.dense_shape
    )
    loss = ctc.ctc_loss(
        inputs=_log_probabilities(y_pred), labels=labels, sequence_length=_lengths(input_length)
    )
    return array.expand_dims(loss, 1)


def ctc_decode(
    y_pred: Any,
    input_length: Any,
    greedy: bool = True,
    beam_width: int = 100,
    top_paths: int = 1,
) -> tuple[list[Tensor], Tensor]:
    """(the likeliest labellings, padded by -1; their log probabilities)."""
    scores, lengths = _log_probabilities(y_pred), casts.cast(input_length, dtypes.int32)
    if greedy:
        paths, log_prob = decoding.ctc_greedy_decoder(scores, lengths)
    else:
        paths, log_prob = decoding.ctc_beam_search_decoder(scores, lengths, beam_width, top_paths)
    return [_padded(path) for path in paths], log_prob


def _padded(labels: Any) -> Tensor:
    return sparse.sparse_to_dense(
        labels.indices, labels.dense_shape, labels.values, default_value=-1
    )
