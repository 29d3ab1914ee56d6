"""Collectives among the replicas of one program over several devices of this process, by XLA.

These exist inside such a program only. They take the place of what joins the replicas of a step
(`passes/replicas/joins.py`): of sums of their values, and of TensorFlow's collectives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import STATEFUL, XLA
from weft.ops.devices import replicas

Array = Any

AXIS = "replicas"  # the name of the dimension that these go along
_TRAITS = XLA | STATEFUL  # a constant is the same in all replicas, but its sum is another
# By the name of an operation of TensorFlow's that all replicas have, the one among them.
AMONG_REPLICAS: dict[str, OpDef] = {}


def _among_replicas(name: str) -> Callable[[OpDef], OpDef]:
    """Notes the declaration below as that which takes the place of operation `name`."""

    def note(definition: OpDef) -> OpDef:
        AMONG_REPLICAS[name] = definition
        return definition

    return note


def _count() -> int:
    from jax import lax

    return int(lax.axis_size(AXIS))


# ---- reducing ------------------------------------------------------------------------------------


def _merged(value: Array, way: str) -> Array:
    from jax import lax

    if way in ("Mul", "prod"):
        found = lax.all_gather(value, AXIS)
        total = found[0]
        for i in range(1, _count()):
            total = total * found[i]
        return total
    sums, most, least = ("Add", "sum"), ("Max", "max"), ("Min", "min")
    ways = {**dict.fromkeys(sums, lax.psum), **dict.fromkeys(most, lax.pmax)}
    return {**ways, **dict.fromkeys(least, lax.pmin)}[way](value, AXIS)


@op(
    "_ReplicaSum", inputs="input: T", outputs="output: T", attrs="T: numbertype",
    shape=s.unchanged, traits=_TRAITS,
)  # fmt: skip
def replica_sum_(xp: Any, input: Array) -> Array:
    return _merged(input, "Add")


@_among_replicas("NcclAllReduce")
@op(
    "_ReplicaReduce", inputs="input: T", outputs="data: T",
    attrs='T: numbertype, reduction: {"min", "max", "prod", "sum"}, num_devices: int,'
    " shared_name: string",
    shape=s.unchanged, traits=_TRAITS,
)  # fmt: skip
def replica_reduce_(xp: Any, input: Array, *, reduction: str) -> Array:
    return _merged(input, reduction)


_GROUP = "group_size: int, group_key: int, instance_key: int"
_HINT = 'communication_hint: string = "auto"'


@_among_replicas("CollectiveReduce")
@op(
    "_ReplicaCollectiveReduce", inputs="input: T", outputs="data: T",
    attrs=f'T: numbertype, {_GROUP}, merge_op: {{"Min", "Max", "Mul", "Add"}},'
    f' final_op: {{"Id", "Div"}}, subdiv_offsets: list(int), wait_for: list(int) = [], {_HINT}',
    shape=s.unchanged, traits=_TRAITS,
)  # fmt: skip
def replica_collective_reduce_(xp: Any, input: Array, *, merge_op: str, final_op: str) -> Array:
    from jax import lax

    total = _merged(input, merge_op)
    return lax.div(total, xp.full_like(total, _count())) if final_op == "Div" else total


# ---- handing on ----------------------------------------------------------------------------------


def _gathered(c: ShapeContext) -> Dims:
    dims = s.with_rank_at_least(c.dims(0), 1)
    if dims is None:
        return None
    return (None if dims[0] is None else dims[0] * c.attr("group_size"), *dims[1:])


@_among_replicas("CollectiveGather")
@op(
    "_ReplicaGather", inputs="input: T", outputs="data: T",
    attrs=f"T: numbertype, {_GROUP}, shape: shape, {_HINT}", shape=_gathered, traits=_TRAITS,
)  # fmt: skip
def replica_gather_(xp: Any, input: Array) -> Array:
    from jax import lax

    return lax.all_gather(input, AXIS, tiled=True)


@op(
    "_ReplicaValue", inputs="input: T", outputs="output: T", attrs="T: type, replica: int",
    shape=s.unchanged, traits=_TRAITS,
)  # fmt: skip
def replica_value_(xp: Any, input: Array, *, replica: int) -> Array:
    """The value that one of the replicas has, for all of them."""
    from jax import lax

    input = xp.asarray(input)
    if np.dtype(input.dtype).kind != "c":
        return _sent(xp, input, replica)
    return lax.complex(*(_sent(xp, part, replica) for part in (input.real, input.imag)))


def _sent(xp: Any, value: Array, replica: int) -> Array:
    """No bit of the value changes: to its bits, the other replicas add zeros."""
    from jax import lax

    kind = np.dtype(value.dtype)
    whole = np.dtype(f"u{kind.itemsize}")
    is_integer = kind.kind in "biu"
    bits = value.astype(whole) if is_integer else lax.bitcast_convert_type(value, whole)
    mine = xp.where(lax.axis_index(AXIS) == replica, bits, xp.zeros_like(bits))
    found = lax.psum(mine, AXIS)
    return found.astype(kind) if is_integer else lax.bitcast_convert_type(found, kind)


# ---- replicas of a TPU's program -----------------------------------------------------------------


def _groups(assignment: Array) -> list[list[int]]:
    return [[int(member) for member in group] for group in np.asarray(assignment)]


@_among_replicas("CrossReplicaSum")
@op(
    "_ReplicaGroupSum", inputs="input: T, group_assignment: int32", outputs="output: T",
    attrs=replicas.SUM_ATTRS, shape=s.unchanged, static="group_assignment", traits=_TRAITS,
)  # fmt: skip
def replica_group_sum_(xp: Any, input: Array, group_assignment: Array) -> Array:
    from jax import lax

    return lax.psum(input, AXIS, axis_index_groups=_groups(group_assignment))


@_among_replicas("AllToAll")
@op(
    "_ReplicaAllToAll", inputs="input: T, group_assignment: int32", outputs="output: T",
    attrs=replicas.SPLIT_ATTRS, shape=replicas.exchanged, static="group_assignment", traits=_TRAITS,
)  # fmt: skip
def replica_all_to_all_(
    xp: Any, input: Array, group_assignment: Array, *, concat_dimension: int, split_dimension: int
) -> Array:
    from jax import lax

    groups = _groups(group_assignment)
    return lax.all_to_all(
        input, AXIS, split_dimension, concat_dimension, tiled=True, axis_index_groups=groups
    )


@_among_replicas("CollectivePermute")
@op(
    "_ReplicaPermute", inputs="input: T, source_target_pairs: int32", outputs="output: T",
    attrs="T: numbertype", shape=s.unchanged, static="source_target_pairs", traits=_TRAITS,
)  # fmt: skip
def replica_permute_(xp: Any, input: Array, source_target_pairs: Array) -> Array:
    """A replica that nothing is sent to has zeros."""
    from jax import lax

    return lax.ppermute(input, AXIS, _groups(source_target_pairs))
