"""Edges of a graph changed in place."""

from __future__ import annotations

from typing import Any

from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.graph_editor.selecting import make_list_of_op, make_list_of_t
from weft.lib.contrib.graph_editor.subgraph import SubGraphView, make_view


def _edges(tensor: Tensor, can_modify: Any, cannot_modify: Any) -> list[tuple[Operation, int]]:
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    refused = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))
    takers = [op for op in dict.fromkeys(tensor.consumers())
              if (allowed is None or op in allowed) and op not in refused]  # fmt: skip
    return [(op, i) for op in takers for i, each in enumerate(op.inputs) if each is tensor]


def _pairs(ts0: Any, ts1: Any) -> list[tuple[Tensor, Tensor]]:
    """The tensors of two lists side by side, once they are known to fit."""
    first, second = make_list_of_t(ts0), make_list_of_t(ts1)
    if len(first) != len(second):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(first)} != {len(second)}")
    found = list(zip(first, second, strict=True))
    for new, old in found:
        if not new.dtype.is_compatible_with(old.dtype.base_dtype):
            raise ValueError(f"Dtypes {new.dtype} and {old.dtype} are not compatible.")
        if not new.shape.is_compatible_with(old.shape):
            raise ValueError(f"Shapes {new.shape} and {old.shape} are not compatible.")
    return found


def _reroute(ts0: Any, ts1: Any, both: bool, can_modify: Any, cannot_modify: Any) -> int:
    count = 0
    for new, old in _pairs(ts0, ts1):
        there = _edges(old, can_modify, cannot_modify)
        back = _edges(new, can_modify, cannot_modify) if both else []
        for op, i in there:
            op._update_input(i, new)
        for op, i in back:
            op._update_input(i, old)
        count += len(there) + len(back)
    return count


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Makes users of `ts1` take the tensors of `ts0`; returns how many edges changed."""
    return _reroute(ts0, ts1, False, can_modify, cannot_modify)


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Makes users of `ts0` take the tensors of `ts1`, and the other way round."""
    return _reroute(ts0, ts1, True, can_modify, cannot_modify)


def reroute_inputs(sgv0: Any, sgv1: Any) -> Any:
    """Makes the second part take the inputs of the first one."""
    first, second = make_view(sgv0), make_view(sgv1)
    _reroute(first.inputs, second.inputs, False, _takers(first, second), None)
    second._take(first.inputs, first.passthroughs)
    return first, second


def swap_inputs(sgv0: Any, sgv1: Any) -> Any:
    """Each of two parts takes what the other one took."""
    first, second = make_view(sgv0), make_view(sgv1)
    _reroute(first.inputs, second.inputs, True, _takers(first, second), None)
    taken = first.inputs, first.passthroughs
    first._take(second.inputs, second.passthroughs)
    second._take(*taken)
    return first, second


def _takers(*parts: SubGraphView) -> list[Operation]:
    """The operations of the parts, and those that take what the parts only pass on."""
    passed = [tensor for part in parts for tensor in part.passthroughs]
    return [op for part in parts for op in part.ops] + [
        op for tensor in passed for op in tensor.consumers()
    ]


def reroute_outputs(sgv0: Any, sgv1: Any) -> Any:
    """Makes users of the second part's outputs take those of the first one."""
    first, second = make_view(sgv0), make_view(sgv1)
    _reroute(first.outputs, second.outputs, False, None, [*first.ops, *second.ops])
    return first, second


def swap_outputs(sgv0: Any, sgv1: Any) -> Any:
    """Makes users of the outputs of each of two parts take those of the other one."""
    first, second = make_view(sgv0), make_view(sgv1)
    _reroute(first.outputs, second.outputs, True, None, [*first.ops, *second.ops])
    return first, second


def reroute_ios(sgv0: Any, sgv1: Any) -> Any:
    """Reroutes the outputs and the inputs of the second part to those of the first one."""
    reroute_outputs(sgv0, sgv1)
    return reroute_inputs(sgv0, sgv1)


def swap_ios(sgv0: Any, sgv1: Any) -> Any:
    """Two parts change places."""
    swap_outputs(sgv0, sgv1)
    return swap_inputs(sgv0, sgv1)


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
