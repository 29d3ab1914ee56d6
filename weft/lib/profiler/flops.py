"""How many floating-point operations a node takes, by TensorFlow's estimates."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


class UnknownShape(ValueError):
    """A shape is not known, so that nothing can be counted."""


def _dims(tensor: Any) -> tuple[int, ...]:
    dims = tensor.dims
    if dims is None or None in dims:
        raise UnknownShape(tensor.name)
    return dims


def _input(op: Any, index: int = 0) -> int:
    return math.prod(_dims(op.inputs[index]))


def _output(op: Any) -> int:
    return math.prod(_dims(op.outputs[0]))


def _per_input(each: int) -> Callable[[Any], int]:
    return lambda op: _input(op) * each


def _per_output(each: int) -> Callable[[Any], int]:
    return lambda op: _output(op) * each


def _reduced(last: int) -> Callable[[Any], int]:
    """One for each element but the first of an output, and `last` to finish that output."""
    return lambda op: _input(op) + _output(op) * (last - 1)


def _product(op: Any) -> int:
    attr = "adj_x" if op.type.startswith("Batch") else "transpose_a"
    dims = _dims(op.inputs[0])
    return 2 * _output(op) * (dims[-2] if op.get_attr(attr) else dims[-1])


def _convolved(op: Any) -> int:
    return 2 * _output(op) * math.prod(_dims(op.inputs[1])[:-1])


def _depthwise(op: Any) -> int:
    return 2 * _output(op) * math.prod(_dims(op.inputs[1])[:2])


def _window(op: Any) -> int:
    if op.get_attr("data_format") not in ("NHWC", b"NHWC"):
        raise UnknownShape(op.name)
    return math.prod(op.get_attr("ksize"))


def _convolved_back(image: Callable[[Any], Any], kernel: Callable[[Any], Any]) -> Any:
    def count(op: Any) -> int:
        dims, strides = _dims(image(op)), op.get_attr("strides")
        if op.get_attr("data_format") not in ("NHWC", b"NHWC"):
            raise UnknownShape(op.name)
        places = math.prod(dims[:-1]) / (strides[1] * strides[2])
        return int(2 * places * math.prod(_dims(kernel(op))))

    return count


FLOPS: dict[str, Callable[[Any], int]] = {
    **dict.fromkeys(
        ("Reciprocal", "Square", "Log", "Neg", "AssignSub", "AssignAdd", "BiasAdd"), _per_input(1)
    ),
    **dict.fromkeys(
        (
            "Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "GreaterEqual",
            "Greater", "LessEqual", "Less", "Equal", "NotEqual",
        ),
        _per_output(1),
    ),
    **dict.fromkeys(("Sum", "ArgMax", "ArgMin", "BiasAddGrad"), _reduced(0)),
    **dict.fromkeys(("MatMul", "BatchMatMul", "BatchMatMulV2"), _product),
    **dict.fromkeys(("Conv2D", "Conv3D"), _convolved),
    **dict.fromkeys(("DepthwiseConv2dNative", "Dilation2D"), _depthwise),
    **dict.fromkeys(("AvgPool", "MaxPool"), lambda op: _window(op) * _output(op)),
    "Rsqrt": _per_input(2),
    "Softmax": _per_input(5),
    "RsqrtGrad": _per_output(4),
    "SquaredDifference": _per_output(2),
    "L2Loss": lambda op: _input(op) * 3 - 1,
    "Mean": _reduced(1),
    "AddN": lambda op: _input(op) * (len(op.inputs) - 1),
    "AvgPoolGrad": lambda op: _window(op) * _input(op, 1) * 2,
    "MaxPoolGrad": lambda op: (_window(op) + 1) * _input(op, 1),
    "Conv2DBackpropInput": _convolved_back(lambda op: op.outputs[0], lambda op: op.inputs[1]),
    "Conv2DBackpropFilter": _convolved_back(lambda op: op.inputs[0], lambda op: op.outputs[0]),
}  # fmt: skip


def flops_of(op: Any) -> int:
    """0 for operations that are not counted; UnknownShape where a shape is missing."""
    count = FLOPS.get(op.type)
    return 0 if count is None else count(op)
