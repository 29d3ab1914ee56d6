"""Every `WEFT_*` switch: name, default, and what it does. Nothing else reads the environment.

Values are read once, when this module is imported; `flags.DEBUG.override(2)` changes one for the
length of a `with` block.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T")

FLAGS: list[Flag[int] | Flag[str] | Flag[bool]] = []


class Flag(Generic[T]):
    """One switch. `value` is what the environment says, or the default."""

    def __init__(self, name: str, default: T, parse: Callable[[str], T], help: str) -> None:
        self.name = name
        self.default = default
        self.help = help
        text = os.environ.get(name)
        try:
            self.value = default if text is None else parse(text)
        except ValueError as error:
            raise ValueError(f"{name}={text!r}: {error}") from None

    def __bool__(self) -> bool:
        return bool(self.value)

    def __repr__(self) -> str:
        return f"{self.name}={self.value!r}"

    @contextlib.contextmanager
    def override(self, value: T) -> Iterator[None]:
        """Gives the flag another value for the length of a `with` block, in all threads."""
        previous, self.value = self.value, value
        try:
            yield
        finally:
            self.value = previous


def _parse_bool(text: str) -> bool:
    word = text.strip().lower()
    if word in ("1", "true", "yes", "on"):
        return True
    if word in ("", "0", "false", "no", "off"):
        return False
    raise ValueError("expected 0 or 1")


def _int(name: str, default: int, help: str) -> Flag[int]:
    flag = Flag(name, default, lambda text: int(text or "0"), help)
    FLAGS.append(flag)
    return flag


def _str(name: str, default: str, help: str) -> Flag[str]:
    flag = Flag(name, default, str, help)
    FLAGS.append(flag)
    return flag


def _bool(name: str, default: bool, help: str) -> Flag[bool]:
    flag = Flag(name, default, _parse_bool, help)
    FLAGS.append(flag)
    return flag


DEBUG = _int(
    "WEFT_DEBUG",
    0,
    "What to report: 1 devices and placements, 2 each stage with node counts and time, "
    "3 each compiled region and cache miss, and what jax logs, 4 every node, run one by one.",
)
DUMP = _str(
    "WEFT_DUMP",
    "",
    "Directory in which to write the graph after each stage, one file per stage and call.",
)
TRACE = _str(
    "WEFT_TRACE",
    "",
    "Directory in which each process leaves a recording of its steps when it ends: `weft trace "
    "DIRECTORY` shows them all on one time axis.",
)
TRACE_OPS = _str(
    "WEFT_TRACE_OPS",
    "some",
    "Which operations inside of compiled programs WEFT_TRACE records: `some` (all of the first "
    "quarter of a second, then as many as cost little), `all`, `none`.",
)
CHECK = _bool("WEFT_CHECK", False, "Verify the graph after every stage.")
CHECK_NUMERICS = _bool(
    "WEFT_NUMERICS",
    False,
    "Run node by node and stop at the first node that makes a NaN or an infinity.",
)
CONTROL_FLOW = _str(
    "WEFT_CONTROL_FLOW",
    "whole",
    "How loops and conditionals run: `whole` compiles them whole where it can, `loops` each loop "
    "alone, `bodies` only what is inside them, `nodes` runs them node by node in the executor.",
)
XLA = _bool("WEFT_XLA", True, "Compile regions with XLA; 0 runs node by node on NumPy.")
NATIVE = _bool(
    "WEFT_NATIVE",
    True,
    "On CPUs, use weft's own kernels where they are faster than XLA's; 0: only XLA's.",
)
TENSOR_FLOAT_32 = _bool(
    "WEFT_TF32",
    True,
    "On GPUs that have it, multiply 32-bit floats as TensorFloat-32, of 10 bits of precision: many "
    "times faster; 0: with all 23 bits.",
)
CACHE = _str(
    "WEFT_CACHE",
    "",
    "Directory in which compiled programs are kept between runs; empty: the user's cache "
    "directory; 0: keep none.",
)
CACHE_LIMIT = _int(
    "WEFT_CACHE_LIMIT",
    2048,
    "How many MB of compiled programs are kept; those that were not used for longest go first. 0: "
    "no limit.",
)
SPMD = _str(
    "WEFT_SPMD",
    "accelerators",
    "Where a step that does the same on several devices, as one of MirroredStrategy does, runs as "
    "one program over all of them: on `accelerators`, `everywhere` (also on the CPUs of one "
    "process, where XLA ends it if such a program is held up for long), or `nowhere`.",
)
TRACEBACK = _str(
    "WEFT_TRACEBACK",
    "user",
    "Which frames of an error are shown: `user` those of the program, and the call of weft that "
    "failed; `full` weft's own, too.",
)


FSYNC = _bool(
    "WEFT_FSYNC",
    False,
    "Wait for the disk when a checkpoint is saved, so that it outlives a power failure, too.",
)
COSTS = _str(
    "WEFT_COSTS",
    "",
    "File in which what traced steps measured is kept for placing later ones.",
)

PEERS = _int(
    "WEFT_PEERS",
    300,
    "For how many seconds a new session waits for servers of its cluster that do not answer.",
)
FRAMES = _bool(
    "WEFT_FRAMES",
    True,
    "Processes of weft talk to each other by frames on a socket, not over gRPC: faster.",
)
SHARED_MEMORY = _bool(
    "WEFT_SHARED_MEMORY",
    True,
    "Processes of weft on one machine use what only they have: its own sockets instead of TCP, and"
    " memory that both can see for large tensors.",
)
HEALTH = _int(
    "WEFT_HEALTH",
    15,
    "After how many seconds a process that others wait for is asked whether it is there; one that "
    "gives no answer for as long again is given up, and the step fails.",
)
ABANDONED = _int(
    "WEFT_ABANDONED",
    60,
    "After how many seconds without a connection to its client a session is closed. This is about "
    "clients of TensorFlow's; weft's tell when they go.",
)
IDLE = _int(
    "WEFT_IDLE",
    0,
    "After how many seconds without a call the session of a client of TensorFlow's is closed; 0: "
    "never.",
)

TLS = _bool(
    "WEFT_TLS",
    False,
    "Speak TLS to servers, also where neither a CA nor a certificate is given: the certificates of "
    "servers must then be signed by one of the CAs that gRPC knows.",
)
TLS_CERT = _str("WEFT_TLS_CERT", "", "File (PEM) with the certificate of this process.")
TLS_KEY = _str("WEFT_TLS_KEY", "", "File (PEM) with the key of that certificate.")
TLS_CA = _str(
    "WEFT_TLS_CA", "", "File (PEM) with the CA that must have signed the certificates of others."
)
TLS_NAME = _str(
    "WEFT_TLS_NAME",
    "",
    "The name that the certificates of servers are for, if it is not the host in their address.",
)
TLS_CLIENTS = _bool(
    "WEFT_TLS_CLIENTS", False, "Servers want a certificate of whoever connects (mutual TLS)."
)
TOKEN_FILE = _str(
    "WEFT_TOKEN_FILE",
    "",
    "File with the tokens that a server accepts, one a line; the first is sent to other servers.",
)
MAX_MESSAGE = _int(
    "WEFT_MAX_MESSAGE", 0, "Largest message, in MB, that is received; 0: half of the memory."
)
MAX_SESSIONS = _int("WEFT_MAX_SESSIONS", 1000, "How many sessions a server has at once.")
MAX_CALLS = _int(
    "WEFT_MAX_CALLS", 10_000, "How many calls, connections and open steps a server has at once."
)
MAX_HELD = _int(
    "WEFT_MAX_HELD",
    0,
    "How many MB of tensors a server holds that steps have sent to other tasks and that nobody has "
    "taken yet; 0: half of the memory.",
)
MAX_GRAPHS = _int(
    "WEFT_MAX_GRAPHS",
    0,
    "How many MB of graphs a server holds, as they were sent; 0: a quarter of the memory.",
)
MODEL_CODE = _bool(
    "WEFT_MODEL_CODE",
    False,
    "Run the Python code that model files hold (Lambda layers of Keras) when they are loaded. Only "
    "for files whose authors may do anything that you may.",
)
MAX_EXPANDED = _int(
    "WEFT_MAX_EXPANDED",
    512,
    "How many MB a little data may become when it is read: compressed records and blocks, tensors "
    "that repeat one element, arrays that a file says it has and does not hold.",
)
MAX_NODES = _int(
    "WEFT_MAX_NODES",
    1_000_000,
    "How many nodes a graph may have when the functions it calls are written out, and how many "
    "outputs a single node may have.",
)
MAX_PLAN = _int(
    "WEFT_MAX_PLAN", 600, "For how many seconds a server may plan one step of a client."
)
MAX_ARRIVING = _int(
    "WEFT_MAX_ARRIVING",
    0,
    "How many MB of messages a server receives at once, on all connections together; 0: "
    "half of the memory.",
)
STALL = _int(
    "WEFT_STALL",
    60,
    "After how many seconds without progress a connection is given up in the middle of a message.",
)
STRICT = _bool(
    "WEFT_STRICT",
    False,
    "Under `weft run`, names that are gone from Python, NumPy and other libraries are errors "
    "(`weft run --strict` sets it).",
)


def cache_directory() -> str | None:
    """The directory `WEFT_CACHE` means, or None when the cache is off. It may not exist yet."""
    if CACHE.value == "0":
        return None
    if CACHE.value:
        return CACHE.value
    return users_cache(sys.platform, os.environ)


def users_cache(system: str, environment: Mapping[str, str]) -> str:
    """Where a user's caches are on `system`: the folders that the package platformdirs names."""
    home = os.path.expanduser("~")
    if system == "win32":
        local = environment.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
        return os.path.join(local, "weft", "Cache")
    usual = os.path.join(home, *(("Library", "Caches") if system == "darwin" else (".cache",)))
    return os.path.join(environment.get("XDG_CACHE_HOME") or usual, "weft")


def table() -> str:
    """All switches as a Markdown table."""
    rows = ["| switch | default | meaning |", "| --- | --- | --- |"]
    for flag in FLAGS:
        default = int(flag.default) if isinstance(flag.default, bool) else flag.default
        shown = "empty" if default == "" else f"`{default}`"
        rows.append(f"| `{flag.name}` | {shown} | {flag.help} |")
    return "\n".join(rows) + "\n"
