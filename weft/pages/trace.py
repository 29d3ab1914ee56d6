"""The page of a trace: the timeline, and what it asks for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from weft.pages.site import Site
from weft.traces.columns import to_columns
from weft.traces.files import to_bytes

Json = dict[str, Any]
_FILES = "look.css", "trace.css", "trace.js", "timeline.js", "columns.js", "make.js"


class TracePage:
    """Shows a trace. `record`, if there is one, makes another, of the next steps."""

    def __init__(self, trace: Json, record: Callable[[], Json] | None = None) -> None:
        self._trace, self._record = trace, record
        self._columns = self._to_columns(trace)
        self._lock = threading.Lock()
        self.site = Site(
            "trace.html", _FILES,
            {"data": lambda _: self._columns, "trace.json.gz": lambda _: to_bytes(self._trace)},
            {"record": self._record_again},
        )  # fmt: skip

    def _to_columns(self, trace: Json) -> bytes:
        about = trace.setdefault("weft", {}).setdefault("about", {})
        live = {**about, "live": self._record is not None}
        return to_columns({**trace, "weft": {**trace["weft"], "about": live}})

    def _record_again(self, query: Mapping[str, str]) -> Json:
        if self._record is None:
            return {}
        with self._lock:  # one after the other
            trace = self._record()
            self._trace, self._columns = trace, self._to_columns(trace)
        return {"events": len(trace["traceEvents"])}
