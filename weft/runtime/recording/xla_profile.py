"""Operations inside compiled programs: XLA's own profile, as events of nodes.

A program of XLA's is one call for weft. While a recording with operations is on, so is XLA's
profiler, which tells when each instruction ran, on which thread or stream of which device.
"""

from __future__ import annotations

import functools
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weft.runtime.recording.recorder import EPOCH, Event
from weft.runtime.xla.names import nodes_by_instruction

_START = "profile_start_time"  # nanoseconds of the wall clock


class XlaProfile:
    """XLA's profiler, started and stopped once."""

    def __init__(self) -> None:
        self._folder = ""

    def start(self) -> None:
        """Does nothing if jax is not in use, or profiles something already."""
        if "jax" not in sys.modules or self._folder:
            return
        import jax

        options = jax.profiler.ProfileOptions()
        options.python_tracer_level, options.host_tracer_level = 0, 1
        folder = tempfile.mkdtemp(prefix="weft-profile-")
        try:
            jax.profiler.start_trace(folder, profiler_options=options)
        except RuntimeError:  # the user's own is on
            shutil.rmtree(folder, ignore_errors=True)
        else:
            self._folder = folder

    def stop(self) -> list[Event]:
        """The operations that ran since the start."""
        if not self._folder:
            return []
        import jax

        folder, self._folder = self._folder, ""
        try:
            jax.profiler.stop_trace()  # type: ignore[no-untyped-call]
            files = sorted(Path(folder).rglob("*.xplane.pb"))
            return [event for file in files for event in read_profile(file)]
        finally:
            _detail.cache_clear()
            shutil.rmtree(folder, ignore_errors=True)


def read_profile(file: Path) -> Iterator[Event]:
    """The events of operations in a profile; their thread is the name of a row."""
    from jax.profiler import ProfileData

    planes = list(ProfileData.from_file(str(file)).planes)
    starts = [dict(plane.stats).get(_START) for plane in planes]
    start = next((float(each) for each in starts if each is not None), 0.0)
    for plane in planes:
        for line in plane.lines:
            row = _row(plane.name, line.name)
            for event in line.events:
                yield from _operation(event, row, start)


def _row(plane: str, line: str) -> str:
    if plane.startswith("/device:"):
        return f"{plane.removeprefix('/device:')} {line}"
    return f"XLA {line.rpartition('/')[0].removeprefix('tf_') or line}"


def _operation(event: Any, row: str, start: float) -> Iterator[Event]:
    stats = dict(event.stats)
    instruction, module = stats.get("hlo_op"), stats.get("hlo_module")
    if instruction and module:
        detail = _detail(str(module), str(instruction))
        began = (start + event.start_ns) / 1e9 - EPOCH
        name = detail["node"] or detail["instruction"]
        yield "op", name, began, began + event.duration_ns / 1e9, row, detail


@functools.lru_cache(65536)
def _detail(module: str, instruction: str) -> dict[str, str]:
    node = nodes_by_instruction(module).get(instruction, "")
    return {"node": node, "instruction": instruction, "program": module}
