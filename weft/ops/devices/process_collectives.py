"""Collectives among the processes of a group, by XLA: Gloo on CPUs, NCCL on GPUs.

These take the place of TensorFlow's (`passes/collectives.py`) when the members of a group are
processes. All processes must come to their collectives in one order, whatever else their programs
do. So each takes a token of the one before, `after`, and gives one to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op
from weft.graph.shape_fn import ShapeContext
from weft.graph.traits import COLLECTIVE, known
from weft.ops.devices import replicas
from weft.ops.kit.process_group import AXIS, current
from weft.ops.kit.shared import invalid, is_concrete

Array = Any
ShapeRule = Callable[[ShapeContext], Any]

_NEVER = 100  # an integer has fewer bits, and so a token is less
# By the name of an operation of TensorFlow's, the one between processes.
BETWEEN_PROCESSES: dict[str, OpDef] = {}


def _between_processes(
    name: str, inputs: str, attrs: str, shape: ShapeRule, static: str = ""
) -> Any:
    """Declares `_NAME`: as NAME is, with the token of the collective before, and one of its own."""

    def declare(kernel: Callable[..., Any]) -> OpDef:
        given = f"{inputs}, after: int32" if inputs else "after: int32"
        definition: OpDef = op(
            f"_{name}", inputs=given, outputs="data: T, token: int32", attrs=attrs,
            shape=lambda c: [shape(c), ()], static=static, traits=COLLECTIVE | known("after"),
        )(kernel)  # fmt: skip
        BETWEEN_PROCESSES[name] = definition
        return definition

    return declare


def _held(xp: Any, value: Array, after: Array) -> Array:
    """`value`, but not before `after`, and as something that XLA must ask each process for.

    XLA takes constants to be the same in all processes, and their sum for a product. It cannot know
    that the other case never comes.
    """
    from jax import lax

    rank = lax.axis_index(AXIS)
    mine = rank == current().rank
    if not is_concrete(after):
        mine &= after < _NEVER
    return xp.where(mine, value, rank.astype(value.dtype))


def _with_token(xp: Any, found: Array, after: Array) -> tuple[Array, Array]:
    """The result, and a number that cannot be had without it."""
    from jax import lax

    if not found.size:
        return found, xp.asarray(after, np.int32)
    first = lax.population_count(_bits(found.reshape(-1)[0]))
    return found, first.astype(np.int32)


def _bits(value: Array) -> Array:
    """The bits of numbers, as integers of 32 or 64 bits."""
    from jax import lax

    kind = np.dtype(value.dtype)
    if kind.kind in "biu":
        return value.astype(np.uint64 if kind.itemsize == 8 else np.uint32)
    bits = lax.bitcast_convert_type(value, np.dtype(f"u{kind.itemsize}"))
    return bits.astype(np.uint32) if kind.itemsize < 4 else bits


def _numbers(bits: Array, kind: np.dtype) -> Array:
    """What `_bits` was given."""
    from jax import lax

    if kind.kind in "biu":
        return bits.astype(kind)
    return lax.bitcast_convert_type(bits.astype(np.dtype(f"u{kind.itemsize}")), kind)


# ---- reducing ------------------------------------------------------------------------------------

_TYPES = "T: {float, half, double, int32, int64}"
_GROUP = "group_size: int, group_key: int, instance_key: int"
_HINT = 'communication_hint: string = "auto"'


def _product(value: Array) -> Array:
    from jax import lax

    found = lax.all_gather(value, AXIS)
    total = found[0]
    for i in range(1, current().size):
        total = total * found[i]
    return total


def _merged(value: Array, merge_op: str) -> Array:
    from jax import lax

    if merge_op == "Mul":
        return _product(value)
    return {"Add": lax.psum, "Max": lax.pmax, "Min": lax.pmin}[merge_op](value, AXIS)


@_between_processes(
    "CollectiveReduce",
    "input: T",
    f'{_TYPES}, {_GROUP}, merge_op: {{"Min", "Max", "Mul", "Add"}}, final_op: {{"Id", "Div"}},'
    f" subdiv_offsets: list(int), wait_for: list(int) = [], {_HINT}",
    s.unchanged,
)
def reduce_(
    xp: Any, input: Array, after: Array, *, merge_op: str, final_op: str
) -> tuple[Array, Array]:
    from jax import lax

    total = _merged(_held(xp, input, after), merge_op)
    if final_op == "Div":  # as C divides, also whole numbers
        total = lax.div(total, xp.full_like(total, current().size))
    return _with_token(xp, total, after)


# ---- handing on ----------------------------------------------------------------------------------


def _gathered(c: ShapeContext) -> Any:
    dims = s.with_rank_at_least(c.dims(0), 1)
    if dims is None:
        return None
    return (None if dims[0] is None else dims[0] * c.attr("group_size"), *dims[1:])


_SHAPED = f"{_TYPES}, {_GROUP}, shape: shape, {_HINT}"


@_between_processes("CollectiveGather", "input: T", _SHAPED, _gathered)
def gather_(xp: Any, input: Array, after: Array) -> tuple[Array, Array]:
    from jax import lax

    found = lax.all_gather(_held(xp, input, after), AXIS, tiled=True)
    return _with_token(xp, found, after)


def _sent(xp: Any, value: Array, after: Array) -> tuple[Array, Array]:
    """The value of the one process that has any; the others bring zeros. No bit of it changes."""
    from jax import lax

    found = _numbers(lax.psum(_bits(_held(xp, value, after)), AXIS), np.dtype(value.dtype))
    return _with_token(xp, found, after)


@_between_processes("CollectiveBcastSend", "input: T", _SHAPED, s.from_attr("shape"))
def send_(xp: Any, input: Array, after: Array, *, shape: Any) -> tuple[Array, Array]:
    try:
        s.merge(np.shape(input), shape)
    except ValueError:
        raise invalid(
            f"Shapes of the members of a collective differ: {s.show(np.shape(input))} and"
            f" {s.show(shape)}"
        ) from None
    return _sent(xp, input, after)


@_between_processes("CollectiveBcastRecv", "", _SHAPED, s.from_attr("shape"))
def receive_(xp: Any, after: Array, *, shape: Any, T: Any) -> tuple[Array, Array]:
    return _sent(xp, xp.zeros(shape, T.np_storage), after)


# ---- replicas of a TPU's program -----------------------------------------------------------------


def _groups(assignment: Array) -> list[list[int]]:
    return [[int(member) for member in group] for group in np.asarray(assignment)]


@_between_processes(
    "CrossReplicaSum", "input: T, group_assignment: int32", replicas.SUM_ATTRS, s.unchanged,
    static="group_assignment",
)  # fmt: skip
def cross_replica_sum_(
    xp: Any, input: Array, group_assignment: Array, after: Array
) -> tuple[Array, Array]:
    from jax import lax

    groups = _groups(group_assignment)
    found = lax.psum(_held(xp, input, after), AXIS, axis_index_groups=groups)
    return _with_token(xp, found, after)


@_between_processes(
    "AllToAll", "input: T, group_assignment: int32", replicas.SPLIT_ATTRS, replicas.exchanged,
    static="group_assignment",
)  # fmt: skip
def all_to_all_(
    xp: Any, input: Array, group_assignment: Array, after: Array, *, concat_dimension: int,
    split_dimension: int,
) -> tuple[Array, Array]:  # fmt: skip
    from jax import lax

    found = lax.all_to_all(
        _held(xp, input, after), AXIS, split_dimension, concat_dimension, tiled=True,
        axis_index_groups=_groups(group_assignment),
    )  # fmt: skip
    return _with_token(xp, found, after)


@_between_processes(
    "CollectivePermute", "input: T, source_target_pairs: int32", "T: numbertype", s.unchanged,
    static="source_target_pairs",
)  # fmt: skip
def permute_(
    xp: Any, input: Array, source_target_pairs: Array, after: Array
) -> tuple[Array, Array]:
    from jax import lax

    found = lax.ppermute(_held(xp, input, after), AXIS, _groups(source_target_pairs))
    return _with_token(xp, found, after)
