"""Edges of a graph changed in place."""

from __future__ import annotations

from typing import Any

from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.graph_editor.selecting import make_list_of_op, make_list_of_t
from weft.lib.contrib.graph_editor.subgraph import make_view


def _edges(tensor: Tensor, can_modify: Any, cannot_modify: Any) -> list[tuple[Operation, int]]:
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    refused = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))
    takers = [op for op in dict.fromkeys(tensor.consumers())
              if (allowed is None or op in allowed) and op not in refused]  # fmt: skip
    return [(op, i) for op in takers for i, each in enumerate(op.inputs) if each is tensor]


def _reroute(ts0: Any, ts1: Any, both: bool, can_modify: Any, cannot_modify: Any) -> int:
    pairs = list(zip(make_list_of_t(ts0), make_list_of_t(ts1), strict=True))
    count = 0
    for new, old in pairs:
        if not new.dtype.is_compatible_with(old.dtype.base_dtype):
            raise ValueError(f"Dtypes {new.dtype} and {old.dtype} are not compatible")
        there = _edges(old, can_modify, cannot_modify)
        back = _edges(new, can_modify, cannot_modify) if both else []
        for op, i in there:
            op._update_input(i, new)
        for op, i in back:
            op._update_input(i, old)
        count += len(there) + len(back)
    return count


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Who takes one of `ts1` takes the one of `ts0` from now on; returns how many edges changed."""
    return _reroute(ts0, ts1, False, can_modify, cannot_modify)


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Who takes one of `ts0` takes the one of `ts1`, and the other way round."""
    return _reroute(ts0, ts1, True, can_modify, cannot_modify)


def reroute_inputs(sgv0: Any, sgv1: Any) -> Any:
    """The second part takes what the first one takes."""
    first, second = make_view(sgv0), make_view(sgv1)
    _reroute(first.inputs, second.inputs, False, second.ops, None)
    return first, make_view(second.ops)


def swap_inputs(sgv0: Any, sgv1: Any) -> Any:
    """Each of two parts takes what the other one took."""
    first, second = make_view(sgv0), make_view(sgv1)
    _reroute(first.inputs, second.inputs, True, [*first.ops, *second.ops], None)
    return make_view(first.ops), make_view(second.ops)


def reroute_outputs(sgv0: Any, sgv1: Any) -> Any:
    """Who takes from the second part takes from the first one."""
    first, second = make_view(sgv0), make_view(sgv1)
    _reroute(first.outputs, second.outputs, False, None, [*first.ops, *second.ops])
    return make_view(first.ops), make_view(second.ops)


def swap_outputs(sgv0: Any, sgv1: Any) -> Any:
    """Who takes from one of two parts takes from the other one."""
    first, second = make_view(sgv0), make_view(sgv1)
    _reroute(first.outputs, second.outputs, True, None, [*first.ops, *second.ops])
    return make_view(first.ops), make_view(second.ops)


def reroute_ios(sgv0: Any, sgv1: Any) -> Any:
    """The first part takes the place of the second one."""
    reroute_inputs(sgv1, sgv0)
    return reroute_outputs(sgv0, sgv1)


def swap_ios(sgv0: Any, sgv1: Any) -> Any:
    """Two parts change places."""
    swap_inputs(sgv0, sgv1)
    return swap_outputs(sgv0, sgv1)


def _checked_control(op: Operation, cops: Any, waits: bool) -> list[Operation]:
    """The operations, all of which `op` waits for, or none."""
    listed = make_list_of_op(cops)
    for each in listed:
        if (each in op.control_inputs) != waits:
            how = "not" if waits else "already"
            raise ValueError(f"{each.name} is {how} a control_input of {op.name}")
    return listed


def add_control_inputs(op: Operation, cops: Any) -> None:
    """`op` waits for `cops`; ValueError if it does already."""
    op._add_control_inputs(_checked_control(op, cops, waits=False))


def remove_control_inputs(op: Operation, cops: Any) -> None:
    """`op` does not wait for `cops` any more; ValueError if it did not."""
    removed = _checked_control(op, cops, waits=True)
    kept = [each for each in op.control_inputs if each not in removed]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)
