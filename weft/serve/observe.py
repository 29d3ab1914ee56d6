"""What is noted of each request: metrics, the log, and the last minutes for the page."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from weft.serve.errors import CODE_NAMES
from weft.serve.metrics import Metrics
from weft.serve.request_log import RequestLog

_KEPT = 4096  # requests, and batches, of each model for the page
_MOST_FRESH = 512
_POOL = ("batch_threads",)
_UNKNOWN = "(unknown)"  # models that there are not: names that anyone may make up
_Noted = tuple[str, str, str, int, float, float, int]
"""Model, API, entry, code, when it was over, how long it took, and examples of a request."""


class Observer:
    """Notes requests as they end, and counts them later, many at once: when someone looks.

    `sampling_of` says, for a model, how much of it is logged; None for one that there is not.
    """

    def __init__(self, metrics: Metrics, log: RequestLog) -> None:
        self.metrics, self.log = metrics, log
        self.sampling_of: Callable[[str], float | None] = lambda model: None
        self.knows: Callable[[str], bool] = lambda model: True
        self._fresh: deque[_Noted] = deque()  # not counted yet
        self._recent: dict[str, deque[tuple[float, float, bool]]] = {}
        self._batches: dict[str, deque[tuple[float, int, int]]] = {}
        self._lock = threading.Lock()
        metrics.catch_up = self.count

    def finish(self, seen: Seen, code: int) -> None:
        """A request is over. No lock is taken: this is on the way of every answer."""
        seconds = time.perf_counter() - seen.began
        model = seen.model if seen.model and self.knows(seen.model) else _UNKNOWN
        fresh = self._fresh
        fresh.append((model, seen.api, seen.entry, code, time.time(), seconds, seen.rows))
        if len(fresh) >= _MOST_FRESH:
            self.count()
        if self.log.is_open and self.log.wants(self.sampling_of(model)):
            self.log.write(
                model=seen.model, signature=seen.signature, api=seen.api, entry=seen.entry,
                status=_status(code), milliseconds=round(seconds * 1e3, 3), examples=seen.rows,
                bytes=seen.size,
            )  # fmt: skip

    def count(self) -> None:
        """Counts what has been noted."""
        with self._lock:
            while self._fresh:
                self._count_one(*self._fresh.popleft())

    def _count_one(
        self, model: str, api: str, entry: str, code: int, when: float, seconds: float, rows: int
    ) -> None:
        metrics = self.metrics
        metrics.count(model, _status(code))
        if model is _UNKNOWN:
            return
        recent = self._recent.get(model)
        if recent is None:
            recent = self._recent[model] = deque(maxlen=_KEPT)
        recent.append((when, seconds, code == 0))
        if code == 0:
            metrics.request_latency.observe((model, api, entry), seconds * 1e6)
            if rows:
                metrics.examples.observe((model,), rows)

    def batch(self, model: str, rows: int, padding: int, waited: list[float]) -> None:
        """A batch is about to run."""
        metrics = self.metrics
        with self._lock:
            metrics.batch_sizes.observe((model,), rows + padding)
            metrics.padding.observe((model,), padding)
            for seconds in waited:
                metrics.queuing.observe(_POOL, seconds * 1e6)
            kept = self._batches.setdefault(model, deque(maxlen=_KEPT))
            kept.append((time.time(), rows, rows + padding))

    def recent(self, model: str, seconds: float = 120.0) -> dict[str, Any]:
        """The last requests and batches of a model: what the page draws."""
        since = time.time() - seconds
        self.count()
        with self._lock:
            requests = [each for each in self._recent.get(model, ()) if each[0] >= since]
            batches = [each for each in self._batches.get(model, ()) if each[0] >= since]
        return {"requests": requests, "batches": batches}

    def forget(self, models: set[str]) -> None:
        """Keeps the past of these models alone."""
        self.count()
        with self._lock:
            for kept in (self._recent, self._batches):
                for name in [name for name in kept if name not in models]:
                    del kept[name]


def _status(code: int) -> str:
    return CODE_NAMES[code] if 0 <= code < len(CODE_NAMES) else "UNKNOWN"


class Seen:
    """One request on its way, from when it has come."""

    __slots__ = ("_observer", "api", "began", "entry", "model", "rows", "signature", "size")

    def __init__(self, observer: Observer, api: str, entry: str, size: int) -> None:
        self._observer = observer
        self.api, self.entry, self.size = api, entry, size
        self.began = time.perf_counter()
        self.model, self.signature, self.rows = "", "", 0

    def about(self, model: str, signature: str, rows: int) -> None:
        """Its model is known now."""
        self.model, self.signature, self.rows = model, signature, rows

    def end(self, code: int) -> None:
        """It is answered, with this status."""
        self._observer.finish(self, code)
