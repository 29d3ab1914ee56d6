"""How operations are said in ONNX: a rule for each type, most of them another name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.graph.constant_value import constant_value
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor

_TO_NCHW, _TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)


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


def _rule(*types: str) -> Callable[[Value], Value]:
    """Registers what gives the one output of an operation from the names of its inputs."""

    def register(value: Value) -> Value:
        def rule(made: OnnxGraph, op: Operation) -> None:
            inputs = [made.name_of(tensor) for tensor in op.inputs]
            made.names[op.outputs[0]] = value(made, op, inputs)

        RULES.update(dict.fromkeys(types, rule))
        return value

    return register


def _known(op: Operation, i: int) -> np.ndarray:
    value = constant_value(op.inputs[i])
    if value is None:
        raise Unsupported(f"'{op.name}' has an input {i} that is not constant")
    return np.asarray(value)


def _rank(tensor: Tensor) -> int:
    if tensor.shape.ndims is None:
        raise Unsupported(f"'{tensor.name}' has no known number of dimensions")
    return int(tensor.shape.ndims)


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
    _rule(_type)(_renamed(_kind))
for _type in ("Softmax", "LogSoftmax"):
    _rule(_type)(lambda made, op, inputs: made.add(op.type, inputs, axis=-1))


@_rule("Const")
def _const(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    value = np.asarray(op.attrs["value"])
    if value.dtype == object:
        raise Unsupported("strings")
    return made.constant(value, op.name)


def _identity_n(made: OnnxGraph, op: Operation) -> None:
    for given, handed_on in zip(op.inputs, op.outputs, strict=True):
        made.names[handed_on] = made.name_of(given)


RULES["IdentityN"] = _identity_n


@_rule("Square")
def _square(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Mul", inputs * 2)


@_rule("SquaredDifference")
def _squared_difference(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Mul", [made.add("Sub", inputs)] * 2)


@_rule("Rsqrt")
def _rsqrt(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Reciprocal", [made.add("Sqrt", inputs)])


@_rule("Relu6")
def _relu6(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    kind = op.inputs[0].dtype.as_numpy_dtype
    return made.add("Clip", [*inputs, made.constant(kind(0)), made.constant(kind(6))])


@_rule("LeakyRelu")
def _leaky_relu(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("LeakyRelu", inputs, alpha=float(op.attrs["alpha"]))


@_rule("Cast")
def _cast(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Cast", inputs, to=made.type_of(op.outputs[0].dtype))


def _as_int64(made: OnnxGraph, name: str) -> str:
    return made.add("Cast", [name], to=int(made.onnx.TensorProto.INT64))


@_rule("Shape")
def _shape(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Cast", [made.add("Shape", inputs)], to=made.type_of(op.outputs[0].dtype))


@_rule("Reshape")
def _reshape(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Reshape", [inputs[0], _as_int64(made, inputs[1])], allowzero=1)


@_rule("Squeeze")
def _squeeze(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    axes = [int(axis) for axis in op.attrs["squeeze_dims"] or ()]
    return made.add("Squeeze", [*inputs, made.constant(np.int64(axes))] if axes else inputs)


@_rule("ExpandDims")
def _expand_dims(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Unsqueeze", [inputs[0], made.constant(_known(op, 1).astype(np.int64).ravel())])


@_rule("ConcatV2")
def _concat(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Concat", inputs[:-1], axis=int(_known(op, len(inputs) - 1)))


@_rule("Pack")
def _pack(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    axis = int(op.attrs["axis"])
    at = made.constant(np.int64([axis]))
    return made.add("Concat", [made.add("Unsqueeze", [name, at]) for name in inputs], axis=axis)


@_rule("Transpose")
def _transpose(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Transpose", inputs[:1], perm=[int(axis) for axis in _known(op, 1)])


@_rule("GatherV2")
def _gather(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    if op.attrs.get("batch_dims"):
        raise Unsupported("batch_dims")
    return made.add("Gather", inputs[:2], axis=int(_known(op, 2)))


@_rule("Tile")
def _tile(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    return made.add("Tile", [inputs[0], _as_int64(made, inputs[1])])


@_rule("Pad", "PadV2")
def _pad(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    pads = made.constant(_known(op, 1).T.astype(np.int64).ravel())
    return made.add("Pad", [inputs[0], pads, *inputs[2:]])


@_rule("StridedSlice")
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


@_rule(*_REDUCTIONS, "Sum")
def _reduce(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    axes = [int(axis) for axis in _known(op, 1).ravel()]
    keep = int(op.attrs["keep_dims"])
    if not axes and np.ndim(_known(op, 1)):
        return made.add("Identity", inputs[:1])
    if op.type == "Sum":
        given = [inputs[0], made.constant(np.int64(axes))]
        return made.add("ReduceSum", given, keepdims=keep)
    return made.add(_REDUCTIONS[op.type], inputs[:1], axes=axes, keepdims=keep)


@_rule("ArgMax", "ArgMin")
def _arg(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    found = made.add(op.type, inputs[:1], axis=int(_known(op, 1)), keepdims=0)
    return made.add("Cast", [found], to=made.type_of(op.outputs[0].dtype))


@_rule("MatMul", "BatchMatMul", "BatchMatMulV2")
def _matmul(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    flags = ("transpose_a", "transpose_b") if op.type == "MatMul" else ("adj_x", "adj_y")
    given = []
    for name, tensor, flag in zip(inputs, op.inputs, flags, strict=True):
        order = list(range(_rank(tensor)))
        order[-2:] = order[:-3:-1]
        given.append(made.add("Transpose", [name], perm=order) if op.attrs[flag] else name)
    return made.add("MatMul", given)


# ---- images -------------------------------------------------------------------------------------


def _in_channels_first(
    made: OnnxGraph, op: Operation, name: str, compute: Callable[[str], str]
) -> str:
    """What `compute` makes of an image with channels first, in the order of the operation."""
    if op.attrs["data_format"] in ("NCHW", b"NCHW"):
        return compute(name)
    result = compute(made.add("Transpose", [name], perm=_TO_NCHW))
    return made.add("Transpose", [result], perm=_TO_NHWC)


def _spatial(op: Operation, sizes: Sequence[int]) -> list[int]:
    first = 2 if op.attrs["data_format"] in ("NCHW", b"NCHW") else 1
    return [int(size) for size in sizes[first : first + 2]]


def _window(op: Operation) -> dict[str, Any]:
    padding = op.attrs["padding"]
    padding = padding.decode() if isinstance(padding, bytes) else padding
    if padding not in ("SAME", "VALID"):
        raise Unsupported(f"padding {padding}")
    pads = "SAME_UPPER" if padding == "SAME" else "VALID"
    return {"auto_pad": pads, "strides": _spatial(op, op.attrs["strides"])}


@_rule("BiasAdd")
def _bias_add(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    if op.attrs["data_format"] not in ("NCHW", b"NCHW"):
        return made.add("Add", inputs)
    dims = made.constant(np.int64([-1] + [1] * (_rank(op.inputs[0]) - 2)))
    return made.add("Add", [inputs[0], made.add("Reshape", [inputs[1], dims])])


@_rule("Conv2D", "DepthwiseConv2dNative")
def _convolution(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    height, width, depth, times = op.inputs[1].shape.as_list()
    dilations = _spatial(op, op.attrs["dilations"])
    channels = op.inputs[0].shape.as_list()[-1 if _spatial(op, (0, 1, 2, 3))[0] == 1 else 1]
    if op.type == "Conv2D":
        groups = 1 if channels is None else channels // depth
        weights = made.add("Transpose", inputs[1:], perm=(3, 2, 0, 1))
    else:
        # Each channel is a group, with `times` outputs of its own.
        groups, shape = depth, made.constant(np.int64([depth * times, 1, height, width]))
        weights = made.add("Transpose", inputs[1:], perm=(2, 3, 0, 1))
        weights = made.add("Reshape", [weights, shape])
    options = _window(op) | {"dilations": dilations, "kernel_shape": [height, width]}
    return _in_channels_first(
        made, op, inputs[0],
        lambda name: made.add("Conv", [name, weights], group=groups, **options),
    )  # fmt: skip


@_rule("MaxPool", "AvgPool")
def _pool(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    kind = "MaxPool" if op.type == "MaxPool" else "AveragePool"
    options = _window(op) | {"kernel_shape": _spatial(op, op.attrs["ksize"])}
    return _in_channels_first(made, op, inputs[0], lambda name: made.add(kind, [name], **options))


@_rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(made: OnnxGraph, op: Operation, inputs: list[str]) -> str:
    if op.attrs["is_training"]:
        raise Unsupported("in training")
    return _in_channels_first(
        made, op, inputs[0],
        lambda name: made.add(
            "BatchNormalization", [name, *inputs[1:]], epsilon=float(op.attrs["epsilon"])
        ),
    )  # fmt: skip
