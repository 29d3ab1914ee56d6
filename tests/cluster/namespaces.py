"""Machines that are none: network namespaces, joined by cables that can be cut and can be slow.

Each host is a network namespace with an address of its own; its network card is a TAP device, whose
frames are read and written by a thread of this process: the switch. It holds frames back for as
long as the cable is, and drops those of a cable that is cut without a word to anybody. That is
what `tc netem` does, on kernels that have it. All it takes is Linux, `unshare`, `nsenter`, `ip` and
/dev/net/tun.
"""

from __future__ import annotations

import heapq
import itertools
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from typing import Any

_TUNSETIFF = 0x400454CA
_TAP, _NO_INFO = 0x0002, 0x1000
_MOST_BYTES = 65536
_READY = b"."


def _user_flags() -> list[str]:
    """Root needs no other user to be; everybody else becomes root in a namespace."""
    return [] if os.geteuid() == 0 else ["--map-root-user"]


# What runs in a new namespace: makes the network card, hands it over, and stays.
_HOST = f"""
import fcntl, socket, struct, subprocess, sys, os
number, link = int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))
tap = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tap, {_TUNSETIFF}, struct.pack("16sH22x", b"eth0", {_TAP | _NO_INFO}))
for command in (
    "link set lo up",
    f"link set eth0 address 02:00:00:00:00:{{number:02x}}",
    f"addr add 10.77.0.{{number}}/24 dev eth0",
    "link set eth0 up",
):
    subprocess.run(["ip", *command.split()], check=True)
socket.send_fds(link, [b"."], [tap])
os.close(tap)
link.recv(1)
"""


class Host:
    """A namespace. It lasts until `close`."""

    def __init__(self, number: int) -> None:
        self.number, self.address = number, f"10.77.0.{number}"
        self._ours, theirs = socket.socketpair()
        fd = theirs.fileno()
        command = ["unshare", *_user_flags(), "--net", sys.executable, "-c", _HOST]
        self._process = subprocess.Popen([*command, str(number), str(fd)], pass_fds=[fd])
        theirs.close()
        self._ours.settimeout(20)
        said, found, _, _ = socket.recv_fds(self._ours, 1, 1)
        if said != _READY:
            self._process.wait()
            raise OSError("a network namespace cannot be made here")
        self.tap = found[0]
        os.set_blocking(self.tap, False)

    @property
    def prefix(self) -> list[str]:
        """What to put before a command that is to run here."""
        user = ["--user", "--preserve-credentials"] if _user_flags() else []
        return ["nsenter", "--target", str(self._process.pid), *user, "--net"]

    def close(self) -> None:
        os.close(self.tap)
        self._ours.close()
        self._process.wait()


class Network:
    """Hosts 1 to `count`, and a switch between them. Cables start fast and whole."""

    def __init__(self, count: int) -> None:
        self.hosts: list[Host] = []
        self._delays: dict[frozenset[int], float] = {}
        self._cut: set[frozenset[int]] = set()
        self.dropped = self.passed = 0
        self._over = False
        try:
            for number in range(1, count + 1):
                self.hosts.append(Host(number))
        except BaseException:
            self.close()
            raise
        self._thread = threading.Thread(target=self._switch)
        self._thread.start()

    # ---- what tests do ----

    def cut(self, host: int, other: int | None = None) -> None:
        """Nothing gets from one host to the other, or to any other, and back."""
        self._cut.update(self._links(host, other))

    def mend(self, host: int, other: int | None = None) -> None:
        self._cut.difference_update(self._links(host, other))

    def delay(self, seconds: float, host: int, other: int | None = None) -> None:
        """How long everything takes from one host to the other, or to all others; and back."""
        self._delays.update(dict.fromkeys(self._links(host, other), seconds))

    def _links(self, host: int, other: int | None) -> list[frozenset[int]]:
        others = [each.number for each in self.hosts] if other is None else [other]
        return [frozenset((host, each)) for each in others if each != host]

    def close(self) -> None:
        self._over = True
        if hasattr(self, "_thread"):
            self._thread.join()
        for host in self.hosts:
            host.close()

    # ---- the switch ----

    def _switch(self) -> None:
        """Frames come in at once, and go out when they are due."""
        taps = {host.tap: host for host in self.hosts}
        poll = select.poll()
        for tap in taps:
            poll.register(tap, select.POLLIN)
        due: list[tuple[float, int, int, bytes]] = []
        count = itertools.count()
        while not self._over:
            pause = min(50.0, max(0.0, due[0][0] - time.monotonic()) * 1000) if due else 50.0
            for tap, _ in poll.poll(pause):
                self._take(taps[tap], due, count)
            while due and due[0][0] <= time.monotonic():
                _, _, tap, frame = heapq.heappop(due)
                _write(tap, frame)

    def _take(self, source: Host, due: list[Any], count: Any) -> None:
        try:
            frame = os.read(source.tap, _MOST_BYTES)
        except OSError:
            return
        # The last byte of the address is the host's number; an odd first byte means everybody.
        everybody = frame[0] & 1
        for host in self.hosts:
            if host is source or not (everybody or frame[5] == host.number):
                continue
            link = frozenset((source.number, host.number))
            if link in self._cut:
                self.dropped += 1
                continue
            self.passed += 1
            when = time.monotonic() + self._delays.get(link, 0.0)
            heapq.heappush(due, (when, next(count), host.tap, frame))


def _write(tap: int, frame: bytes) -> None:
    try:
        os.write(tap, frame)
    except OSError:
        return  # its queue is full, or the host is going: frames get lost


def why_not() -> str:
    """Why there can be no such networks here; "" if there can."""
    missing = [each for each in ("unshare", "nsenter", "ip") if shutil.which(each) is None]
    if sys.platform != "linux" or missing:
        return f"no {', '.join(missing) or 'Linux'}"
    if not os.path.exists("/dev/net/tun"):
        return "no /dev/net/tun"
    try:
        Network(1).close()
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return ""


def enter(hosts: str, name: str, *command: str) -> None:
    """Becomes `command`, on the host that `hosts`, a JSON object of prefixes, has under `name`."""
    prefix = json.loads(hosts)[name]
    os.execvp(prefix[0], [*prefix, *command])


if __name__ == "__main__":
    enter(*sys.argv[1:])
