"""Collectives among the replicas of a TPU's program. A process that is in no group is one replica.

Where it is in a group, each process is a replica (`process_collectives.py`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext
from weft.ops.kit.shared import invalid

Array = Any

SUM_ATTRS = "T: {bfloat16, float, int32, uint32}"
SPLIT_ATTRS = "T: {numbertype, bool}, concat_dimension: int, split_dimension: int, split_count: int"


def _check_alone(members: Array) -> None:
    if np.asarray(members).any():
        raise invalid(
            f"A collective names replicas {np.asarray(members).tolist()}, but this process is in no"
            " group: there is replica 0 only."
        )


@op(
    "CrossReplicaSum", inputs="input: T, group_assignment: int32", outputs="output: T",
    attrs=SUM_ATTRS, shape=s.unchanged, static="group_assignment",
)  # fmt: skip
def cross_replica_sum_(xp: Any, input: Array, group_assignment: Array) -> Array:
    _check_alone(group_assignment)
    return input


@cross_replica_sum_.gradient
def _(node: Operation, grad: Any) -> list[Any]:
    return [raw.CrossReplicaSum(grad, node.inputs[1]), None]


def exchanged(c: ShapeContext) -> Dims:
    """The shape of what is cut along one dimension, and joined along another."""
    dims = c.dims(0)
    if dims is None:
        raise ValueError("input's rank is unknown.")
    count, found = c.attr("split_count"), list(dims)
    if count < 1:
        raise ValueError(f"split_count {count} must at least be one.")
    groups = s.with_rank(c.dims(1), 2)
    if groups is not None and groups[1] not in (None, count):
        raise ValueError(
            f"split_count {count} must equal the size of the second dimension of group_assignment"
            f" {groups[1]}"
        )
    for name in ("concat_dimension", "split_dimension"):
        if not 0 <= c.attr(name) < len(found):
            raise ValueError(f"{name} {c.attr(name)} is out of range of input rank {len(found)}")
    joined, cut = c.attr("concat_dimension"), c.attr("split_dimension")
    if found[joined] is not None:
        found[joined] *= count
    if found[cut] is not None:
        if found[cut] % count:
            raise ValueError(f"input dimension {found[cut]} not divisible by split_count {count}")
        found[cut] //= count
    return tuple(found)


@op(
    "AllToAll", inputs="input: T, group_assignment: int32", outputs="output: T", attrs=SPLIT_ATTRS,
    shape=exchanged, static="group_assignment",
)  # fmt: skip
def all_to_all_(xp: Any, input: Array, group_assignment: Array) -> Array:
    _check_alone(group_assignment)
    return input


@all_to_all_.gradient
def _(node: Operation, grad: Any) -> list[Any]:
    back = raw.AllToAll(
        grad, node.inputs[1], concat_dimension=node.get_attr("split_dimension"),
        split_dimension=node.get_attr("concat_dimension"),
        split_count=node.get_attr("split_count"),
    )  # fmt: skip
    return [back, None]


@op(
    "CollectivePermute", inputs="input: T, source_target_pairs: int32", outputs="output: T",
    attrs="T: numbertype", shape=s.unchanged, static="source_target_pairs",
)  # fmt: skip
def collective_permute_(xp: Any, input: Array, source_target_pairs: Array) -> Array:
    """A replica that nothing is sent to has zeros."""
    _check_alone(source_target_pairs)
    return input if len(source_target_pairs) else xp.zeros_like(input)


@collective_permute_.gradient
def _(node: Operation, grad: Any) -> list[Any]:
    return [raw.CollectivePermute(grad, raw.ReverseV2(node.inputs[1], [1])), None]
