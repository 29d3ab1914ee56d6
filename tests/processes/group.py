"""Runs functions in several processes of one group: `group.py SIZE FOLDER FUNCTION ...`.

weft and jax are imported once, and the processes are forked from there: what takes most of the time
of a small program is done once. Each process writes what its functions return, or the error they
raise, to a file of FOLDER.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TIMEOUT = int(os.environ.get("GROUP_TIMEOUT", "240"))


def run_group(folder: Path, size: int, *functions: str, **environment: str) -> list[list[Any]]:
    """What `functions` ("module:name") return, one list for each process; errors are raised."""
    results = attempt_group(folder, size, *functions, **environment)
    for rank, found in enumerate(results):
        if isinstance(found, str):
            raise AssertionError(f"process {rank} failed:\n{found}")
    return [found for found in results if not isinstance(found, str)]


def attempt_group(folder: Path, size: int, *functions: str, **environment: str) -> list[Any]:
    """As `run_group`, but a process that has failed gives the text of its error."""
    command = [sys.executable, __file__, str(size), str(folder), *functions]
    variables = {**os.environ, **environment, "PYTHONPATH": str(ROOT)}
    limit = int(variables.get("GROUP_TIMEOUT", TIMEOUT)) + 30
    done = subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=limit, check=False
    )
    return [_result(folder / str(rank), done.stderr) for rank in range(size)]


def _result(path: Path, otherwise: str) -> Any:
    return pickle.loads(path.read_bytes()) if path.exists() else f"no result; {otherwise}"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("localhost", 0))
        return int(found.getsockname()[1])


def _main(size: int, folder: Path, functions: list[str]) -> None:
    import jax  # noqa: F401

    import weft.runtime.xla.processes  # noqa: F401

    address = f"localhost:{free_port()}"
    children = [_start(rank, size, address, folder, functions) for rank in range(size)]
    deadline = time.monotonic() + TIMEOUT
    while children and time.monotonic() < deadline:
        children = [pid for pid in children if os.waitpid(pid, os.WNOHANG) == (0, 0)]
        time.sleep(0.05)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _start(rank: int, size: int, address: str, folder: Path, functions: list[str]) -> int:
    from weft.core.processes import Place

    pid = os.fork()
    if pid:
        return pid
    faulthandler.dump_traceback_later(TIMEOUT - 5, exit=True)
    os.environ.update(Place(rank, size, rank, size, address).environment())
    code = 1
    try:
        found: Any = [_call(name) for name in functions]
        code = 0
    except BaseException:
        found = traceback.format_exc()
    part = folder / f"{rank}.part"
    part.write_bytes(pickle.dumps(found))
    part.rename(folder / str(rank))
    if code == 0:
        from weft.runtime.xla.processes import leave

        leave()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _call(name: str) -> Any:
    module, _, function = name.partition(":")
    sys.path.insert(0, str(ROOT))
    start = time.monotonic()
    found = getattr(importlib.import_module(module), function)()
    print(f"{os.environ['WEFT_RANK']} {name} {time.monotonic() - start:.1f} s", file=sys.stderr)
    return found


if __name__ == "__main__":
    _main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
