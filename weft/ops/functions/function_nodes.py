"""Operations that call functions of the library. They have no kernels: when a step is planned,
`passes/inline.py` puts what they call in their place.
"""

from __future__ import annotations

from typing import Any

from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import PLAIN, STATEFUL, Traits


def _node(kind: str, name: str, traits: Traits = PLAIN, **declaration: Any) -> OpDef:
    return op(name, traits=traits | Traits(calls=kind), **declaration)(None)


def _from_output_shapes(c: ShapeContext) -> list[Dims]:
    shapes = c.attr("output_shapes")
    return list(shapes) if len(shapes) == c.num_outputs else _unknown(c)


def _unknown(c: ShapeContext) -> list[Dims]:
    return [None] * c.num_outputs


def _looped(c: ShapeContext) -> list[Dims]:
    return _from_output_shapes(c) if c.attr("output_shapes") else _unknown(c)


def _like_arguments(c: ShapeContext) -> list[Dims]:
    """A gradient has the shape of what it belongs to, unless that is a handle."""
    return [c.dims(i) if c.dtype(i) is dtype else None for i, dtype in enumerate(c.attr("Tout"))]


_TYPES = "Tin: list(type) >= 0, Tout: list(type) >= 0"
_BRANCHES = "then_branch: func, else_branch: func, output_shapes: list(shape) = []"
_IF: dict[str, Any] = {
    "inputs": "cond: Tcond, input: list(Tin)",
    "outputs": "output: list(Tout)",
    "attrs": f"Tcond: type, {_TYPES}, {_BRANCHES}",
    "shape": _from_output_shapes,
}
if_ = _node("if", "If", traits=STATEFUL, **_IF)
stateless_if = _node("if", "StatelessIf", **_IF)

_CASE: dict[str, Any] = {
    "inputs": "branch_index: int32, input: list(Tin)",
    "outputs": "output: list(Tout)",
    "attrs": f"{_TYPES}, branches: list(func) >= 1, output_shapes: list(shape) = []",
    "shape": _from_output_shapes,
}
case = _node("case", "Case", traits=STATEFUL, **_CASE)
stateless_case = _node("case", "StatelessCase", **_CASE)

_WHILE: dict[str, Any] = {
    "inputs": "input: list(T)",
    "outputs": "output: list(T)",
    "attrs": "T: list(type) >= 0, cond: func, body: func, output_shapes: list(shape) = [],"
    "parallel_iterations: int = 10",
    "shape": _looped,
}
while_ = _node("while", "While", traits=STATEFUL, **_WHILE)
stateless_while = _node("while", "StatelessWhile", **_WHILE)

for_ = _node(
    "for",
    "For",
    inputs="start: int32, limit: int32, delta: int32, input: list(T)",
    outputs="output: list(T)",
    attrs="T: list(type) >= 0, body: func",
    shape=_unknown,
)

_CALL: dict[str, Any] = {
    "inputs": "args: list(Tin)",
    "outputs": "output: list(Tout)",
    "attrs": f'{_TYPES}, f: func, config: string = "", config_proto: string = "",'
    'executor_type: string = ""',
    "shape": _unknown,
}
partitioned_call = _node("attribute", "PartitionedCall", **_CALL)
stateful_partitioned_call = _node("attribute", "StatefulPartitionedCall", traits=STATEFUL, **_CALL)

remote_call = _node(
    "remote",
    "RemoteCall",
    inputs="target: string, args: list(Tin)",
    outputs="output: list(Tout)",
    attrs="Tin: list(type) >= 1, Tout: list(type) >= 1, f: func",
    shape=_unknown,
    traits=STATEFUL,
)

symbolic_gradient = _node(
    "gradient",
    "SymbolicGradient",
    inputs="input: list(Tin)",
    outputs="output: list(Tout)",
    attrs="Tin: list(type) >= 1, Tout: list(type) >= 1, f: func",
    shape=_like_arguments,
)


@op(
    "FakeParam",
    outputs="output: dtype",
    attrs="dtype: type, shape: shape",
    shape=s.from_attr("shape"),
)
def fake_param(xp: Any, *, dtype: Any, shape: Any) -> Any:
    """Stands for what only the other branch of a conditional computes: its value means nothing."""
    import numpy as np

    return np.zeros([extent or 0 for extent in shape or ()], dtype.np_storage)


@fake_param.traced
def _(xp: Any, *, dtype: Any, shape: Any) -> Any:
    """In a program, None: it takes the shape of what it stands for where the branches meet."""
    return xp.zeros(shape, dtype.np_storage) if s.known(shape) else None
