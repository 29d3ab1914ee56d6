"""Send and receive: the ends of an edge that was cut where its nodes are on different devices.

Users never make these; `passes/partition.py` does. The executor runs them against the rendezvous of
the step. TensorFlow's own names, so that its tools read a partition.
"""

from __future__ import annotations

from typing import Any

from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op
from weft.graph.traits import BLOCKING, HOST_STATE, Traits

_ENDS = (
    "tensor_name: string, send_device: string, send_device_incarnation: int, recv_device: string,"
    " client_terminated: bool = false"
)
_TRANSFER = HOST_STATE | BLOCKING


def _send(name: str) -> OpDef:
    traits = _TRANSFER | Traits(transfer="send")
    return op(name, inputs="tensor: T", attrs=f"T: type, {_ENDS}", shape=s.none, traits=traits)(
        None
    )


def _recv(name: str) -> OpDef:
    traits, attrs = _TRANSFER | Traits(transfer="recv"), f"tensor_type: type, {_ENDS}"
    return op(name, outputs="tensor: tensor_type", attrs=attrs, shape=s.unknown, traits=traits)(
        None
    )


SEND, RECV = _send("_Send"), _recv("_Recv")
HOST_SEND, HOST_RECV = _send("_HostSend"), _recv("_HostRecv")


def key(attrs: dict[str, Any]) -> str:
    """The rendezvous key of a transfer, but for the frame and iteration at its end."""
    incarnation = attrs["send_device_incarnation"] & (1 << 64) - 1
    ends = (attrs["send_device"], f"{incarnation:016x}", attrs["recv_device"], attrs["tensor_name"])
    return ";".join(ends)
