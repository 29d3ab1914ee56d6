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
_POOL = ("batch_threads",)
_UNKNOWN = "(unknown)"  # models that there are not: names that anyone may make up


class Observer:
    """`sampling_of` says, for a model, how much of it is logged; None for one that there is not."""

    def __init__(self, metrics: Metrics, log: RequestLog) -> None:
        self.metrics, self.log = metrics, log
        self.sampling_of: Callable[[str], float | None] = lambda model: None
        self.knows: Callable[[str], bool] = lambda model: True
        self._recent: dict[str, deque[tuple[float, float, bool]]] = {}
        self._batches: dict[str, deque[tuple[float, int, int]]] = {}
        self._lock = threading.Lock()

    def begin(self, api: str, entry: str, size: int) -> Seen:
        """A request has come."""
        return Seen(self, api, entry, size)

    def finish(self, seen: Seen, code: int) -> None:
        seconds = time.perf_counter() - seen.began
        model = seen.model if seen.model and self.knows(seen.model) else _UNKNOWN
        status = CODE_NAMES[code] if 0 <= code < len(CODE_NAMES) else "UNKNOWN"
        with self._lock:
            self.metrics.count(model, status)
            if model is not _UNKNOWN:
                self._remember(model, seen, seconds, code == 0)
        if self.log.is_open and self.log.wants(self.sampling_of(model)):
            self.log.write(
                model=seen.model, signature=seen.signature, api=seen.api, entry=seen.entry,
                status=status, milliseconds=round(seconds * 1e3, 3), examples=seen.rows,
                bytes=seen.size,
            )  # fmt: skip

    def _remember(self, model: str, seen: Seen, seconds: float, is_good: bool) -> None:
        recent = self._recent.get(model)
        if recent is None:
            recent = self._recent[model] = deque(maxlen=_KEPT)
        recent.append((time.time(), seconds, is_good))
        if is_good:
            self.metrics.request_latency.observe((model, seen.api, seen.entry), seconds * 1e6)
            if seen.rows:
                self.metrics.examples.observe((model,), seen.rows)

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
        with self._lock:
            requests = [each for each in self._recent.get(model, ()) if each[0] >= since]
            batches = [each for each in self._batches.get(model, ()) if each[0] >= since]
        return {"requests": requests, "batches": batches}

    def forget(self, models: set[str]) -> None:
        """Keeps the past of these models alone."""
        with self._lock:
            for kept in (self._recent, self._batches):
                for name in [name for name in kept if name not in models]:
                    del kept[name]


class Seen:
    """One request on its way."""

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
