"""Whether a server can listen where its cluster says, and why not."""

from __future__ import annotations

import errno
import socket


def obstacle(host: str, port: int) -> str:
    """The reason why no server can listen at a port; empty if one can.

    Every address of the host has to be free. gRPC is content with one of them, and clients would
    find another process at the others.
    """
    try:
        found = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except OSError as error:
        return f"the host has no address ({error.strerror})"
    failed = {_failure(family, address) for family, _, _, _, address in found}
    if errno.EADDRINUSE in failed:
        return "another process is using the port"
    if errno.EACCES in failed:
        return "this user may not use the port"
    if 0 not in failed:
        return "this machine does not have that address"
    return ""


def _failure(family: int, address: tuple[object, ...]) -> int:
    """The errno of binding a socket; 0: it succeeds. Connections of the past do not count."""
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind(address)
    except OSError as error:
        return error.errno or errno.EADDRNOTAVAIL
    return 0
