"""The paper's control-flow nodes. The executor gives them their meaning; they have no kernels."""

from __future__ import annotations

from typing import Any

from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import NO_GRADIENT, PLAIN, UNINITIALIZED, Traits


def _node(kind: str, name: str, traits: Traits = PLAIN, **declaration: Any) -> OpDef:
    return op(name, traits=traits | Traits(control_flow=kind), **declaration)(None)


def _merged(c: ShapeContext) -> list[Dims]:
    """The shape that all inputs agree on. A loop's merge sees its back edge only later."""
    dims = c.dims(0)
    for i in range(1, c.num_inputs):
        dims = common(dims, c.dims(i))
    return [dims, ()]


def common(a: Dims, b: Dims) -> Dims:
    """The most that is true of both shapes."""
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def _entered(c: ShapeContext) -> Dims:
    """A loop variable may change its shape; only an invariant surely keeps it."""
    return c.dims(0) if c.attr("is_constant") else None


def _both(c: ShapeContext) -> list[Dims]:
    s.with_rank(c.dims(1), 0)
    return [c.dims(0), c.dims(0)]


def _predicate(c: ShapeContext) -> Dims:
    return s.with_rank(c.dims(0), 0)


_ENTER = "T: type, frame_name: string, is_constant: bool = false, parallel_iterations: int = 10"

for _prefix, _type in (("", "T"), ("Ref", "ref(T)")):
    _node(
        "switch", f"{_prefix}Switch", inputs=f"data: {_type}, pred: bool",
        outputs=f"output_false: {_type}, output_true: {_type}", attrs="T: type", shape=_both,
        traits=UNINITIALIZED if _prefix else PLAIN,
    )  # fmt: skip
    _node(
        "merge", f"{_prefix}Merge", inputs=f"inputs: {'ref(N * T)' if _prefix else 'N * T'}",
        outputs=f"output: {_type}, value_index: int32", attrs="T: type, N: int >= 1", shape=_merged,
    )  # fmt: skip
    _node(
        "enter", f"{_prefix}Enter", inputs=f"data: {_type}", outputs=f"output: {_type}",
        attrs=_ENTER, shape=_entered,
    )  # fmt: skip
    _node(
        "exit", f"{_prefix}Exit", inputs=f"data: {_type}", outputs=f"output: {_type}",
        attrs="T: type", shape=s.unchanged,
    )  # fmt: skip
    _node(
        "next_iteration", f"{_prefix}NextIteration", inputs=f"data: {_type}",
        outputs=f"output: {_type}", attrs="T: type", shape=s.unchanged,
    )  # fmt: skip

loop_cond = _node(
    "loop_cond", "LoopCond", inputs="input: bool", outputs="output: bool", shape=_predicate,
    traits=NO_GRADIENT,
)  # fmt: skip
