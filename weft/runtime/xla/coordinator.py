"""A process of its own where those of a group meet: `python -m weft.runtime.xla.coordinator SIZE`.

XLA ends every process of a group when the one that the others meet at is gone. So in a group whose
processes may come and go, it is none of them. It writes its port, and lives until its input ends.
"""

from __future__ import annotations

import os
import socket
import sys
from typing import Any

ALIVE_SECONDS = 60  # without a sign of life, a process counts as gone


def main(size: int) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # only what is fatal
    service, port = _listen(size)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    del service


def _listen(size: int) -> tuple[Any, int]:
    """XLA's service at a free port. A process that is gone is no error to the others in it: their
    collectives tell them."""
    from jaxlib import _jax

    with socket.socket() as found:
        found.bind(("localhost", 0))
        port = int(found.getsockname()[1])
    service = _jax.get_distributed_runtime_service(
        f"localhost:{port}", size, heartbeat_timeout=ALIVE_SECONDS, recoverable=True
    )
    return service, port


if __name__ == "__main__":
    main(int(sys.argv[1]))
