"""Batch normalizations folded into the weights of the layers before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.autodiff.registration import RegisterGradient
from weft.core import dtypes
from weft.graph.graph import get_default_graph
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.quantize import common, corrections, fold_unfused
from weft.lib.contrib.quantize.corrections import Normalization
from weft.lib.contrib.quantize.graph_matcher import (
    GraphMatcher,
    MatchResult,
    OneofPattern,
    OpTypePattern,
)
from weft.ops.array import array
from weft.ops.math import casts, math


def FoldBatchNorms(
    graph: Any, is_training: bool, freeze_batch_norm_delay: int | None = None
) -> None:
    """Folds every batch normalization that follows a convolution or a matrix product."""
    for match in _find_fused(graph):
        _fold(graph, match, freeze_batch_norm_delay)
    fold_unfused.fold_all(graph, is_training, freeze_batch_norm_delay)


@dataclass
class _Match:
    """A layer and the fused normalization of its result."""

    layer: Operation
    bn: Operation
    blocks: Operation | None
    inputs: Tensor
    weights: Tensor
    beta: Tensor
    output: Tensor
    norm: Normalization


_ANY = "*"
_INPUT, _WEIGHT, _GAMMA, _BETA, _MEAN, _VARIANCE, _MOVING, _DECAY = (
    OpTypePattern(_ANY) for _ in range(8)
)
_LAYER = OpTypePattern("Conv2D|DepthwiseConv2dNative|MatMul", inputs=[_INPUT, _WEIGHT])
_BLOCKS = OpTypePattern("BatchToSpaceND", inputs=[_LAYER, _ANY, _ANY])
_PASSED_ON = OpTypePattern("Identity", inputs=[OneofPattern([_BLOCKS, _LAYER])])
_RESULT = OneofPattern([_PASSED_ON, _LAYER, _BLOCKS])
# A matrix product is reshaped for the normalization, and back after it.
_TO_IMAGES = OpTypePattern("Reshape", inputs=[_RESULT, _ANY])
_FUSED = OpTypePattern(
    "FusedBatchNorm|FusedBatchNormV3",
    inputs=[OneofPattern([_TO_IMAGES, _RESULT]), _GAMMA, _BETA, _MEAN, _VARIANCE],
)
_FROM_IMAGES = OpTypePattern("Reshape", inputs=[_FUSED, _ANY])
_DIFFERENCE = OpTypePattern("Sub", inputs=[_MOVING, _FUSED])
_CHANGE = OpTypePattern("Mul", inputs=[_DIFFERENCE, _DECAY])


def _find_fused(graph: Any) -> list[_Match]:
    found: dict[Operation, _Match] = {}
    for result in GraphMatcher(OneofPattern([_FROM_IMAGES, _FUSED])).match_graph(graph):
        match = _read(graph, result)
        if match is not None:
            found.setdefault(match.layer, match)
    return list(found.values())


def _read(graph: Any, result: MatchResult) -> _Match | None:
    """What a match of the patterns says; None where nothing takes the normalized values."""
    layer: Any = result.get_op(_LAYER)
    bn: Any = result.get_op(_FUSED)
    last = result.get_op(_FROM_IMAGES) if layer.type == "MatMul" else bn
    if last is None or not last.outputs[0].consumers():
        return None
    get: Any = result.get_tensor
    norm = Normalization(get(_GAMMA), get(_MEAN), get(_VARIANCE), bn.get_attr("epsilon"))
    if bn.get_attr("is_training"):
        _use_batch(graph, bn, get(_LAYER), norm)
    return _Match(
        layer, bn, result.get_op(_BLOCKS), get(_INPUT), get(_WEIGHT), get(_BETA),
        last.outputs[0], norm,
    )  # fmt: skip


def _use_batch(graph: Any, bn: Operation, layer: Tensor, norm: Normalization) -> None:
    """Takes mean and variance from the batch, and finds the moving averages of both."""
    # The node's own gradient takes no account of these two outputs.
    bn.attrs["_gradient_op_type"] = "FoldFusedBatchNormGrad"
    bn.graph._note_mutation(bn)
    norm.mean = bn.outputs[1]
    scope, slash, _ = bn.name.rpartition("/")
    with get_default_graph().name_scope(scope + slash):
        count = _count(layer, norm.mean)
        # The node divides by one less than the count, the formulas of folding by the count.
        norm.variance = math.multiply(
            bn.outputs[2], (count - 1) / count, name="Undo_Bessel_Correction"
        )
    for result in GraphMatcher(_CHANGE).match_graph(graph):
        difference: Any = result.get_op(_DIFFERENCE)
        average, batch = difference.inputs
        if batch is bn.outputs[1]:
            norm.moving_mean, norm.mean_decay = average, result.get_tensor(_DECAY)
        if batch is bn.outputs[2]:
            norm.moving_variance, norm.variance_decay = average, result.get_tensor(_DECAY)


def _count(values: Tensor, channels: Tensor) -> Tensor:
    """How many values each channel has."""
    return casts.cast(array.size(values) / array.size(channels), dtypes.float32)


@RegisterGradient("FoldFusedBatchNormGrad")
def _mean_and_variance_gradient(op: Operation, *gradients: Tensor) -> list[Any]:
    """The gradient of the mean and the variance alone: the result itself is not used."""
    _, of_mean, of_variance, *_ = gradients
    values, mean = op.inputs[0], op.outputs[1]
    count = _count(values, of_mean)
    total = of_mean / count + 2 * of_variance * (values - mean) / (count - 1)
    return [total, None, None, None, None]


def _fold(graph: Any, match: _Match, freeze_delay: int | None) -> None:
    scope, slash, last = match.layer.name.rpartition("/")
    norm, correction = match.norm, None
    with graph.as_default(), graph.name_scope(scope + slash):
        with graph.name_scope(f"{scope}{slash}BatchNorm_Fold{slash}"):
            factor = norm.gamma * raw.Rsqrt(norm.variance + norm.epsilon)
            bias = math.subtract(match.beta, norm.mean * factor, name="bias")
            if match.bn.get_attr("is_training"):
                correction = corrections.compute("", norm, freeze_delay)
            if match.layer.type == "DepthwiseConv2dNative":
                factor = _per_channel(match, factor, correction)
        weights = match.weights
        if correction is not None:
            weights = math.multiply(correction.scale, weights, name="correction_mult")
        weights = math.multiply(weights, factor, name="mul_fold")
        result = corrections.layer_with(match.layer, match.inputs, weights, f"{last}_Fold")
        if match.blocks is not None and match.layer.type == "DepthwiseConv2dNative":
            name = match.blocks.name.rpartition("/")[2]
            result = corrections.blocks_like(match.blocks, result, f"{name}_Fold")
        if correction is not None:
            result = math.multiply(correction.reciprocal, result, name="post_conv_mul")
            result = math.add(result, correction.offset, name="correction_add")
        result = math.add(result, bias, name="add_fold")
        if not common.RerouteTensor(result, match.output):
            raise ValueError(f"Folding batch norms failed, {match.output.name} had no outputs.")


def _per_channel(match: _Match, factor: Tensor, correction: Any) -> Tensor:
    """The factor in the shape of depthwise weights; the correction's too, in place."""
    shape = corrections.channel_shape(match.weights)
    factor = array.reshape(factor, shape, name="scale_reshape")
    if correction is not None:
        correction.scale = array.reshape(correction.scale, shape, name="correction_reshape")
    return factor
