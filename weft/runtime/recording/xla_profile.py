"""Operations inside compiled programs: XLA's own profile, as events of nodes.

A program of XLA's is one call for weft. While a recording with operations is on, so is XLA's
profiler, which tells when each instruction ran, on which thread or stream of which device.
"""

from __future__ import annotations

import functools
import sys
import threading
import warnings
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Any

from weft.runtime.recording.recorder import EPOCH, RECORDER, Event
from weft.runtime.xla.names import nodes_by_instruction, schedule_of

_START = "profile_start_time"  # nanoseconds of the wall clock
_DEVICE = "/device:"
_GRAPH = "command_buffer"
_WINDOW = 0.1  # seconds
_LATEST = 64  # events that are looked at for whether programs are run
_SHARE = 0.02  # of the time, that a long recording may cost
_SECONDS_PER_BYTE = 0.12e-6  # to take and to collect a profile, by its size
_MOST_BYTES = 64_000_000


Kernel = tuple[float, float, str, str]  # began, ended, its name, the name of a row
Graphs = defaultdict[str, list[Kernel]]  # by program


def rest_after(size: int) -> float:
    """Seconds to rest after a window whose profile has `size` bytes.

    Programs of many short operations rest long; those of long ones need no rest.
    """
    return max(0.0, size * _SECONDS_PER_BYTE / _SHARE - _WINDOW)


class XlaProfile:
    """XLA's profiler, started and stopped once.

    Of a long recording it takes windows, the first one at the start, so that neither its cost nor
    its memory grows with the length: `whole` takes everything. On accelerators, where starting
    takes long, it always does.
    """

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole
        self._session: Any = None
        self._windows: deque[bytes] = deque()
        self._over, self._lock, self._has_begun = threading.Event(), threading.Lock(), False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Does nothing if jax is not in use, or this has begun."""
        with self._lock:  # threads that compile their first programs at once
            if "jax" not in sys.modules or self._has_begun:
                return
            self._has_begun = True
        import jax

        on_host = jax.default_backend() == "cpu"  # and there is a backend, which XLA wants
        self._begin()
        if on_host and not self._whole:
            self._thread = threading.Thread(
                target=self._alternate, name="weft-xla-profile", daemon=True
            )
            self._thread.start()

    def _begin(self) -> None:
        import jax
        from jaxlib import _profiler  # type: ignore[attr-defined]

        options = jax.profiler.ProfileOptions()
        options.python_tracer_level, options.host_tracer_level = 0, 1
        self._session = _profiler.ProfilerSession(options)

    def _end(self) -> int:
        """Keeps the profile of a window; its size."""
        session, self._session = self._session, None
        try:
            profile: bytes = session.stop()
        except RuntimeError:  # the user's own was on
            return 0
        self._windows.append(profile)
        while len(self._windows) > 1 and sum(map(len, self._windows)) > _MOST_BYTES:
            self._windows.popleft()
        return len(profile)

    def _alternate(self) -> None:
        began = perf_counter()
        while not self._over.wait(_WINDOW):
            if not _has_run_since(began):
                continue  # what is compiled will be run
            if self._over.wait(rest_after(self._end())):
                return
            self._begin()
            began = perf_counter()

    def stop(self) -> list[bytes]:
        """What was taken since the start: `operations_of` reads it."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if self._session is not None:
            self._end()
        return list(self._windows)


def _has_run_since(began: float) -> bool:
    """Whether a program is among the latest events."""
    events = RECORDER.events
    latest = (events[-i] for i in range(1, min(len(events), _LATEST) + 1))
    return any(kind == "program" and end > began for kind, _, _, end, *_ in latest)


def operations_of(profiles: Iterable[bytes]) -> list[Event]:
    """The operations that ran inside of programs."""
    with warnings.catch_warnings():
        # Since Python 3.12 the types by which jaxlib shows a profile make it warn; where warnings
        # are errors, jaxlib ends the process.
        warnings.simplefilter("ignore")
        try:
            return [event for profile in profiles for event in read_profile(profile)]
        finally:
            _detail.cache_clear()


def read_profile(profile: bytes) -> Iterator[Event]:
    """The events of operations in a profile; their thread is the name of a row."""
    from jax.profiler import ProfileData

    planes = list(ProfileData.from_serialized_xspace(profile).planes)
    starts = [dict(plane.stats).get(_START) for plane in planes]
    start = next((float(each) for each in starts if each is not None), 0.0)
    for plane in planes:
        graphs: Graphs = defaultdict(list)
        on_device = plane.name.startswith(_DEVICE)
        for line in plane.lines:
            row = _row(plane.name, line.name)
            for event in line.events:
                if on_device or not _is_of_the_machinery(event.name):
                    yield from _operation(event, row, start, graphs)
        for module, kernels in graphs.items():
            yield from _kernels_of_graphs(module, sorted(kernels))


def _is_of_the_machinery(name: str) -> bool:
    """Whether it is one of the many events of XLA's threads and queues, which are not looked at."""
    return name.startswith("end: ") or "::" in name


def _row(plane: str, line: str) -> str:
    if plane.startswith(_DEVICE):
        return f"{plane.removeprefix(_DEVICE)} {line}"
    return f"XLA {line.rpartition('/')[0].removeprefix('tf_') or line}"


def _operation(event: Any, row: str, start: float, graphs: Graphs) -> Iterator[Event]:
    """The event of an instruction; what a GPU ran as a part of a graph is put into `graphs`."""
    stats = dict(event.stats)
    instruction, module = stats.get("hlo_op"), stats.get("hlo_module")
    if instruction and module:
        began = (start + event.start_ns) / 1e9 - EPOCH
        ended = began + event.duration_ns / 1e9
        if str(instruction).startswith(_GRAPH):
            graphs[str(module)].append((began, ended, event.name, row))
        else:
            yield _event(str(module), str(instruction), began, ended, row)


def _kernels_of_graphs(module: str, kernels: list[Kernel]) -> Iterator[Event]:
    schedule = schedule_of(module)
    names = [name for _, _, name, _ in kernels]
    instructions = schedule.instructions_of(names) if schedule is not None else names
    for (began, ended, name, row), instruction in zip(kernels, instructions, strict=True):
        yield _event(module, instruction or name, began, ended, row)


def _event(module: str, instruction: str, began: float, ended: float, row: str) -> Event:
    detail = _detail(module, instruction)
    return "op", detail["node"] or instruction, began, ended, row, detail


@functools.lru_cache(65536)
def _detail(module: str, instruction: str) -> dict[str, str]:
    node = nodes_by_instruction(module).get(instruction, "")
    return {"node": node, "instruction": instruction, "program": module}
