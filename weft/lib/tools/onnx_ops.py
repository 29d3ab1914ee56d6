"""How operations are said in ONNX: a rule for each type, most of them another name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.graph.constant_value import constant_value
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor


class Unsupported(Exception):
    """ONNX has the operation, but not with these attributes."""


class OnnxGraph:
    """The nodes and constants of a model in the making; `names` are those of tensors."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.names: dict[Tensor, str] = {}

    def name_of(self, tensor: Tensor) -> str:
        """The name under which a tensor is known."""
        if tensor not in self.names:
            raise Unsupported(f"'{tensor.name}' is a result that ONNX does not give")
        return self.names[tensor]

    def constant(self, value: Any, like: str = "constant") -> str:
        """A new constant."""
        name = f"{like}/{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, kind: str, inputs: Sequence[str], **attrs: Any) -> str:
        """A new node with one output, whose name is returned."""
        name = f"{kind}/{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attrs))
        return name

    def type_of(self, dtype: Any) -> int:
        """ONNX's number for a type."""
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype.as_numpy_dtype)))


Rule = Callable[[OnnxGraph, Operation], None]
Value = Callable[[OnnxGraph, Operation, list[str]], str]
RULES: dict[str, Rule] = {}


def rule(*types: str) -> Callable[[Value], Value]:
    """Registers what gives the one output of an operation from the names of its inputs."""

    def register(value: Value) -> Value:
        def convert(made: OnnxGraph, op: Operation) -> None:
            inputs = [made.name_of(tensor) for tensor in op.inputs]
            made.names[op.outputs[0]] = value(made, op, inputs)

        RULES.update(dict.fromkeys(types, convert))
        return value

    return register


def _known(op: Operation, i: int) -> np.ndarray:
    value = constant_value(op.inputs[i])
    if value is None:
        raise Unsupported(f"'{op.name}' has an input {i} that is not constant")
    return np.asarray(value)


def rank(tensor: Tensor) -> int:
    """The number of dimensions, which must be known."""
    if tensor.shape.ndims is None:
        raise Unsupported(f"'{tensor.name}' has no known number of dimensions")
    return int(tensor.shape.ndims)


def numbers(values: Sequence[int]) -> np.ndarray:
    """Sizes or axes as ONNX takes them."""
    return np.array(values, np.int64)


_SAME_BUT_FOR_NAME = {
    "Abs": "Abs", "Add": "Add", "AddV2": "Add", "Ceil": "Ceil", "Cos": "Cos",
    "Elu": "Elu", "Equal": "Equal", "Erf": "Erf", "Exp": "Exp", "Floor": "Floor",
    "Greater": "Greater", "GreaterEqual": "GreaterOrEqual", "Identity": "Identity", "Less": "Less",
    "LessEqual": "LessOrEqual", "Log": "Log", "LogicalAnd": "And", "LogicalNot": "Not",
    "LogicalOr": "Or", "Maximum": "Max", "Minimum": "Min", "Mul": "Mul", "Neg": "Neg",
    "Pow": "Pow", "PreventGradient": "Identity", "RealDiv": "Div", "Reciprocal": "Reciprocal",
    "Relu": "Relu", "Round": "Round", "SelectV2": "Where", "Sigmoid": "Sigmoid", "Sign": "Sign",
    "Sin": "Sin", "Softplus": "Softplus", "Softsign": "Softsign", "Sqrt": "Sqrt",
    "StopGradient": "Identity", "Sub": "Sub", "Tan": "Tan", "Tanh": "Tanh",
}  # fmt: skip


def _renamed(kind: str) -> Value:
    return lambda made, op, inputs: made.add(kind, inputs)


for _type, _kind in _SAME_BUT_FOR_NAME.items():
    rule(_type)(_renamed(_kind))
for _type in ("Softmax", "LogSoftmax"):
    rule(_type)(lambda made, op, inputs: made.add(op.type, inputs, axis=-1))


@rule("Const")
def _const(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    value = np.asarray(op.attrs["value"])
    if value.dtype == object:
        raise Unsupported("strings")
    return made.constant(value, op.name)


def _identity_n(made: OnnxGraph, op: Operation) -> None:
    for given, handed_on in zip(op.inputs, op.outputs, strict=True):
        made.names[handed_on] = made.name_of(given)


RULES["IdentityN"] = _identity_n


@rule("Square")
def _square(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Mul", inputs * 2)


@rule("SquaredDifference")
def _squared_difference(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Mul", [made.add("Sub", inputs)] * 2)


@rule("Rsqrt")
def _rsqrt(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Reciprocal", [made.add("Sqrt", inputs)])


@rule("Erfc")
def _erfc(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    one = made.constant(op.inputs[0].dtype.as_numpy_dtype(1))
    return made.add("Sub", [one, made.add("Erf", inputs)])


@rule("Relu6")
def _relu6(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    kind = op.inputs[0].dtype.as_numpy_dtype
    return made.add("Clip", [*inputs, made.constant(kind(0)), made.constant(kind(6))])


@rule("LeakyRelu")
def _leaky_relu(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("LeakyRelu", inputs, alpha=float(op.attrs["alpha"]))


@rule("Cast")
def _cast(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Cast", inputs, to=made.type_of(op.outputs[0].dtype))


def _as_int64(made: OnnxGraph, name: str) -> str:
    return made.add("Cast", [name], to=int(made.onnx.TensorProto.INT64))


@rule("Shape")
def _shape(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Cast", [made.add("Shape", inputs)], to=made.type_of(op.outputs[0].dtype))


@rule("Reshape")
def _reshape(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Reshape", [inputs[0], _as_int64(made, inputs[1])], allowzero=1)


@rule("Squeeze")
def _squeeze(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    axes = [int(axis) for axis in op.attrs["squeeze_dims"] or ()]
    return made.add("Squeeze", [*inputs, made.constant(numbers(axes))] if axes else inputs)


@rule("ExpandDims")
def _expand_dims(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Unsqueeze", [inputs[0], made.constant(_known(op, 1).astype(np.int64).ravel())])


@rule("ConcatV2")
def _concat(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Concat", inputs[:-1], axis=int(_known(op, len(inputs) - 1)))


@rule("Pack")
def _pack(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    axis = int(op.attrs["axis"])
    at = made.constant(numbers([axis]))
    return made.add("Concat", [made.add("Unsqueeze", [name, at]) for name in inputs], axis=axis)


@rule("Transpose")
def _transpose(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Transpose", inputs[:1], perm=[int(axis) for axis in _known(op, 1)])


@rule("GatherV2")
def _gather(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    if op.attrs.get("batch_dims"):
        raise Unsupported("batch_dims")
    return made.add("Gather", inputs[:2], axis=int(_known(op, 2)))


@rule("Tile")
def _tile(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Tile", [inputs[0], _as_int64(made, inputs[1])])


@rule("Pad", "PadV2")
def _pad(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    pads = made.constant(_known(op, 1).T.astype(np.int64).ravel())
    return made.add("Pad", [inputs[0], pads, *inputs[2:]])


@rule("StridedSlice")
def _strided_slice(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    if op.attrs["ellipsis_mask"] or op.attrs["new_axis_mask"]:
        raise Unsupported("an ellipsis or a new axis")
    begin, end, strides = (_known(op, i).astype(np.int64) for i in (1, 2, 3))
    if np.any(strides < 1):
        raise Unsupported("a stride backwards")
    axes = np.arange(len(begin))
    single = (op.attrs["shrink_axis_mask"] >> axes) & 1 == 1
    first = (op.attrs["begin_mask"] >> axes) & 1 == 1
    last = (op.attrs["end_mask"] >> axes) & 1 == 1
    most = np.iinfo(np.int64).max
    begin = np.where(first & ~single, 0, begin)
    end = np.where(last & ~single, most, end)
    end = np.where(single, np.where(begin == -1, most, begin + 1), end)
    parts = [made.constant(part) for part in (begin, end, axes.astype(np.int64), strides)]
    cut = made.add("Slice", [inputs[0], *parts])
    return made.add("Squeeze", [cut, made.constant(axes[single])]) if single.any() else cut


# ---- reductions and products --------------------------------------------------------------------

_REDUCTIONS = {"Max": "ReduceMax", "Mean": "ReduceMean", "Min": "ReduceMin", "Prod": "ReduceProd"}


@rule(*_REDUCTIONS, "Sum")
def _reduce(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    axes = [int(axis) for axis in _known(op, 1).ravel()]
    keep = int(op.attrs["keep_dims"])
    if not axes and np.ndim(_known(op, 1)):
        return made.add("Identity", inputs[:1])
    if op.type == "Sum":
        given = [inputs[0], made.constant(numbers(axes))]
        return made.add("ReduceSum", given, keepdims=keep)
    return made.add(_REDUCTIONS[op.type], inputs[:1], axes=axes, keepdims=keep)


@rule("ArgMax", "ArgMin")
def _arg(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    found = made.add(op.type, inputs[:1], axis=int(_known(op, 1)), keepdims=0)
    return made.add("Cast", [found], to=made.type_of(op.outputs[0].dtype))


@rule("MatMul", "BatchMatMul", "BatchMatMulV2")
def _matmul(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    flags = ("transpose_a", "transpose_b") if op.type == "MatMul" else ("adj_x", "adj_y")
    given = []
    for name, tensor, flag in zip(inputs, op.inputs, flags, strict=True):
        order = list(range(rank(tensor)))
        order[-2:] = order[:-3:-1]
        given.append(made.add("Transpose", [name], perm=order) if op.attrs[flag] else name)
    return made.add("MatMul", given)
