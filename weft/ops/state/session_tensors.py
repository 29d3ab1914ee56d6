"""Tensors that stay in a session between steps, under a handle: "node;number;device"."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.compat import as_str_any
from weft.core.device_name import canonical_name
from weft.graph import shape_fn as s
from weft.graph.graph import colocate_with, device
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST_STATE, NO_GRADIENT
from weft.ops.array.array import placeholder

_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
SESSION_TENSORS = "session tensors"  # the kind of resource they are kept in
_numbers = itertools.count()


def kept_tensors(resources: Any) -> dict[str, Any]:
    """Handle -> value, of one session."""
    return resources.get_or_make_private("", SESSION_TENSORS, "all", dict)


def _keep(ctx: Any, value: Any) -> str:
    handle = f"{ctx.node.name};{next(_numbers)};{ctx.node.device or _DEVICE}"
    kept_tensors(ctx.resources)[handle] = value
    return handle


@op(
    "GetSessionHandle", inputs="value: T", outputs="handle: string", attrs="T: type",
    shape=s.scalar, traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def get_session_handle_(xp: Any, ctx: Any, value: Any) -> Any:
    return np.array(_keep(ctx, value).encode(), object)


@op(
    "GetSessionHandleV2", inputs="value: T", outputs="handle: resource", attrs="T: type",
    shape=s.scalar, traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def get_session_handle_v2_(xp: Any, ctx: Any, value: Any) -> Any:
    return _keep(ctx, value)


def _of_handle(c: s.ShapeContext) -> list[s.Dims]:
    s.with_rank(c.dims(0), 0)
    return s.unknown(c)


@op(
    "GetSessionTensor", inputs="handle: string", outputs="value: dtype", attrs="dtype: type",
    shape=_of_handle, traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def get_session_tensor_(xp: Any, ctx: Any, handle: Any) -> Any:
    name = _text(handle)
    kept = kept_tensors(ctx.resources)
    if name not in kept:
        raise _unknown(name)
    return kept[name]


@op(
    "DeleteSessionTensor", inputs="handle: string", shape=_of_handle,
    traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def delete_session_tensor_(xp: Any, ctx: Any, handle: Any) -> None:
    name = _text(handle)
    if kept_tensors(ctx.resources).pop(name, None) is None:
        raise _unknown(name)


def _text(handle: Any) -> str:
    return as_str_any(handle.item() if isinstance(handle, np.ndarray) else handle)


def _unknown(name: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(
        None, None, f"The tensor with handle '{name}' is not in the session store."
    )


def get_session_handle(data: Any, name: str | None = None) -> Tensor:
    """Keeps `data` in the session; running the result gives a handle to it."""
    if not isinstance(data, Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with colocate_with(data):
        return raw.GetSessionHandle(data, name=name)


def get_session_tensor(handle: Any, dtype: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """A placeholder to feed handles like `handle` to, and the tensor that such a handle means."""
    with device(device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, raw.GetSessionTensor(holder, dtype=dtype, name=name)


def delete_session_tensor(handle: Any, name: str | None = None) -> tuple[Tensor, Operation]:
    """A placeholder to feed a handle to, and an operation that forgets its tensor."""
    with device(device_of(handle)):
        holder = placeholder(dtypes.string)
        return holder, raw.DeleteSessionTensor(holder, name=name)


def device_of(handle: Any) -> str:
    """The device that holds the tensor of a handle."""
    return canonical_name(as_str_any(handle).rpartition(";")[2])
