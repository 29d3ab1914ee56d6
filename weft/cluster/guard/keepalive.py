"""Sockets that notice when the other end is gone without having closed the connection."""

from __future__ import annotations

import socket

from weft.core import flags

_PROBES = 3


def keep_alive(connection: socket.socket) -> None:
    """After WEFT_HEALTH seconds of silence the kernel asks, and as long again it waits.

    The same goes for what was sent and is not acknowledged. Then all calls on the socket fail.
    """
    limit = int(flags.HEALTH.value)
    pause = max(1, limit // _PROBES)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", limit),
        ("TCP_KEEPALIVE", limit),  # what macOS calls it
        ("TCP_KEEPINTVL", pause),
        ("TCP_KEEPCNT", _PROBES),
        ("TCP_USER_TIMEOUT", 2000 * limit),  # milliseconds
    ):
        option = getattr(socket, name, None)
        if option is not None:
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
