"""tensorflow.python.ops.collective_ops: reductions and broadcasts among a group, by keys."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import as_shape
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor


def all_reduce(
    t: Tensor,
    group_size: int,
    group_key: int,
    instance_key: int,
    merge_op: str,
    final_op: str,
    subdiv_offsets: Any = (0,),
    communication_hint: str = "auto",
) -> Any:
    """What `merge_op` makes of the tensors of all members, and `final_op` of that."""
    _check_device(t)
    _check_size(group_size, "all_reduce")
    return raw.CollectiveReduce(
        t, group_size=group_size, group_key=group_key, instance_key=instance_key,
        merge_op=merge_op, final_op=final_op, subdiv_offsets=list(subdiv_offsets),
        communication_hint=communication_hint,
    )  # fmt: skip


def all_gather(
    t: Tensor, group_size: int, group_key: int, instance_key: int, communication_hint: str = "auto"
) -> Any:
    """The tensors of all members, one after the other."""
    _check_device(t)
    _check_size(group_size, "all_gather")
    return raw.CollectiveGather(
        t, shape=[0], group_size=group_size, group_key=group_key, instance_key=instance_key,
        communication_hint=communication_hint,
    )  # fmt: skip


def broadcast_send(
    t: Tensor, shape: Any, dtype: Any, group_size: int, group_key: int, instance_key: int,
    communication_hint: str = "auto",
) -> Any:  # fmt: skip
    """Hands `t` to the other members."""
    _check_size(group_size, "broadcast_send")
    shape = as_shape(shape)
    if t.shape != shape:
        raise ValueError("Shape of broadcast_send tensor not equal to delcared shape")
    if t.dtype != dtype:
        raise ValueError("Type of broadcast_send tensor not equal to declared type")
    return raw.CollectiveBcastSend(
        t, shape=shape, group_size=group_size, group_key=group_key, instance_key=instance_key,
        communication_hint=communication_hint,
    )  # fmt: skip


def broadcast_recv(
    shape: Any, dtype: Any, group_size: int, group_key: int, instance_key: int,
    communication_hint: str = "auto",
) -> Any:  # fmt: skip
    """What the member that sends hands out."""
    _check_size(group_size, "broadcast_send")
    return raw.CollectiveBcastRecv(
        shape=as_shape(shape), T=dtype, group_size=group_size, group_key=group_key,
        instance_key=instance_key, communication_hint=communication_hint,
    )  # fmt: skip


def _check_device(t: Tensor) -> None:
    if not t.op.device:
        raise ValueError("Device assignment required for collective ops")


def _check_size(group_size: int, function: str) -> None:
    if group_size <= 1:
        raise ValueError(f"Parameter group_size to {function} must be at least 2.")
