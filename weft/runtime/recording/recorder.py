"""The recorder of a process: what its threads did and what they waited for, while it is on.

Off, it costs nothing: no line of the runtime asks whether it is on. `start` puts functions that
take times (`probes.py`) in the place of the methods that are worth a bar, `stop` takes them away.
"""

from __future__ import annotations

import functools
import itertools
import os
import socket
import sys
import threading
import time
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import get_ident
from time import perf_counter
from typing import Any

from weft.core.errors import PACKAGE
from weft.graph.graph import Graph
from weft.graph.operation import Operation

MOST = 1_000_000
_MOST = 50_000  # nodes of a graph whose lines are told to others


def _epoch() -> float:
    """The wall clock's time at the zero of the clock that never jumps.

    Of several readings the one counts between whose two clocks the least time went by.
    """
    readings = [(perf_counter(), time.time(), perf_counter()) for _ in range(20)]
    before, wall, after = min(readings, key=lambda each: each[2] - each[0])
    return wall - (before + after) / 2


EPOCH = _epoch()

Event = tuple[str, str, float, float, int | str, Any]
"""Kind, name, start, end (by `time.perf_counter`), thread, and a detail.

The thread is 0 for what held none, or the name of a row that is not of a thread of Python. The
detail is a dict of what a click on the event shows; `node` in it is the node it belongs to.
"""

Wrap = Callable[[Callable[..., Any], "Recorder"], Callable[..., Any]]
"""Makes the function that takes a method's place while a recorder is on."""


def now() -> float:
    """The time, as events of this process have it in a recording."""
    return perf_counter() + EPOCH


@dataclass(frozen=True)
class Probe:
    """A method of a class, or a function of a module, to be recorded.

    An owner that is a name is recorded if its module has been imported by then.
    """

    owner: Any
    method: str
    wrap: Wrap

    def found(self) -> Any:
        """The owner, or None."""
        if not isinstance(self.owner, str):
            return self.owner
        module, _, name = self.owner.rpartition(".")
        return getattr(sys.modules.get(module), name, None)


class Recorder:
    """The events of this process, the latest `most` of them."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque(maxlen=MOST)
        self.steps: Counter[str] = Counter()  # of sessions, and of workers for others
        self.is_on = False
        self.span = 0.0, 0.0  # by `now`, when it was on
        self.tasks: list[str] = []  # of a cluster, that this process is
        self._graphs: weakref.WeakKeyDictionary[Graph, None] = weakref.WeakKeyDictionary()
        self._remote: weakref.WeakSet[Graph] = weakref.WeakSet()
        self._probes: list[Probe] = []
        self._originals: list[tuple[Any, str, Any]] = []
        self._lock = threading.Lock()

    # ---- on and off ----

    def register(self, probes: Iterable[Probe]) -> None:
        """Adds methods to be recorded."""
        self._probes += [probe for probe in probes if probe not in self._probes]
        self.complete()

    def start(self, most: int = MOST) -> None:
        """Begins a recording; one under way is forgotten."""
        with self._lock:
            self._remove()
            self.events = deque(maxlen=most)
            self.steps, self.is_on, self.span = Counter(), True, (now(), 0.0)
            for probe in self._probes:
                self._put(probe)

    def complete(self) -> None:
        """Records also what has been imported or registered since the start."""
        with self._lock:
            if self.is_on:
                for probe in self._probes:
                    self._put(probe)

    def _put(self, probe: Probe) -> None:
        owner = probe.found()
        known = any(each[:2] == (owner, probe.method) for each in self._originals)
        if owner is not None and not known:
            original = owner.__dict__[probe.method]
            timed = functools.wraps(original)(probe.wrap(original, self))
            self._originals.append((owner, probe.method, original))
            setattr(owner, probe.method, timed)

    def stop(self) -> None:
        with self._lock:
            self._remove()

    def _remove(self) -> None:
        if self.is_on:
            self.is_on, self.span = False, (self.span[0], now())
        for owner, method, original in reversed(self._originals):
            setattr(owner, method, original)
        self._originals.clear()

    # ---- events ----

    def add(self, kind: str, name: str, start: float, detail: Any = None) -> None:
        """Something that this thread did from `start` until now."""
        if self.is_on:
            self.events.append((kind, name, start, perf_counter(), get_ident(), detail))

    def add_loose(self, kind: str, name: str, start: float, detail: Any = None) -> None:
        """Something that held no thread, from `start` until now."""
        if self.is_on:
            self.events.append((kind, name, start, perf_counter(), 0, detail))

    def note_graph(self, graph: Graph, remote: bool = False) -> None:
        """Nodes of events are looked for here; if remote, those of other processes, too."""
        self._graphs.pop(graph, None)
        self._graphs[graph] = None
        if remote:
            self._remote.add(graph)

    def graphs(self) -> list[Graph]:
        """The graphs that were noted, the latest first: an older one may have the same names."""
        return list(self._graphs)[::-1]

    def forget_graphs(self) -> None:
        self._graphs.clear()

    # ---- what was recorded ----

    def recording(self, extra: Sequence[Event] = ()) -> dict[str, Any]:
        """All that was recorded, as data that JSON can hold. Times are microseconds."""
        events = [*self.events, *extra]
        graphs = self.graphs()
        _add_types(extra, graphs)
        threads = {thread.ident: thread.name for thread in threading.enumerate()}
        seen = {event[4] for event in events if isinstance(event[4], int)}
        return {
            "process": ", ".join(self.tasks) or os.path.basename(sys.argv[0]) or "python",
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "span": [each * 1e6 for each in self.span],
            "threads": {str(i): threads.get(i, "thread") for i in seen if i},
            **_plain(events),
            "lines": lines_of(_names(events) | self._remote_names(), graphs),
        }

    def _remote_names(self) -> set[str]:
        """The nodes that other processes may have run for this one."""
        return {name for graph in self._remote for name in itertools.islice(graph._by_name, _MOST)}


def _plain(events: Sequence[Event]) -> dict[str, Any]:
    """Events as lists; details, which many share, by their position in a list."""
    details: list[Any] = [None]
    places: dict[int, int] = {id(None): 0}
    found = []
    for kind, name, start, end, thread, detail in events:
        place = places.get(id(detail))
        if place is None:
            place = places[id(detail)] = len(details)
            details.append(detail)
        at, took = round((start + EPOCH) * 1e6, 3), round((end - start) * 1e6, 3)
        found.append([kind, name, at, took, thread, place])
    return {"events": found, "details": details}


def _add_types(events: Iterable[Event], graphs: Sequence[Graph]) -> None:
    """Completes details of nodes of which XLA has told only the names."""
    for detail in {id(event[5]): event[5] for event in events}.values():
        found = (graph._by_name.get(detail.get("node", "")) for graph in graphs)
        op = next(filter(None, found), None)
        if op is not None:
            detail["op"] = op.type


def _names(events: Iterable[Event]) -> set[str]:
    """The nodes that events are about."""
    found: set[str] = set()
    for event in events:
        detail = event[5]
        if isinstance(detail, dict):
            found.update(filter(None, (detail.get("node"), *detail.get("nodes", ()))))
    return found


def lines_of(names: Iterable[str], graphs: Sequence[Graph]) -> Mapping[str, Sequence[Any]]:
    """Node -> (file, line, function, source) of the user's program that made it."""
    found: dict[str, Sequence[Any]] = {}
    for name in names:
        for graph in graphs:
            op = _named(graph, name)
            frame = _users_frame(op.traceback) if op is not None else None
            if frame is not None:
                found[name] = frame
                break
    return found


def _named(graph: Graph, name: str) -> Operation | None:
    """The operation of a node; of one that weft has put in, that which it is named after."""
    while name and name not in graph._by_name:
        name = name.rpartition("/")[0]
    return graph._by_name.get(name)


def _users_frame(frames: Sequence[Sequence[Any]]) -> Sequence[Any] | None:
    outside = [f for f in frames if not os.path.abspath(f[0]).startswith(PACKAGE)]
    return tuple(outside[-1]) if outside else None


RECORDER = Recorder()
"""The one of this process."""
