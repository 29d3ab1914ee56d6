"""The operations before or behind others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.graph_editor.selecting import make_list_of_op, make_list_of_t


def _seeds(seed_ops: Any, outputs: bool) -> list[Operation]:
    """Seeds as operations: for a tensor, its consumers going forward, its op going back."""
    flat = seed_ops if isinstance(seed_ops, (list, tuple, set)) else [seed_ops]
    found: dict[Operation, None] = {}
    for each in flat:
        if isinstance(each, Tensor):
            for op in each.consumers() if outputs else [each.op]:
                found.setdefault(op)
        else:
            for op in make_list_of_op(each):
                found.setdefault(op)
    return list(found)


def _walk(
    seeds: list[Operation], within: Any, within_fn: Any, neighbours: Callable[[Operation], Any]
) -> list[Operation]:
    members = None if within is None else set(make_list_of_op(within))

    def allowed(op: Operation) -> bool:
        return (members is None or op in members) and (within_fn is None or within_fn(op))

    found: dict[Operation, None] = {}
    wave = [op for op in seeds if allowed(op)]
    while wave:
        following: dict[Operation, None] = {}
        for op in wave:
            if op not in found:
                found[op] = None
                following.update((o, None) for o in neighbours(op) if o not in found and allowed(o))
        wave = list(following)
    return list(found)


def get_forward_walk_ops(
    seed_ops: Any, inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
    stop_at_ts: Any = (), control_outputs: Any = None,
) -> list[Operation]:  # fmt: skip
    """The operations that depend on the seeds, nearest first; no further than `stop_at_ts`."""
    seeds, stops = _seeds(seed_ops, True), set(make_list_of_t(stop_at_ts))
    controlled: dict[Operation, list[Operation]] = {}
    if control_outputs:
        for op in seeds[0].graph.get_operations() if seeds else []:
            for before in op.control_inputs:
                controlled.setdefault(before, []).append(op)

    def after(op: Operation) -> list[Operation]:
        taken = [c for t in op.outputs if t not in stops for c in t.consumers()]
        return taken + controlled.get(op, [])

    found = _walk(seeds, within_ops, within_ops_fn, after)
    return found if inclusive else [op for op in found if op not in set(seeds)]


def get_backward_walk_ops(
    seed_ops: Any, inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
    stop_at_ts: Any = (), control_inputs: bool = False,
) -> list[Operation]:  # fmt: skip
    """The operations that the seeds depend on, nearest first; no further than `stop_at_ts`."""
    seeds, stops = _seeds(seed_ops, False), set(make_list_of_t(stop_at_ts))

    def before(op: Operation) -> list[Operation]:
        made = [tensor.op for tensor in op.inputs if tensor not in stops]
        return made + (op.control_inputs if control_inputs else [])

    found = _walk(seeds, within_ops, within_ops_fn, before)
    return found if inclusive else [op for op in found if op not in set(seeds)]


def get_walks_intersection_ops(
    forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool = True,
    backward_inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
    control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None,
) -> list[Operation]:  # fmt: skip
    """Operations on the way from the forward seeds to the backward seeds."""
    forward = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn,
        control_outputs=control_outputs or control_ios,
    )  # fmt: skip
    behind = set(get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, within_ops, within_ops_fn,
        control_inputs=bool(control_inputs or control_ios),
    ))  # fmt: skip
    return [op for op in forward if op in behind]


def get_walks_union_ops(
    forward_seed_ops: Any, backward_seed_ops: Any, forward_inclusive: bool = True,
    backward_inclusive: bool = True, within_ops: Any = None, within_ops_fn: Any = None,
    control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None,
) -> list[Operation]:  # fmt: skip
    """Operations that depend on the forward seeds, or that the backward seeds depend on."""
    forward = get_forward_walk_ops(
        forward_seed_ops, forward_inclusive, within_ops, within_ops_fn,
        control_outputs=control_outputs or control_ios,
    )  # fmt: skip
    behind = get_backward_walk_ops(
        backward_seed_ops, backward_inclusive, within_ops, within_ops_fn,
        control_inputs=bool(control_inputs or control_ios),
    )  # fmt: skip
    return list(dict.fromkeys([*forward, *behind]))


def get_within_boundary_ops(
    ops: Any, seed_ops: Any, boundary_ops: Any = (), inclusive: bool = True,
    control_inputs: bool = False, control_outputs: Any = None, control_ios: Any = None,
) -> list[Operation]:  # fmt: skip
    """The operations of `ops` that are reached from the seeds without passing a boundary."""
    edge = set(make_list_of_op(boundary_ops))
    members = set(make_list_of_op(ops))

    def around(op: Operation) -> list[Operation]:
        if op in edge:
            return []
        taken = [c for t in op.outputs for c in t.consumers()]
        return [t.op for t in op.inputs] + taken + (op.control_inputs if control_inputs else [])

    found = _walk(_seeds(seed_ops, False), members, None, around)
    return found if inclusive else [op for op in found if op not in edge]
