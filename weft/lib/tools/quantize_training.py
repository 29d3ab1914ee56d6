"""tf.train.do_quantize_training_on_graphdef: products and convolutions of quantized values.

Each input of a product or convolution is rounded to so many bits on its way, within the smallest
and largest values seen (moving averages that are saved with the variables), or within the range
that is known of its kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft.core import dtypes
from weft.core.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from weft.lib.tools.node_defs import constant, constant_value, copied, graph_of, source

_REWRITTEN = {"MatMul", "Conv2D"}
_UNKNOWN_ALLOWED = 2
_DECAY = 0.999
# operation -> (whether its values are signed, their range if it is known)
_KINDS: dict[str, tuple[bool, tuple[float, float] | None]] = {
    "Const": (True, None),
    "Variable": (True, None),
    "VariableV2": (True, None),
    "Relu": (False, None),
    "Relu6": (False, (0.0, 6.0)),
    "Sigmoid": (False, (0.0, 1.0)),
    "Tanh": (True, (-1.0, 1.0)),
}
# Operations whose values are of the kind of their input.
_PASSED_ON = {
    "Reshape", "ConcatV2", "Identity", "MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D",
}  # fmt: skip
# The moving average of an extreme: name, operation, inputs ("" is the extreme, "/" a node here).
_AVERAGE = (
    ("/IsInitialized", "IsVariableInitialized", ["/Variable"]),
    ("/Switch", "Switch", ["", "/IsInitialized"]),
    ("/EMA/DecayComplement", "Sub", ["/EMA/OneConst", "Decay"]),
    ("/EMA/ValueDiff", "Sub", ["/Variable", "/Switch:1"]),
    ("/EMA/UpdateValue", "Mul", ["/EMA/ValueDiff", "/EMA/DecayComplement"]),
    ("/EMA/EMAValue", "Sub", ["/Variable", "/EMA/UpdateValue"]),
    ("/Merge", "Merge", ["/Switch", "/EMA/EMAValue"]),
    ("/AssignValue", "Assign", ["/Variable", "/Merge"]),
)
_T = {name: "T" for name in ("Switch", "Sub", "Mul", "Merge", "Assign", "Min", "Max", "Rank")}
_MORE: dict[str, dict[str, Any]] = {
    "IsVariableInitialized": {"dtype": dtypes.float32},
    "Merge": {"N": 2},
    "Min": {"Tidx": dtypes.int32},
    "Max": {"Tidx": dtypes.int32},
    "Range": {"Tidx": dtypes.int32},
}


def _node(name: str, kind: str, inputs: list[str], **attrs: Any) -> Any:
    made = NodeDef(name=name, op=kind, input=inputs)
    given = {**_MORE.get(kind, {}), **attrs}
    if kind in _T:
        given.setdefault("T", dtypes.float32)
    for key, value in given.items():
        match value:
            case dtypes.DType():
                made.attr[key].type = value.as_datatype_enum
            case bool():
                made.attr[key].b = value
            case int():
                made.attr[key].i = value
            case list():
                made.attr[key].list.type.extend(each.as_datatype_enum for each in value)
            case _:
                made.attr[key].shape.SetInParent()
    return made


@dataclass
class _Rewrite:
    """A graph that is being rewritten: its nodes, those added, and the variables among them."""

    nodes: dict[str, Any]
    bits: int
    added: list[Any] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    quantized: dict[str, str] = field(default_factory=dict)
    unknown: int = 0

    def kind_of(self, name: str) -> tuple[bool, tuple[float, float] | None, bool]:
        """(signed, range, whether this is known) of the values of a node."""
        node = self.nodes[name]
        if node.op in _KINDS:
            return *_KINDS[node.op], True
        if node.op in _PASSED_ON:
            return *self.kind_of(source(node.input[0]))[:2], True
        return True, None, False

    def quantize(self, name: str) -> str:
        """The node that has the values of another, rounded."""
        signed, limits, known = self.kind_of(name)
        self.unknown += not known
        if self.unknown > _UNKNOWN_ALLOWED:
            raise UnimplementedError(
                None, None, f"Found an unknown op: {name} with type: {self.nodes[name].op}; "
                "Unknown ops are considered as model input for now and only "
                f"{_UNKNOWN_ALLOWED} inputs are supported currently.",
            )  # fmt: skip
        if name not in self.quantized:
            ends = self._given(name, limits) if limits else self._averages(name)
            made = f"{name}/QuantizeAndDequantizeV2"
            attrs = {"signed_input": signed, "num_bits": self.bits, "range_given": True}
            kind = "QuantizeAndDequantizeV2"
            self.added.append(_node(made, kind, [name, *ends], T=dtypes.float32, **attrs))
            self.quantized[name] = made
        return self.quantized[name]

    def _given(self, name: str, limits: tuple[float, float]) -> list[str]:
        ends = [f"{name}/InputMin", f"{name}/InputMax"]
        self.added += [constant(end, np.float32(at)) for end, at in zip(ends, limits, strict=True)]
        return ends

    def _averages(self, name: str) -> list[str]:
        axes = f"{name}/ReductionAxes"
        self.added += [
            constant(f"{name}/Decay", np.float32(_DECAY)),
            constant(f"{axes}/RangeStart", np.int32(0)),
            constant(f"{axes}/RangeDelta", np.int32(1)),
            _node(f"{axes}/InputRank", "Rank", [name]),
            _node(
                f"{axes}/ReductionAxes",
                "Range",
                [f"{axes}/RangeStart", f"{axes}/InputRank", f"{axes}/RangeDelta"],
            ),
        ]
        ends = [f"{name}/Min", f"{name}/Max"]
        self.added += [
            _node(end, kind, [name, f"{axes}/ReductionAxes"])
            for end, kind in zip(ends, ("Min", "Max"), strict=True)
        ]
        return [self._average(end, f"{name}/Decay") for end in ends]

    def _average(self, extreme: str, decay: str) -> str:
        variable = f"{extreme}/Variable"
        self.variables.append(variable)
        self.added.append(_node(variable, "VariableV2", [], dtype=dtypes.float32, shape=()))
        self.added.append(constant(f"{extreme}/EMA/OneConst", np.float32(1)))
        for suffix, kind, inputs in _AVERAGE:
            named = [decay if each == "Decay" else extreme + each for each in inputs]
            self.added.append(_node(extreme + suffix, kind, named))
        return f"{extreme}/AssignValue"

    # ---- the variables are saved with the others ----

    def save(self) -> None:
        """Adds the variables to the save and restore operations, if there are any."""
        savers = [node for node in self.nodes.values() if node.op == "SaveV2"]
        if not savers:
            return
        if len(savers) > 1:
            raise InvalidArgumentError(None, None, "Input graph has multiple SaveV2 ops.")
        (saver,) = savers
        prefix = saver.name.rpartition("/")[0]
        restore_all = self.nodes.get(f"{prefix}/restore_all")
        if restore_all is None:
            message = "graph has SaveOp, but no restore_all NoOp"
            raise InvalidArgumentError(None, None, message)
        for place, values in ((1, self.variables), (2, [""] * len(self.variables))):
            name = source(saver.input[place])
            told = [*constant_value(self.nodes[name]), *(value.encode() for value in values)]
            self.nodes[name] = constant(name, np.array(told, object), dtypes.string)
        saver.input.extend(self.variables)
        kinds = saver.attr["dtypes"].list.type
        kinds.extend([dtypes.float32.as_datatype_enum] * len(self.variables))
        for number, variable in enumerate(self.variables):
            restore_all.input.append(f"^{self._restored(prefix, saver.input[0], variable, number)}")

    def _restored(self, prefix: str, path: str, variable: str, number: int) -> str:
        def fresh(base: str) -> str:
            taken = set(self.nodes) | {node.name.removesuffix("_qt") for node in self.added}
            found, tries = base, 0
            while found in taken:
                found, tries = f"{base}/_{tries}", tries + 1
            return f"{found}_qt"

        restore, assign = fresh(f"{prefix}/RestoreV2"), fresh(f"{prefix}/Assign")
        names, slices = f"{restore}/tensor_names", f"{restore}/shape_and_slices"
        self.added += [
            constant(names, np.array([variable.encode()], object), dtypes.string),
            constant(slices, np.array([b""], object), dtypes.string),
            _node(restore, "RestoreV2", [path, names, slices], dtypes=[dtypes.float32]),
            _node(assign, "Assign", [variable, restore]),
        ]
        return assign


def do_quantize_training_on_graphdef(input_graph: Any, num_bits: int) -> Any:
    """A GraphDef that trains with the inputs of products and convolutions rounded.

    Args:
        input_graph: a GraphDef; nodes under "gradients" stay as they are.
        num_bits: how many bits values are rounded to, from 1 to 63.

    Returns:
        The GraphDef that it becomes. Its new variables are saved with the others.
    """
    if not 1 <= num_bits <= 63:
        message = f"num_bits should be in range [1, 63] but is: {num_bits}"
        raise OutOfRangeError(None, None, message)
    nodes = {node.name: copied(node) for node in input_graph.node}
    rewrite = _Rewrite(nodes, num_bits)
    for node in list(nodes.values()):
        if node.op in _REWRITTEN and not node.name.startswith("gradients"):
            for place, given in enumerate(node.input):
                if not given.startswith("^"):
                    node.input[place] = rewrite.quantize(source(given))
    rewrite.save()
    made: GraphDef = graph_of([*nodes.values(), *rewrite.added], input_graph)
    return made
