"""Graphs as text: in one line, as a tree, and by the number of parameters."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any

from weft.core import dtypes
from weft.graph.tensor import Tensor
from weft.lib.contrib.specs.evaluation import create_net
from weft.ops.array.placeholders import placeholder

_SHORT = {
    "BiasAdd": "biasadd",
    "Const": "_",
    "Conv2D": "conv",
    "MatMul": "dot",
    "Placeholder": "_",
    "Sigmoid": "sig",
    "Variable": "var",
}
_UNROLLED = "/HorizontalLstm/"  # parts that are too long to be shown
_VARIABLES = ("Variable", "VariableV2")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _of(x: Any, otherwise: Any) -> tuple[Any, Any]:
    """(operation, shape) of a tensor, or of an operation, which has none."""
    return (x.op, x.shape.as_list()) if isinstance(x, Tensor) else (x, otherwise)


def _below(node: Any) -> list[Any]:
    return [] if _UNROLLED in node.name else list(node.inputs)


def tf_structure(x: Any, include_shapes: bool = False, finished: Any = None) -> str:
    """The operations that lead to a tensor, each after its inputs; `<>` is one told before."""
    seen = set() if finished is None else finished
    node, shape = _of(x, [])
    if node in seen:
        return " <>"
    seen.add(node)
    told = "".join(tf_structure(each, include_shapes, seen) for each in _below(node))
    told += f" {shape}" if include_shapes else ""
    return told if node.type == "Identity" else f"{told} {_SHORT.get(node.type, node.type.lower())}"


def tf_print(
    x: Any, depth: int = 0, finished: Any = None, printer: Callable[[str], Any] = _say
) -> None:
    """Prints the operations that lead to a tensor, each above its inputs."""
    seen = set() if finished is None else finished
    node, shape = _of(x, "")
    node = node.inputs[0].op if node.type == "Identity" else node
    again = node in seen
    name = f"<{node.name}>" if again else node.name
    printer(f"{'  ' * depth}{name} {node.type} {shape}")
    seen.add(node)
    for each in () if again else _below(node):
        tf_print(each, depth + 1, seen, printer)


def tf_num_params(x: Any) -> int:
    """The number of parameters that lead to a tensor."""
    node, _ = _of(x, None)
    if node.type in _VARIABLES:
        return int(node.outputs[0].shape.num_elements())
    return sum(map(tf_num_params, node.inputs))


def tf_left_split(op: Any) -> tuple[Any, list[Any]]:
    """(the input that a network goes on from, the other inputs) of an operation."""
    first = 1 if op.type == "Concat" else 0
    if not op.inputs:
        return None, []
    return op.inputs[first], list(op.inputs[first + 1 :])


def tf_parameter_iter(x: Any) -> Iterator[tuple[str, int, Any]]:
    """(name, parameters, shape) of the operations of a network, from its end to its start."""
    while x is not None:
        node, shape = _of(x, "")
        x, others = tf_left_split(node)
        yield node.name, sum(map(tf_num_params, others)), shape


def tf_parameter_summary(
    x: Any, printer: Callable[[str], Any] = _say, combine: bool = True
) -> None:
    """Prints the parameters of the operations of a network, or of its layers."""
    rows = list(tf_parameter_iter(x))
    if combine:
        groups = itertools.groupby(rows, lambda row: row[0].partition("/")[0])
        named = ((name, list(own)) for name, own in groups)
        rows = [(name, sum(row[1] for row in own), own[0][2]) for name, own in named]
    for name, total, shape in reversed(rows):
        printer(f"{total:>10d} {name:<20s} {shape}")


def _made(spec: str, inputs: Any, input_shape: Any, input_type: Any) -> Any:
    given = placeholder(input_type, input_shape) if inputs is None else inputs
    return create_net(spec, given)


def tf_spec_structure(
    spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32
) -> str:
    """`tf_structure` of the network of a specification."""
    return tf_structure(_made(spec, inputs, input_shape, input_type)).strip()


def tf_spec_summary(
    spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32
) -> None:
    """`tf_parameter_summary` of the network of a specification."""
    tf_parameter_summary(_made(spec, inputs, input_shape, input_type))


def tf_spec_print(
    spec: str, inputs: Any = None, input_shape: Any = None, input_type: Any = dtypes.float32
) -> None:
    """`tf_print` of the network of a specification."""
    tf_print(_made(spec, inputs, input_shape, input_type))
