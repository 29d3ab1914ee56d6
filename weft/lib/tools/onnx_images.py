"""Convolutions, pooling and batch norms in ONNX, which has the channels of images first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.graph.operation import Operation
from weft.lib.tools.onnx_ops import OnnxGraph, Unsupported, numbers, rank, rule

_TO_NCHW, _TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


def _channels_come_first(op: Operation) -> bool:
    return op.attrs["data_format"] in ("NCHW", b"NCHW")


def _in_channels_first(
    made: OnnxGraph, op: Operation, name: str, compute: Callable[[str], str]
) -> str:
    """What `compute` makes of an image with channels first, in the order of the operation."""
    if _channels_come_first(op):
        return compute(name)
    result = compute(made.add("Transpose", [name], perm=_TO_NCHW))
    return made.add("Transpose", [result], perm=_TO_NHWC)


def _spatial(op: Operation, sizes: Sequence[int]) -> list[int]:
    first = 2 if _channels_come_first(op) else 1
    return [int(size) for size in sizes[first : first + 2]]


def _window(op: Operation) -> dict[str, Any]:
    padding = op.attrs["padding"]
    padding = padding.decode() if isinstance(padding, bytes) else padding
    if padding not in ("SAME", "VALID"):
        raise Unsupported(f"padding {padding}")
    pads = "SAME_UPPER" if padding == "SAME" else "VALID"
    return {"auto_pad": pads, "strides": _spatial(op, op.attrs["strides"])}


@rule("BiasAdd")
def _bias_add(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    if not _channels_come_first(op):
        return made.add("Add", inputs)
    dims = made.constant(numbers([-1] + [1] * (rank(op.inputs[0]) - 2)))
    return made.add("Add", [inputs[0], made.add("Reshape", [inputs[1], dims])])


@rule("Conv2D", "DepthwiseConv2dNative")
def _convolution(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    if not op.inputs[1].shape.is_fully_defined():
        raise Unsupported("a filter whose shape is not known")
    sizes: list[Any] = op.inputs[1].shape.as_list()
    height, width, depth, times = sizes
    dilations = _spatial(op, op.attrs["dilations"])
    channels = op.inputs[0].shape.as_list()[1 if _channels_come_first(op) else 3]
    if op.type == "Conv2D":
        groups = 1 if channels is None else channels // depth
        weights = made.add("Transpose", inputs[1:], perm=(3, 2, 0, 1))
    else:
        # Each channel is a group, with `times` outputs of its own.
        groups, shape = depth, made.constant(numbers([depth * times, 1, height, width]))
        weights = made.add("Transpose", inputs[1:], perm=(2, 3, 0, 1))
        weights = made.add("Reshape", [weights, shape])
    options = _window(op) | {"dilations": dilations, "kernel_shape": [height, width]}
    return _in_channels_first(
        made, op, inputs[0],
        lambda name: made.add("Conv", [name, weights], group=groups, **options),
    )  # fmt: skip


@rule("MaxPool", "AvgPool")
def _pool(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    kind = "MaxPool" if op.type == "MaxPool" else "AveragePool"
    options = _window(op) | {"kernel_shape": _spatial(op, op.attrs["ksize"])}
    return _in_channels_first(made, op, inputs[0], lambda name: made.add(kind, [name], **options))


@rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    if op.attrs["is_training"]:
        raise Unsupported("in training")
    return _in_channels_first(
        made, op, inputs[0],
        lambda name: made.add(
            "BatchNormalization", [name, *inputs[1:]], epsilon=float(op.attrs["epsilon"])
        ),
    )  # fmt: skip
