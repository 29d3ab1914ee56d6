"""Profiles of the steps of every session while a context is open: traced, reported, written."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from types import TracebackType
from typing import Any

from tensorboard.compat.proto.config_pb2 import RunMetadata, RunOptions

from weft.client.fetches import Fetches
from weft.client.session import BaseSession
from weft.core import errors
from weft.graph.graph import get_default_graph
from weft.lib.profiler.dump import profile_proto
from weft.lib.profiler.profiler import Profiler
from weft.storage import file_io

WARMUP_STEPS, MAX_TRACED_STEPS = 10, 100
_COMMANDS: dict[str, Callable[..., Any]] = {
    "graph": Profiler.profile_graph,
    "scope": Profiler.profile_name_scope,
    "op": Profiler.profile_operations,
    "code": Profiler.profile_python,
}


class ProfileContext:
    """Traces some steps of the sessions that run inside, and reports on them or writes them down.

    Args:
        profile_dir: the folder that `profile_STEP` is written to.
        trace_steps: the steps to trace; None: the first after ten with each set of fetches, and
            some more by chance while less than half of the graph was seen.
        dump_steps: the steps after which to write; None: step 100.
        enabled: False: the context does nothing.
        debug: whether to say what is done, and to write what each traced step measured.
    """

    def __init__(
        self,
        profile_dir: str,
        trace_steps: Sequence[int] | None = None,
        dump_steps: Sequence[int] | None = None,
        enabled: bool = True,
        debug: bool = False,
    ) -> None:
        self._enabled, self._debug, self._profiler_dir = enabled, debug, profile_dir
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        if trace_steps is not None and len(trace_steps) > MAX_TRACED_STEPS:
            raise ValueError("Only support tracing up to 100 steps.\n")
        self._auto_tracing = trace_steps is None
        self._trace_steps = set(trace_steps or ())
        self._dump_steps = {MAX_TRACED_STEPS} if dump_steps is None else set(dump_steps)
        self._auto_profiles: list[tuple[str, Any, Collection[int]]] = []
        self._views: dict[str, dict[int, Any]] = {}
        self._step = self._traced_steps = 0
        self._trace_next_step = self._dump_next_step = False
        self._fetched: set[str] = set()
        self._chance = random.Random(111)
        self._profiler: Profiler | None = None
        self._lock = threading.Lock()

    # ---- what a program asks for ----

    @property
    def profiler(self) -> Profiler | None:
        """The profiler that traced steps go to."""
        if self._enabled and self._profiler is None:
            self._profiler = Profiler(get_default_graph())
        return self._profiler if self._enabled else None

    def add_auto_profiling(self, cmd: str, options: Any, profile_steps: Collection[int]) -> None:
        """Traces these steps and reports on each by `cmd`: scope, op, graph or code."""
        if self._enabled:
            self._auto_profiles.append((cmd, options, frozenset(profile_steps)))
            self._trace_steps.update(profile_steps)

    def get_profiles(self, cmd: str) -> dict[int, Any]:
        """Step -> the report of `cmd`."""
        if cmd not in self._views:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._views[cmd]

    def trace_next_step(self) -> None:
        """The next step is traced."""
        self._trace_next_step = self._enabled

    def dump_next_step(self) -> None:
        """After the next step, what was traced is written."""
        self._dump_next_step = self._enabled

    # ---- a step ----

    def _profiled(self, session: Any, run: Callable[..., Any], call: Sequence[Any]) -> Any:
        """Runs a step of `session`: `call` is (fetches, feeds, options, metadata)."""
        # Of steps at the same time, one is profiled.
        alone = self._lock.acquire(blocking=False)
        try:
            if alone and self._concerns(self._step):
                return self._looked_at(session, run, call)
            return run(session, *call)
        finally:
            self._step, self._trace_next_step, self._dump_next_step = self._step + 1, False, False
            if alone:
                self._lock.release()

    def _looked_at(self, session: Any, run: Callable[..., Any], call: Sequence[Any]) -> Any:
        traced = self._should_trace(session.graph, call[0])
        results = self._traced(session, run, *call) if traced else run(session, *call)
        self._maybe_write()
        self._maybe_report()
        return results

    def _concerns(self, step: int) -> bool:
        asked = self._trace_next_step or self._dump_next_step
        automatic = (
            self._auto_tracing and step > WARMUP_STEPS and self._traced_steps <= MAX_TRACED_STEPS
        )
        return asked or automatic or step in self._trace_steps | self._dump_steps

    def _should_trace(self, graph: Any, fetches: Any) -> bool:
        if self._traced_steps > MAX_TRACED_STEPS:
            return False
        wanted = self._trace_next_step or self._step in self._trace_steps
        if not wanted and self._auto_tracing and self._step > WARMUP_STEPS:
            wanted = self._is_new(graph, fetches) or self._by_chance()
        self._traced_steps += wanted
        return wanted

    def _is_new(self, graph: Any, fetches: Any) -> bool:
        asked = Fetches(graph, fetches)
        unique = {t.name for t in asked.tensors} | {op.name for op in asked.targets}
        names = "-".join(sorted(unique))
        self._say(f"trace fetches: {names}")
        if names in self._fetched:
            return False
        self._fetched.add(names)
        return True

    def _by_chance(self) -> bool:
        assert self.profiler is not None
        seen_little = self.profiler._coverage < 0.5 and self._step < MAX_TRACED_STEPS
        return seen_little and self._chance.randint(0, 10) < 2

    def _traced(
        self,
        session: Any,
        run: Callable[..., Any],
        fetches: Any,
        feeds: Any,
        options: Any,
        meta: Any,
    ) -> Any:
        self._say(f"tracing step: {self._step}")
        meta = meta or RunMetadata()
        options = options or RunOptions()
        level, options.trace_level = options.trace_level, RunOptions.FULL_TRACE
        results = run(session, fetches, feeds, options, meta)
        options.trace_level = level
        if self._debug:
            self._write(f"run_meta_{self._step}", str(meta).encode())
        assert self.profiler is not None
        self.profiler._graph = session.graph
        self.profiler.add_step(self._step, meta)
        return results

    def _maybe_report(self) -> None:
        assert self.profiler is not None
        for cmd, options, steps in self._auto_profiles:
            if self._step in steps:
                self._say(f"profiling {cmd} step: {self._step}")
                if cmd not in _COMMANDS:
                    raise ValueError(f"Unknown cmd: {cmd}\n")
                made = _COMMANDS[cmd](self.profiler, options)
                self._views.setdefault(cmd, {})[self._step] = made

    def _maybe_write(self) -> None:
        if self._dump_next_step or self._step in self._dump_steps:
            self._say(f"dumping file at step: {self._step}")
            self._write(f"profile_{self._step}", profile_proto(self.profiler).SerializeToString())

    def _write(self, name: str, content: bytes) -> None:
        file_io.makedirs(self._profiler_dir)
        with file_io.GFile(os.path.join(self._profiler_dir, name), "wb") as file:
            file.write(content)

    def _say(self, what: str) -> None:
        if self._debug:
            sys.stderr.write(f"debug: {what}\n")

    # ---- the context ----

    def __enter__(self) -> ProfileContext:
        if self._enabled:
            if getattr(BaseSession, "profile_context", None) is not None:
                raise errors.InternalError(None, None, "Already in context or context not cleaned.")
            self._plain_run = BaseSession.run
            _set(run=_through(self, self._plain_run), profile_context=self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._enabled:
            _set(run=self._plain_run, profile_context=None)


def _set(**attributes: Any) -> None:
    """Every session has these from now on."""
    for name, value in attributes.items():
        setattr(BaseSession, name, value)


def _through(context: ProfileContext, plain: Callable[..., Any]) -> Callable[..., Any]:
    def run(
        self: Any,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        return context._profiled(self, plain, (fetches, feed_dict, options, run_metadata))

    return run
