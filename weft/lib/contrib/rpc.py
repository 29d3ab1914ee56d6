"""tf.contrib.rpc: calls of services over gRPC, as operations."""

from __future__ import annotations

from typing import Any

from weft.graph.op_def import raw


def _called(operation: Any, address: Any, method: Any, request: Any, **options: Any) -> Any:
    return operation(address, method, request, **options)


def rpc(
    address: Any,
    method: Any,
    request: Any,
    protocol: str = "",
    fail_fast: bool = True,
    timeout_in_ms: int = 0,
    name: str | None = None,
) -> Any:
    """The responses of a service to serialized requests; arguments broadcast to one shape.

    A call that fails raises its error. `fail_fast`: so does a server that cannot be reached.
    """
    options = {"protocol": protocol, "fail_fast": fail_fast, "timeout_in_ms": timeout_in_ms}
    return _called(raw.Rpc, address, method, request, name=name, **options)


def try_rpc(
    address: Any,
    method: Any,
    request: Any,
    protocol: str = "",
    fail_fast: bool = True,
    timeout_in_ms: int = 0,
    name: str | None = None,
) -> Any:
    """(responses, codes of status, messages of errors); a call that fails raises nothing."""
    options = {"protocol": protocol, "fail_fast": fail_fast, "timeout_in_ms": timeout_in_ms}
    return _called(raw.TryRpc, address, method, request, name=name, **options)
