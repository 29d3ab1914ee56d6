"""Batch normalizations of single operations, known by their names, folded into weights."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import device
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.quantize import common, corrections
from weft.lib.contrib.quantize.corrections import Corrections, Normalization
from weft.ops.array import array, fill
from weft.ops.math import math
from weft.ops.state.get_variable import get_variable_scope

# Tensors of a normalization by the ends of their names. Variables are named by how they are read.
_ENDS = {
    "mean": "moments/Squeeze",
    "variance": "moments/Squeeze_1",
    "epsilon": "batchnorm_1/add/y",
    "mean_decay": "AssignMovingAvg/decay",
    "variance_decay": "AssignMovingAvg_1/decay",
}
_REF_ENDS = {
    "gamma": "gamma",
    "moving_mean": "moving_mean/read",
    "moving_variance": "moving_variance/read",
}
_RESOURCE_ENDS = {each: f"{each}/Read/ReadVariableOp" for each in _REF_ENDS}


def fold_all(graph: Any, is_training: bool, freeze_delay: int | None) -> None:
    """Folds every such normalization whose result is used."""
    users = common.InputToOps(graph)
    for prefix in common.BatchNormGroups(graph):
        inside = f"{prefix}BatchNorm/batchnorm_1/"
        # With a gamma, only its product takes the root; without one, two products do.
        root = graph.get_operation_by_name(inside + "Rsqrt")
        products = [op for op in users.ConsumerOperations(root) if op.type == "Mul"]
        shift = graph.get_operation_by_name(inside + "add_1")
        if shift.outputs[0].consumers():
            folded = _fold(graph, prefix, len(products) == 1, freeze_delay, is_training)
            _replace(graph, prefix, shift.outputs[0], folded)


def _replace(graph: Any, prefix: str, old: Tensor, new: Tensor) -> None:
    """Makes the activation after a normalization, or the sum of a bypass, take the folded one."""
    user = common.GetEndpointActivationOp(graph, prefix)
    if user is None:
        above = common.context_of(prefix.removesuffix("/"))
        user = graph.get_operation_by_name(f"{above}/AddV2" if above else "AddV2")
    if common.RerouteTensor(new, old, can_modify=[user]) != 1:
        raise ValueError(f"Unexpected inputs to op: {user.name}")


def _find(graph: Any, end: str, prefix: str) -> Tensor | None:
    """The tensor whose name ends so and has most parts in common with the prefix.

    A scope that is entered again repeats in the names of operations, not of variables.
    """
    parts = set(prefix.split("/"))
    best, most = None, 0 if prefix else -1
    for op in graph.get_operations():
        shared = len(parts.intersection(op.name.split("/")))
        if shared > most and op.name.endswith("BatchNorm/" + end):
            best, most = op.outputs[0], shared
    return best


def _tensors(graph: Any, prefix: str, has_gamma: bool) -> Normalization:
    ends = _RESOURCE_ENDS if get_variable_scope().use_resource else _REF_ENDS
    found = {name: _find(graph, end, prefix) for name, end in (_ENDS | ends).items()}
    if not has_gamma:
        found["gamma"] = fill.ones(found["moving_mean"].shape)  # type: ignore[union-attr]
    return Normalization(**found)


def _check_operands(layer: Operation, weights: Tensor) -> None:
    """Refuses images without as many channels as the weights want, and rows of another size."""
    values, rank, place = (2, 2, (1, 0)) if layer.type == "MatMul" else (4, 4, (3, 2))
    shapes = layer.inputs[0].get_shape(), weights.get_shape()
    ranks = tuple(len(shape) for shape in shapes)
    if ranks != (values, rank) or shapes[0][place[0]] != shapes[1][place[1]]:
        said = f"Incompatible shapes for op {layer.name} inputs: {shapes[0]} and {shapes[1]}"
        raise ValueError(said)


def _check_shape(name: str, old: Tensor, new: Tensor) -> Tensor:
    before, after = old.get_shape(), new.get_shape()
    if not before.is_compatible_with(after):
        said = f"should not change tensor shape: input {before}, output {after}"
        raise ValueError(f"{name} {said}")
    return new


def _fold(
    graph: Any, prefix: str, has_gamma: bool, freeze_delay: int | None, is_training: bool
) -> Tensor:
    inside = graph.get_operation_by_name
    product = inside(f"{prefix}BatchNorm/batchnorm_1/" + ("mul_1" if has_gamma else "mul"))
    layer, blocks = product.inputs[0].op, None
    if layer.type == "BatchToSpaceND":
        layer, blocks = layer.inputs[0].op, layer
    norm = _tensors(graph, prefix, has_gamma)
    correction = corrections.compute(prefix, norm, freeze_delay) if is_training else None
    weights = _weights(prefix, layer, product, correction, has_gamma, inside)
    _check_operands(layer, weights)
    result = corrections.layer_with(layer, layer.inputs[0], weights, layer.name + "_Fold")
    made_on = result.op.device
    if blocks is not None:
        result = corrections.blocks_like(blocks, result, blocks.name + "_Fold")
    if correction is not None:
        with device(made_on):
            result = math.multiply(correction.reciprocal, result, f"{prefix}post_conv_mul")
            result = math.add(result, correction.offset, f"{prefix}correction_add")
    shift = inside(f"{prefix}BatchNorm/batchnorm_1/add_1").inputs[1]
    return _check_shape("add_fold", result, math.add(result, shift, f"{prefix}add_fold"))


def _weights(
    prefix: str,
    layer: Operation,
    product: Operation,
    correction: Corrections | None,
    has_gamma: bool,
    inside: Any,
) -> Tensor:
    """The weights of the layer times the factor of the normalization."""
    weights, factor = layer.inputs[1], product.inputs[1]
    if layer.type == "DepthwiseConv2dNative":
        shape = corrections.channel_shape(weights)
        source = inside(f"{prefix}BatchNorm/batchnorm_1/" + ("mul" if has_gamma else "Rsqrt"))
        factor = array.reshape(source.outputs[0], shape, f"{prefix}scale_reshape")
        if correction is not None:
            correction.scale = array.reshape(correction.scale, shape, f"{prefix}correction_reshape")
    elif layer.type not in ("Conv2D", "MatMul"):
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    if correction is not None:
        with device(product.device):
            weights = math.multiply(correction.scale, weights, f"{prefix}correction_mult")
    return _check_shape("mul_fold", weights, math.multiply(weights, factor, f"{prefix}mul_fold"))
