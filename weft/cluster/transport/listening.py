"""Whether a server can listen where its cluster says, and why not."""

from __future__ import annotations

import errno
import os
import socket
import stat


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


def socket_obstacle(path: str) -> str:
    """The same, of a socket of the file system. One that a server has left behind is no obstacle.

    Servers take the place of a socket that is there: the one before would lose its clients.
    """
    try:
        if not stat.S_ISSOCK(os.stat(path).st_mode):
            return "there is a file of that name"
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(path)
        return "another process is using the socket"
    except (FileNotFoundError, ConnectionRefusedError):
        return "" if os.path.isdir(os.path.dirname(path) or ".") else "its folder is not there"
    except OSError as error:
        return f"it cannot be used ({error.strerror or error})"


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
