"""Cross entropies of probabilities or logits.

Probabilities that come right out of a softmax or sigmoid are traced back to the logits, from which
the cross entropy is computed without loss of precision.
"""

from __future__ import annotations

from typing import Any

from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.keras.backend.config import epsilon
from weft.lib.keras.backend.variables import cast, ndim
from weft.ops.array import array
from weft.ops.kit.eager import EagerTensor
from weft.ops.math import clip, reduce, unary
from weft.ops.nn import cross_entropy


def _logits_of(output: Any, kind: str) -> Tensor | None:
    """The tensor that `output` is the softmax or sigmoid of, if it is one; None for a value."""
    if isinstance(output, Tensor) and not isinstance(output, EagerTensor):
        return output.op.inputs[0] if output.op.type == kind else None
    return None


def _inside(output: Any) -> Tensor:
    """Probabilities a little away from 0 and 1."""
    small = constant(epsilon(), dtype=output.dtype.base_dtype)
    return clip.clip_by_value(output, small, 1.0 - small)


def categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Of distributions `target` over the classes along `axis`."""
    logits = output if from_logits else _logits_of(output, "Softmax")
    if logits is not None:
        return cross_entropy.softmax_cross_entropy_with_logits_v2(
            labels=target, logits=logits, axis=axis
        )
    output = _inside(output / reduce.reduce_sum(output, axis, True))
    return -reduce.reduce_sum(target * unary.log(output), axis)


def sparse_categorical_crossentropy(
    target: Any, output: Any, from_logits: bool = False, axis: int = -1
) -> Tensor:
    """Of classes given by number."""
    logits = output if from_logits else _logits_of(output, "Softmax")
    if logits is None:
        logits = unary.log(_inside(output))
    logits = _classes_last(convert_to_tensor(logits), axis)
    target = cast(target, "int64")
    rank, sizes = ndim(logits), array.shape(logits)
    # Labels have one axis less than logits, whatever form they came in.
    reshaped = None not in (ndim(target), rank) and ndim(target) != rank - 1
    if reshaped:
        target = array.reshape(target, [-1])
        logits = array.reshape(logits, [-1, sizes[-1]])
    result = cross_entropy.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    return array.reshape(result, sizes[:-1]) if reshaped and rank >= 3 else result


def _classes_last(logits: Tensor, axis: int) -> Tensor:
    rank = logits.shape.ndims
    if rank is None:
        if axis != -1:
            raise ValueError(
                f"Cannot compute sparse categorical crossentropy with `axis={axis}` on an output "
                "tensor with unknown rank"
            )
        return logits
    axis %= rank
    if axis == rank - 1:
        return logits
    return array.transpose(logits, perm=[*range(axis), *range(axis + 1, rank), axis])


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Tensor:
    """Of probabilities of one class against another, element by element."""
    logits = output if from_logits else _logits_of(output, "Sigmoid")
    if logits is not None:
        return cross_entropy.sigmoid_cross_entropy_with_logits(labels=target, logits=logits)
    output = _inside(output)
    entropy = target * unary.log(output + epsilon())
    entropy += (1 - target) * unary.log(1 - output + epsilon())
    return -entropy
