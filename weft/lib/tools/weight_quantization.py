"""Weights of a frozen signature kept in fewer bits, and made floats again where they are used.

Symmetric, by the range of the weights alone: an int8 stands for its product with a scale, of which
there is one for each output channel where all that uses the weights agrees on what that is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft.core import dtypes
from weft.lib.tools.node_defs import constant, constant_value, graph_of, source
from weft.lib.tools.signature_graph import SignatureGraph

KINDS = ("int8", "bfloat16")
FEWEST = 1024  # smaller constants gain nothing
_LARGEST = 127

# Type -> which input its weights are, and which of their axes lead to different outputs.
_CHANNELS: dict[str, tuple[int, tuple[int, ...]]] = {
    "MatMul": (1, (-1,)),
    "BatchMatMul": (1, (-1,)),
    "BatchMatMulV2": (1, (-1,)),
    "Conv2D": (1, (-1,)),
    "Conv3D": (1, (-1,)),
    "DepthwiseConv2dNative": (1, (-2, -1)),
    "Conv2DBackpropInput": (1, (-2,)),
    "Gather": (0, (0,)),
    "GatherV2": (0, (0,)),
}
_TRANSPOSED = {"MatMul": "transpose_b", "BatchMatMul": "adj_y", "BatchMatMulV2": "adj_y"}


@dataclass(frozen=True)
class Quantized:
    """Weights that were rounded: how many scales they have, and how far they moved at most."""

    name: str
    shape: tuple[int, ...]
    scales: int
    error: float

    def __str__(self) -> str:
        kept = f", {self.scales} scale{'' if self.scales == 1 else 's'}" if self.scales else ""
        return f"{self.name} {list(self.shape)}{kept}, off by at most {self.error:.3g}"


def quantize_signature(
    given: SignatureGraph, kind: str, fewest: int = FEWEST
) -> tuple[SignatureGraph, list[Quantized]]:
    """The signature with its large float weights in `kind`, and which those are."""
    channels = _channels(given.graph_def)
    nodes, done = [], []
    for node in given.graph_def.node:
        if not _is_weight(node, fewest) or node.name in given.output_names:
            nodes.append(node)
            continue
        value = constant_value(node)
        axes = channels.get(node.name, ())
        made = _as_bfloat16(node, value) if kind == "bfloat16" else _as_int8(node, value, axes)
        nodes += made[0]
        done.append(made[1])
    return given.of(graph_of(nodes, given.graph_def)), done


def _is_weight(node: Any, fewest: int) -> bool:
    if node.op != "Const" or node.attr["dtype"].type != dtypes.float32.as_datatype_enum:
        return False
    dims = node.attr["value"].tensor.tensor_shape.dim
    return len(dims) > 1 and int(np.prod([dim.size for dim in dims])) >= fewest


def _channels(graph_def: Any) -> dict[str, tuple[int, ...]]:
    """Node -> the axes of its channels, where all users agree; () where they do not."""
    found: dict[str, tuple[int, ...]] = {}
    for user, name, axes in _uses(graph_def, _handed_on(graph_def)):
        if user.op != "Identity" and found.setdefault(name, axes) != axes:
            found[name] = ()
    return found


def _handed_on(graph_def: Any) -> dict[str, str]:
    return {node.name: source(node.input[0]) for node in graph_def.node if node.op == "Identity"}


def _uses(graph_def: Any, origins: dict[str, str]) -> Iterator[tuple[Any, str, tuple[int, ...]]]:
    """(node, what it uses, the axes that are channels for it)"""
    for node in graph_def.node:
        position, axes = _CHANNELS.get(node.op, (-1, ()))
        if node.op in _TRANSPOSED and node.attr[_TRANSPOSED[node.op]].b:
            axes = (-2,)
        for i, name in enumerate(each for each in node.input if not each.startswith("^")):
            origin = source(name)
            while origin in origins:
                origin = origins[origin]
            yield node, origin, axes if i == position else ()


def _as_bfloat16(node: Any, value: np.ndarray) -> tuple[list[Any], Quantized]:
    small = constant(f"{node.name}/bfloat16", value.astype(dtypes.bfloat16.as_numpy_dtype))
    error = np.abs(constant_value(small).astype(np.float32) - value).max()
    made = [small, _cast(node.name, small)]
    return made, Quantized(node.name, value.shape, 0, float(error))


def _as_int8(
    node: Any, value: np.ndarray, channels: tuple[int, ...]
) -> tuple[list[Any], Quantized]:
    kept = {axis % value.ndim for axis in channels}
    shared = tuple(axis for axis in range(value.ndim) if axis not in kept)
    scale = np.abs(value).max(axis=shared, keepdims=True) / np.float32(_LARGEST)
    scale = np.where(scale == 0, np.float32(1), scale).astype(np.float32)
    rounded = np.clip(np.rint(value / scale), -_LARGEST, _LARGEST).astype(np.int8)
    small, factor = constant(f"{node.name}/int8", rounded), constant(f"{node.name}/scale", scale)
    cast = _cast(f"{node.name}/float", small)
    product = NodeDef(name=node.name, op="Mul", input=[cast.name, factor.name])
    product.attr["T"].type = dtypes.float32.as_datatype_enum
    error = float(np.abs(rounded * scale - value).max())
    return [small, factor, cast, product], Quantized(node.name, value.shape, scale.size, error)


def _cast(name: str, small: Any) -> Any:
    made = NodeDef(name=name, op="Cast", input=[small.name])
    made.attr["SrcT"].CopyFrom(small.attr["dtype"])
    made.attr["DstT"].type = dtypes.float32.as_datatype_enum
    return made
