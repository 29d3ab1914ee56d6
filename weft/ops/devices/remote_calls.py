"""Calls of servers that are not of this cluster: strings go there, and strings come back."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from weft.core.errors import make_error
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST_STATE, NO_GRADIENT
from weft.ops.kit.shared import invalid
from weft.ops.kit.string_arrays import strings

_INPUTS = "address: string, method: string, request: string"
_ATTRS = 'protocol: string = "", fail_fast: bool = true, timeout_in_ms: int = 0'
_NO_LIMIT = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
_SETTINGS: dict[str, Any] = dict(inputs=_INPUTS, attrs=_ATTRS, traits=HOST_STATE | NO_GRADIENT)
_channels: dict[str, Any] = {}
_lock = threading.Lock()


def _channel(address: str) -> Any:
    """The connection to a server, kept for the next call."""
    import grpc

    with _lock:
        if address not in _channels:
            _channels[address] = grpc.insecure_channel(address, _NO_LIMIT)
        return _channels[address]


def _common_shape(c: s.ShapeContext) -> s.Dims:
    found: s.Dims = ()
    for i in range(3):
        dims = s.with_rank_at_most(c.dims(i), 1)
        if dims is None:
            return None
        found = s.merge(found, dims) if found and dims else found or dims
    return found


def _calls(address: Any, method: Any, request: Any) -> tuple[list[tuple[Any, ...]], Any]:
    """(address, method, request) of each call, and the shape of what they give."""
    shape: tuple[int, ...] = ()
    for name, value in (("address", address), ("method", method), ("request", request)):
        if np.ndim(value) > 1:
            raise invalid(f"{name} must be a scalar or vector.")
        if np.ndim(value) and shape and shape != np.shape(value):
            raise invalid(
                f"Input vector shapes don't match: {s.show(shape)} vs. {s.show(np.shape(value))}"
            )
        shape = np.shape(value) or shape
    parts = [np.broadcast_to(np.asarray(v, object), shape).reshape(-1) for v in
             (address, method, request)]  # fmt: skip
    return list(zip(*parts, strict=True)), shape


def _answers(
    calls: list[tuple[Any, ...]], protocol: str, fail_fast: bool, timeout_in_ms: int
) -> list[tuple[bytes, int, str]]:
    """(response, code, message) of each call; all are under way at once."""
    import grpc

    if not protocol:
        raise invalid("protocol must be non-empty.")
    if protocol != "grpc":
        raise invalid(f"The protocol {protocol} was not recognized.")
    limit = timeout_in_ms / 1000 if timeout_in_ms > 0 else None
    futures = [
        _channel(address.decode())
        .unary_unary(method.decode())
        .future(request, timeout=limit, wait_for_ready=not fail_fast)
        for address, method, request in calls
    ]
    found = []
    for future in futures:
        try:
            found.append((future.result(), 0, ""))
        except grpc.RpcError as error:
            found.append((b"", error.code().value[0], error.details() or ""))
    return found


def _texts(values: list[bytes], shape: tuple[int, ...]) -> Any:
    return strings(values, shape)


@op("Rpc", outputs="response: string", shape=_common_shape, **_SETTINGS)
def rpc_(
    xp: Any, address: Any, method: Any, request: Any, *, protocol: str, fail_fast: bool,
    timeout_in_ms: int,
) -> Any:  # fmt: skip
    calls, shape = _calls(address, method, request)
    answers = _answers(calls, protocol, fail_fast, timeout_in_ms)
    for _, code, message in answers:
        if code:
            raise make_error(None, None, message, code)
    return _texts([answer for answer, _, _ in answers], shape)


@op(
    "TryRpc", outputs="response: string, status_code: int32, status_message: string",
    shape=lambda c: [_common_shape(c)] * 3, **_SETTINGS,
)  # fmt: skip
def try_rpc_(
    xp: Any, address: Any, method: Any, request: Any, *, protocol: str, fail_fast: bool,
    timeout_in_ms: int,
) -> list[Any]:  # fmt: skip
    calls, shape = _calls(address, method, request)
    answers = _answers(calls, protocol, fail_fast, timeout_in_ms)
    codes = np.array([code for _, code, _ in answers], np.int32).reshape(shape)
    messages = _texts([message.encode() for _, _, message in answers], shape)
    return [_texts([answer for answer, _, _ in answers], shape), codes, messages]
